"""Errors: which one it is, what it was, and what it should be."""

import difflib
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from typing import get_args, get_origin

from pydantic import ValidationError

from threadline.config.secrets import is_secret_key
from threadline.config.sections import Section
from threadline.config.sources import Way
from threadline.core.database_url import hide_password
from threadline.core.errors import ConfigError

DEFAULT = "default"
_NEAR = 0.5
"""How much an unknown name must resemble a known one, from 0 to 1."""

_HUSHED = "what it is"
_OPEN = frozenset({"type", "enabled", "home"})
"""Settings of a platform that hold no secret, whatever somebody writes there."""

_HUSHED_TABLES = frozenset({"environment", "headers", "command", "options"})
"""Settings in which anybody may have written a secret."""


def explain_invalid_setting(
    error: ValidationError, origins: Mapping[str, str], root: type[Section], way: Way = ()
) -> ConfigError:
    """Say of the first wrong setting which one it is, what it was, and what it should be."""
    wrong = error.errors(include_url=False)[0]
    way = (*way, *(str(part) for part in wrong["loc"] if part != "[key]"))
    key, origin = ".".join(way), find_origin(way, origins)
    names = _names(way[:-1], root)
    if wrong["type"] == "extra_forbidden" or ("[key]" in wrong["loc"] and names):
        near = difflib.get_close_matches(way[-1], names, n=1, cutoff=0.6)
        known = f"Did you mean {'.'.join((*way[:-1], near[0]))}?" if near else ""
        hint = known or f"There are: {', '.join(names)}"
        return ConfigError(f"There is no setting {key}", id=origin, hint=hint)
    wish = wish_of(way, root) or wrong["msg"]
    if wrong["type"] == "missing":
        return ConfigError(f"{key} is missing", id=origin, hint=f"It must be {wish}")
    shown = _HUSHED if _may_be_secret(way) else show_value(wrong["input"])
    return ConfigError(f"{key} cannot be {shown}", id=origin, hint=f"It must be {wish}")


def explain_platform(
    error: ValidationError, name: str, names: Collection[str], origins: Mapping[str, str]
) -> ConfigError:
    """Say of the first wrong setting of a platform's own what is wrong; its value stays unseen."""
    wrong = error.errors(include_url=False, include_input=False)[0]
    way = ("platforms", name, *(str(part) for part in wrong["loc"]))
    key, origin = ".".join(way), find_origin(way, origins)
    if wrong["type"] == "extra_forbidden":
        return _unknown(way, names, origin)
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
            raise _unknown(way, [*names, *_OPEN], find_origin(way, origins))
    for key in required:
        if key not in own:
            raise _missing(f"platforms.{name}.{key}", find_origin(("platforms", name), origins))


def _unknown(way: Way, names: Collection[str], origin: str) -> ConfigError:
    near = difflib.get_close_matches(way[-1], names, n=1, cutoff=0.6)
    known = f"Did you mean {'.'.join((*way[:-1], near[0]))}?" if near else ""
    hint = known or f"There are: {', '.join(sorted(names))}"
    return ConfigError(f"There is no setting {'.'.join(way)}", id=origin, hint=hint)


def _missing(key: str, origin: str) -> ConfigError:
    return ConfigError(f"{key} is missing", id=origin, hint="The platform needs it")


def is_setting_path(way: Way, root: type[Section]) -> bool:
    """Return whether a way through the tables leads to a setting."""
    found: object = root
    for name in way:
        section = _section_in(found)
        if section is not None:
            field = section.model_fields.get(name)
            if field is None:
                return section.model_config.get("extra") == "allow"
            found = field.annotation
        elif get_origin(found) is dict:
            key, found = get_args(found)
            if isinstance(key, type) and issubclass(key, StrEnum) and name not in set(key):
                return False
        else:
            return found is object
    return True


def find_nearest(way: Way, root: type[Section]) -> Way | None:
    """Return the way to the setting that an unknown one most resembles, or None."""
    known = {"__".join(one): one for one in _ways(root)}
    for depth in range(1, len(way)):
        section = _section_in(annotation_of(way[:depth], root))
        for name in () if section is None else section.model_fields:
            known["__".join((*way[:depth], name))] = (*way[:depth], name)
    near = difflib.get_close_matches("__".join(way), known, n=1, cutoff=_NEAR)
    return known[near[0]] if near else None


def _ways(section: type[Section], way: Way = ()) -> Iterator[Way]:
    """Return the ways to all settings that are in no table with a name of the user's choice."""
    for name, field in section.model_fields.items():
        inner = _section_in(field.annotation)
        if inner is None:
            yield (*way, name)
        else:
            yield from _ways(inner, (*way, name))


def _section_in(annotation: object) -> type[Section] | None:
    """Return the section that an annotation is, or may be beside None."""
    for one in (annotation, *(() if get_origin(annotation) is dict else get_args(annotation))):
        if isinstance(one, type) and issubclass(one, Section):
            return one
    return None


def find_origin(way: Way, origins: Mapping[str, str]) -> str:
    """Tell where a setting came from: what is in a list came with the list."""
    while way:
        if ".".join(way) in origins:
            return origins[".".join(way)]
        way = way[:-1]
    return DEFAULT


def show_value(value: object) -> str:
    """Show a value, but not all of a long one, and no password of a URL."""
    return repr(hide_password(value) if isinstance(value, str) else value)[:80]


def _may_be_secret(way: Way) -> bool:
    if way[0] == "platforms":
        return way[-1] not in _OPEN
    if way[0] in {"providers", "mcp"}:
        return way[-1] not in {"api", "timeout_seconds"}
    if _HUSHED_TABLES & set(way):
        return True
    return way[0] == "database" or is_secret_key(way[-1])


def _names(way: Way, root: type[Section]) -> list[str]:
    """List the settings that a table can have, where they are known."""
    found = annotation_of(way, root)
    if isinstance(found, type) and issubclass(found, Section):
        return list(found.model_fields)
    key = [*get_args(found), None][0]
    return list(key) if isinstance(key, type) and issubclass(key, StrEnum) else []


def wish_of(way: Way, root: type[Section]) -> str | None:
    """Find what a setting must be: its own word, or that of the table it stands in."""
    while way:
        section = annotation_of(way[:-1], root)
        if isinstance(section, type) and issubclass(section, Section):
            field = section.model_fields.get(way[-1])
            if field is not None:
                return field.description
        way = way[:-1]
    return None


def annotation_of(way: Way, root: type[Section]) -> object:
    """Find what may stand at the end of a way through the tables."""
    found: object = root
    for name in way:
        if isinstance(found, type) and issubclass(found, Section):
            field = found.model_fields.get(name)
            found = None if field is None else field.annotation
        elif get_origin(found) is tuple:
            found = get_args(found)[0]
        else:  # a table of tables, by platform or kind
            found = [*get_args(found), None, None][1]
    return found
