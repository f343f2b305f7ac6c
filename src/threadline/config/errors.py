"""Errors: which setting is wrong, what it was, and what it should be."""

import difflib
from collections.abc import Collection, Mapping

from pydantic import ValidationError

from threadline.config.secrets import is_secret_key
from threadline.config.sections import Section
from threadline.config.setting_schema import find_node, list_names, must_be, walk_settings
from threadline.config.sources import Way
from threadline.core.database_url import hide_password
from threadline.core.errors import ConfigError

DEFAULT = "default"
_NEAR = 0.5
"""How much an unknown variable must resemble a known one, from 0 to 1."""

_HUSHED = "what it is"
_OPEN = frozenset({"type", "enabled", "home"})
"""Settings of a platform that hold no secret, whatever somebody writes there."""

_HUSHED_TABLES = frozenset({"environment", "headers", "command", "options"})
"""Settings in which anybody may have written a secret."""


def explain_invalid_setting(
    error: ValidationError, origins: Mapping[str, str], root: type[Section]
) -> ConfigError:
    """Say of the first wrong setting which one it is, what it was, and what it should be."""
    wrong = error.errors(include_url=False)[0]
    is_name = wrong["loc"][-1:] == ("[key]",)
    way = wrong["loc"][:-1] if is_name else wrong["loc"]
    key, origin = _key(way), find_origin(way, origins)
    names = list_names(way[:-1], root)
    if wrong["type"] == "extra_forbidden" or (is_name and names):
        return _unknown(way, names, origin)
    node = find_node(way[:-1], root) if is_name else find_node(way, root)
    node = (node or {}).get("propertyNames", {}) if is_name else node or {}
    wish = must_be(node) or wrong["msg"]
    if wrong["type"] == "missing":
        return ConfigError(f"{key} is missing", id=origin, hint=f"It must be {wish}")
    shown = _HUSHED if _may_be_secret(way) else show_value(wrong["input"])
    return ConfigError(f"{key} cannot be {shown}", id=origin, hint=f"It must be {wish}")


def explain_platform(
    error: ValidationError, name: str, names: Collection[str], origins: Mapping[str, str]
) -> ConfigError:
    """Say of the first wrong setting of a platform's own what is wrong; its value stays unseen."""
    wrong = error.errors(include_url=False, include_input=False)[0]
    way = ("platforms", name, *wrong["loc"])
    key, origin = _key(way), find_origin(way, origins)
    if wrong["type"] == "extra_forbidden":
        return _unknown(way, sorted(names), origin)
    if wrong["type"] == "missing":
        return _missing(key, origin)
    wish = wrong["msg"].removeprefix("Value error, ")
    return ConfigError(f"{key} cannot be {_HUSHED}", id=origin, hint=f"It says: {wish}")


def check_names(
    own: Collection[str],
    name: str,
    names: Collection[str],
    required: Collection[str],
    origins: Mapping[str, str],
) -> None:
    """Refuse a setting that a platform does not know, and then the lack of one that it needs.

    In this order: what is misspelt is not there under its right name either.
    """
    for key in own:
        if key not in names:
            way = ("platforms", name, key)
            raise _unknown(way, sorted([*names, *_OPEN]), find_origin(way, origins))
    for key in required:
        if key not in own:
            raise _missing(f"platforms.{name}.{key}", find_origin(("platforms", name), origins))


def _unknown(way: Way, names: Collection[str], origin: str) -> ConfigError:
    near = difflib.get_close_matches(str(way[-1]), names, n=1, cutoff=0.6)
    known = f"Did you mean {_key((*way[:-1], near[0]))}?" if near else ""
    hint = known or f"There are: {', '.join(names)}"
    return ConfigError(f"There is no setting {_key(way)}", id=origin, hint=hint)


def _missing(key: str, origin: str) -> ConfigError:
    return ConfigError(f"{key} is missing", id=origin, hint="The platform needs it")


def find_nearest(way: Way, root: type[Section]) -> str | None:
    """Return the setting that an unknown one most resembles, as a variable has it, or None."""
    ways = [one for one, _ in walk_settings(root)]
    for depth in range(1, len(way)):
        ways += [(*way[:depth], name) for name in list_names(way[:depth], root)]
    known = ["__".join(map(str, one)) for one in ways]
    near = difflib.get_close_matches("__".join(map(str, way)), known, n=1, cutoff=_NEAR)
    return near[0] if near else None


def find_origin(way: Way, origins: Mapping[str, str]) -> str:
    """Return where a setting came from: what is in a list came with the list."""
    while way:
        if _key(way) in origins:
            return origins[_key(way)]
        way = way[:-1]
    return DEFAULT


def show_value(value: object) -> str:
    """Show a value, but not all of a long one, and no password of a URL."""
    return repr(hide_password(value) if isinstance(value, str) else value)[:80]


def _key(way: Way) -> str:
    return ".".join(map(str, way))


def _may_be_secret(way: Way) -> bool:
    last = str(way[-1])
    if way[0] == "platforms":
        return last not in _OPEN
    if way[0] in {"providers", "mcp"}:
        return last not in {"api", "timeout_seconds"}
    if _HUSHED_TABLES & set(way):
        return True
    return way[0] == "database" or is_secret_key(last)
