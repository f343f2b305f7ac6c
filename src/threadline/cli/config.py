"""`threadline config`: every setting, and where it came from."""

import json
from typing import Annotated

import typer

from threadline.cli.options import AsJson, Database, Profile
from threadline.cli.screen import say, show_table, write_json
from threadline.core.errors import NotFound


def config(
    key: Annotated[
        str | None,
        typer.Argument(metavar="[KEY]", help="Only this setting or table, such as access.allow."),
    ] = None,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Show every setting and where it came from; secrets stay hidden.

    A setting comes from an option, a variable, ~/.threadline/threadline.toml, ./threadline.toml or
    the defaults: the first of these that knows it wins.
    """
    from threadline.assembly import check_platforms, public_settings
    from threadline.config import load_config

    loaded = load_config({"database": database, "profile": profile})
    settings = list(loaded.settings(public_settings(loaded)))
    found = [one for one in settings if key is None or _is_in(one[0], key)]
    if not found:
        raise _unknown(key or "", [name for name, _, _ in settings])
    if as_json:
        write_json({name: {"value": value, "from": origin} for name, value, origin in found})
    elif len(found) == 1 and found[0][0] == key:
        say(_shown(found[0][1]))
    else:
        rows = [(name, _shown(value), origin) for name, value, origin in found]
        show_table(("setting", "value", "from"), rows)
    if key is None or _is_in(key, "platforms"):
        check_platforms(loaded)  # after them, as who looks for a mistake has to see them


def _is_in(name: str, key: str) -> bool:
    return name == key or name.startswith(f"{key}.")


def _unknown(key: str, names: list[str]) -> NotFound:
    from difflib import get_close_matches

    near = get_close_matches(key, names, n=1)
    hint = f"Did you mean {near[0]}?" if near else "`threadline config` shows all of them"
    return NotFound("There is no such setting", id=key, hint=hint)


def _shown(value: object) -> str:
    """Write a value as the file of settings would; what is not set is empty."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
