"""`threadline config`: every setting and where it came from; one is set, or taken out."""

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from threadline.cli.identity_argument import AsJson, Database, Profile
from threadline.cli.output import complain, show_table, show_text, write_json
from threadline.core.errors import Invalid, NotFound, StorageError

if TYPE_CHECKING:
    from threadline.config import Config

_SET, _UNSET = "set", "unset"


def config(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY | set KEY VALUE | unset KEY]",
            help="Only this setting or table, such as access.allow; or what becomes of a setting. "
            "The value - is read from the input.",
        ),
    ] = None,
    *,
    database: Database = None,
    profile: Profile = None,
    describe: Annotated[
        bool, typer.Option("--describe", help="Also show what each setting does and must be.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show every setting and where it came from; secrets stay hidden. Or change one.

    A setting comes from an option, a variable, ./threadline.toml, ~/.threadline/threadline.toml or
    the defaults: the first of these that has it wins. `set` and `unset` write into the file in
    ~/.threadline; all settings must be valid before anything is written. A secret goes into a file
    of its own. The variable THREADLINE_HOME names another folder than ~/.threadline.
    """
    match words or []:
        case []:
            _show(None, database, profile, describe=describe, as_json=as_json)
        case ["set", key, value]:
            _change(key, value)
        case ["unset", key]:
            _change(key, None)
        case [key] if key not in {_SET, _UNSET}:
            _show(key, database, profile, describe=describe, as_json=as_json)
        case _:
            hint = "Say one KEY, or `set KEY VALUE`, or `unset KEY`"
            raise Invalid("That is no setting, and nothing to do with one", hint=hint)


def _show(
    key: str | None, database: str | None, profile: str | None, *, describe: bool, as_json: bool
) -> None:
    from threadline.assembly import check_platforms, public_settings
    from threadline.config import load_config

    loaded = load_config({"database": database, "profile": profile})
    settings = list(loaded.settings(public_settings(loaded)))
    found = [one for one in settings if key is None or _is_in(one[0], key)]
    if not found:
        raise _unknown(key or "", [name for name, _, _ in settings])
    if as_json:
        write_json({name: {"value": value, "from": origin} for name, value, origin in found})
    elif describe:
        for name, value, origin in found:
            _describe(name, _shown(value), origin)
    elif len(found) == 1 and found[0][0] == key:
        show_text(_shown(found[0][1]))
    else:
        rows = [(name, _shown(value), origin) for name, value, origin in found]
        show_table(("setting", "value", "from"), rows)
    if key is None or _is_in(key, "platforms"):
        check_platforms(loaded)  # after them, as who looks for a mistake has to see them


def _describe(key: str, value: str, origin: str) -> None:
    """Show a setting with what it does and must be, as the reference has it."""
    from threadline.config import Config
    from threadline.config.setting_schema import find_node, help_of, must_be

    way = tuple(key.split("."))
    wish = must_be(find_node(way, Config) or {})
    show_text(f"{key} = {value} ({origin})")
    for sentence in (help_of(way, Config), wish and f"It must be {wish}."):
        if sentence:
            show_text(f"  {sentence}")


def _change(key: str, written: str | None) -> None:
    """Set a setting, or take it out, in the user's file."""
    from threadline.assembly.reload import check_all, show_settings
    from threadline.config.config_source import Source
    from threadline.config.settings_writer import change_settings

    if written == "-":
        written = sys.stdin.readline().rstrip("\r\n")
    value = None if written is None else _read(key, written)
    source = Source()
    config = change_settings(source, {key: value}, show=show_settings, check=check_all)
    asyncio.run(_record(config, key))
    show_text(f"Written to {source.file}. A server that runs goes by it after SIGHUP.")
    _tell_what_holds(config, key, source.file.as_posix())


async def _record(config: "Config", key: str) -> None:
    """Write to the audit log which setting was changed, if there is a store already."""
    from threadline.cli.store_context import audit_command
    from threadline.cli.store_opener import exists, open_store

    if not exists(config):
        return
    try:
        async with open_store(config) as opened:
            await audit_command(opened.store, "settings.changed", key)
    except StorageError as error:  # the setting may be the one that mends it
        complain(StorageError(f"This is not in the audit log: {error}"))


def _tell_what_holds(config: "Config", key: str, file: str) -> None:
    """Say if the setting comes from somewhere else all the same."""
    from threadline.config import DEFAULT

    origin = config.origin_of(key)
    if origin not in {file, DEFAULT}:
        show_text(f"But {key} comes from {origin}.")


def _read(key: str, written: str) -> object:
    """Read a value as the file would, where it is no text."""
    import tomllib

    from threadline.config.setting_list import SettingKind, setting_kind

    kind = setting_kind(key)
    is_table = written.lstrip()[:1] in {"[", "{"}
    if kind is SettingKind.TEXT or (kind is None and not is_table):
        return written
    try:
        return tomllib.loads(f"value = {written}")["value"]
    except ValueError:
        return written  # it is told what the setting must be


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
