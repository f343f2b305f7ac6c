"""TOML edit: settings put into the text of a file, whose comments and order stay as they are."""

import re
import tomllib
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from threadline.config.sources import parse_file
from threadline.core.errors import Invalid

if TYPE_CHECKING:
    from tomlkit.container import Container

MOST_CHANGES = 200
KEY_LIMIT = 300
DEPTH_LIMIT = 10
TEXT_LIMIT = 100_000
"""Characters, both."""
_NAME = re.compile(r"[^\s.\x00-\x1f\x7f\"'\[\]=#]{1,100}")
_HEADER = re.compile(r"\s*\[")


def edit_toml(text: str, changes: Mapping[str, object], origin: str = "") -> str:
    """Answer a text in which some settings, by their dotted names, are as they should be.

    None takes a setting out. The text must be right before; `origin` says whose it is.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    wanted: dict[str, Any] = parse_file(text, origin)
    _check(changes)
    for key, value in changes.items():
        way = key.split(".")
        _lay(wanted, way, value)
        if value is not None and len(way) == 1 and not isinstance(value, dict | list):
            text = _add_on_top(text, key, value)
    try:
        document = tomlkit.parse(text)
        for key, value in changes.items():
            _put(document, key.split("."), value)
        written = tomlkit.dumps(document)
    except TOMLKitError as error:
        raise _impossible(origin) from error
    return _checked(written, wanted, origin)


def _check(changes: Mapping[str, object]) -> None:
    if len(changes) > MOST_CHANGES:
        raise Invalid(f"At most {MOST_CHANGES} settings can be changed at once")
    for key, value in changes.items():
        if len(key) > KEY_LIMIT or not all(map(_NAME.fullmatch, key.split("."))):
            hint = "Use names separated by dots, such as spend.day"
            raise Invalid("This is not a valid name of a setting", id=ascii(key[:80]), hint=hint)
        _check_word(ascii(key), key)
        _check_text(key, value)
    for key in changes:
        if any(other.startswith(f"{key}.") for other in changes):
            hint = "Change either the table or what stands in it"
            raise Invalid("A setting is part of another one that is changed", id=key, hint=hint)


def _check_text(key: str, value: object, depth: int = 0) -> None:
    """Refuse what no file of UTF-8 can hold, wherever in a value it stands."""
    if depth > DEPTH_LIMIT:
        raise Invalid(f"Tables can be nested at most {DEPTH_LIMIT} deep", id=key)
    if isinstance(value, dict):
        for name, one in value.items():
            _check_word(key, name)
            _check_text(key, one, depth + 1)
    elif isinstance(value, list | tuple):
        for one in value:
            if one is None:
                raise Invalid("A list cannot contain empty values", id=key)
            _check_text(key, one, depth + 1)
    elif isinstance(value, str):
        _check_word(key, value)
    elif value is not None and not isinstance(value, bool | int | float):
        raise Invalid("A setting is a text, a number, true or false, a list or a table", id=key)


def _check_word(key: str, word: str) -> None:
    if len(word) > TEXT_LIMIT:
        raise Invalid(f"A setting can have at most {TEXT_LIMIT:,} characters", id=key)
    try:
        word.encode()
    except UnicodeError:
        raise Invalid("The value contains invalid characters", id=key) from None


def _lay(table: dict[str, Any], way: list[str], value: object) -> None:
    """Change plain tables in the way in which the text shall change."""
    *outer, last = way
    for name in outer:
        inner = table.get(name)
        if not isinstance(inner, dict):
            if value is None:
                return
            inner = table[name] = {}
        table = inner
    if value is None:
        table.pop(last, None)
    else:
        table[last] = _without_none(value)


def _without_none(value: object) -> Any:
    """Leave out what is not set: TOML has no word for it."""
    if isinstance(value, dict):
        return {name: _without_none(one) for name, one in value.items() if one is not None}
    if isinstance(value, list | tuple):
        return [_without_none(one) for one in value]
    return value


def _add_on_top(text: str, key: str, value: object) -> str:
    """Put a new setting of no table before the first table and the comment above that."""
    import tomlkit

    lines = text.splitlines(keepends=True)
    if key in tomllib.loads(text):
        return text
    at = next((n for n, line in enumerate(lines) if _HEADER.match(line)), None)
    if at is None:
        return text
    while at and lines[at - 1].strip().startswith("#"):
        at -= 1
    while at and not lines[at - 1].strip():
        at -= 1
    written = f"{key} = {tomlkit.item(value).as_string()}\n"
    added = "".join([*lines[:at], written, *(() if at else ("\n",)), *lines[at:]])
    try:
        is_right = tomllib.loads(added) == {**tomllib.loads(text), key: value}
    except ValueError:
        return text  # that was no table, but a line within a value
    return added if is_right else text


def _put(document: "Container", way: list[str], value: object) -> None:
    import tomlkit

    *outer, last = way
    table: MutableMapping[str, Any] = document
    passed: list[tuple[MutableMapping[str, Any], str]] = []
    for name in outer:
        if not isinstance(table.get(name), MutableMapping):
            if value is None:
                return
            table[name] = tomlkit.table()
        passed.append((table, name))
        table = table[name]
    if value is not None:
        _replace(table, last, _without_none(value))
    elif last in table:
        del table[last]
        _clear_away(passed)


def _replace(table: MutableMapping[str, Any], name: str, value: object) -> None:
    """Put a value into a table; what stays of one that is a table itself keeps its comments."""
    inner = table.get(name)
    if not isinstance(value, dict) or not isinstance(inner, MutableMapping):
        table[name] = value
        return
    for gone in [one for one in inner if one not in value]:
        del inner[gone]
    for one, wanted in value.items():
        if one not in inner or not _is_same(inner[one], wanted):
            _replace(inner, one, wanted)


def _is_same(item: Any, value: object) -> bool:
    """Tell whether a value is there already; 1, 1.0 and true are three of them."""
    return repr(item.unwrap() if hasattr(item, "unwrap") else item) == repr(value)


def _clear_away(passed: list[tuple[MutableMapping[str, Any], str]]) -> None:
    """Take out the tables in which nothing stands any more, not even a comment."""
    for table, name in reversed(passed):
        inner = table[name]
        if len(inner) or "#" in inner.as_string():
            return
        del table[name]


def _checked(text: str, wanted: Mapping[str, object], origin: str) -> str:
    """Make sure that a text says what it should, and nothing else."""
    try:
        said = tomllib.loads(text)
    except ValueError as error:
        raise _impossible(origin) from error
    if _plain(said) != _plain(wanted):
        raise _impossible(origin)
    return text


def _impossible(origin: str) -> Invalid:
    hint = "Edit it by hand"
    return Invalid("The file cannot be changed automatically", id=origin, hint=hint)


def _plain(table: object) -> object:
    """Leave out empty tables, which say nothing."""
    if not isinstance(table, dict):
        return table
    inner = {name: _plain(one) for name, one in table.items()}
    return {name: one for name, one in inner.items() if one != {}}
