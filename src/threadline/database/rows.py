"""Rows: how the columns of a query become a value of the type that the caller names.

A scalar type takes the only column of a query. Any other type takes each of its fields from the
column of the same name: a moment from microseconds, an enum from its value, and what is neither
a number nor a text from JSON. A field that is a type of its own, and has no column of its own
name, takes the columns `field_name`; it is None where all of them are NULL.

Nothing is checked: what is read was checked before it was stored.
"""

import types
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from operator import itemgetter
from typing import Any, NewType, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from threadline.core.errors import StorageError
from threadline.database.timestamps import moment

R = TypeVar("R")

Convert = Callable[[Any], object]
_PLAIN = (int, str, bytes, float)


def row_reader(kind: type[R], columns: Sequence[str]) -> Callable[[Sequence[Any]], R]:
    """Return what makes a value of a type from a row; raise TypeError if the columns do not fit."""
    if len(set(columns)) < len(columns):
        raise TypeError(f"A column is there twice: {', '.join(columns)}")
    if not is_scalar(kind):
        return _struct_reader(kind, columns)
    if len(columns) != 1:
        raise TypeError(f"{kind} needs one column, not {', '.join(columns)}")
    convert: Any = _converter(kind)
    return itemgetter(0) if convert is None else lambda row: convert(row[0])


def _struct_reader(kind: type[R], columns: Sequence[str]) -> Callable[[Sequence[Any]], R]:
    hints = _hints(cast("type", kind))
    parts = [
        (name, *_part_reader(name, hint, columns, hints))
        for name, hint in hints.items()
        if name not in columns
    ]
    inside = {place for _, places, _ in parts for place in places}
    _check_fields(kind, [name for n, name in enumerate(columns) if n not in inside], parts)
    conversions = [
        (place, convert)
        for place, name in enumerate(columns)
        if place not in inside and (convert := _converter(hints[name])) is not None
    ]
    nested = [(name, places, read) for name, places, read in parts if read is not None]

    def read(row: Sequence[Any]) -> R:
        values = list(row)
        for place, convert in conversions:
            value = values[place]
            if value is not None:
                values[place] = convert(value)
        return kind(**dict(zip(columns, values, strict=True)))

    def read_with_parts(row: Sequence[Any]) -> R:
        fields: dict[str, Any] = {
            name: row[place] for place, name in enumerate(columns) if place not in inside
        }
        for place, convert in conversions:
            if row[place] is not None:
                fields[columns[place]] = convert(row[place])
        for name, places, make in nested:
            values = [row[place] for place in places]
            fields[name] = None if all(value is None for value in values) else make(values)
        return kind(**fields)

    return read_with_parts if nested else read


def _part_reader(
    name: str, hint: Any, columns: Sequence[str], hints: Mapping[str, Any]
) -> tuple[tuple[int, ...], Callable[[Sequence[Any]], Any] | None]:
    """Return where the columns of a field are that is a type of its own, and what reads them."""
    places = tuple(
        place
        for place, column in enumerate(columns)
        if column.startswith(f"{name}_") and column not in hints
    )
    if not places:
        return (), None
    inner = [columns[place].removeprefix(f"{name}_") for place in places]
    return places, row_reader(without_none(hint), inner)


def _check_fields(kind: type, columns: Sequence[str], parts: Sequence[tuple[Any, ...]]) -> None:
    """Raise TypeError unless there is a field for each column, and a value for each field."""
    unknown = sorted(set(columns) - set(_hints(kind)))
    if unknown:
        raise TypeError(f"{kind.__name__} has no field for {', '.join(unknown)}")
    missing = [name for name, places, _ in parts if not places and name not in _defaults(kind)]
    if missing:
        raise TypeError(f"{kind.__name__} needs a column {', '.join(missing)}")


def is_scalar(kind: object) -> bool:
    """Whether a type stands for one column."""
    base = supertype(kind)
    return base in (*_PLAIN, bool, datetime) or (isinstance(base, type) and issubclass(base, Enum))


def supertype(kind: object) -> object:
    """Return the type that a chain of NewTypes stands for."""
    while isinstance(kind, NewType):
        kind = kind.__supertype__
    return kind


def without_none(hint: Any) -> Any:
    """Return what is left of `X | None`."""
    if get_origin(hint) in {Union, types.UnionType}:
        left = [one for one in get_args(hint) if one is not types.NoneType]
        if len(left) == 1:
            return left[0]
    return hint


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    hints = get_type_hints(kind)
    return {name: hints[name] for name in kind.__struct_fields__}


@cache
def _defaults(kind: Any) -> frozenset[str]:
    """Return the names of the fields that a row may leave out."""
    return frozenset(one.name for one in msgspec.structs.fields(kind) if not one.required)


def _converter(hint: Any) -> Convert | None:
    """Return what turns the value of a column into a type; None: it is that already."""
    kind = supertype(without_none(hint))
    if kind in _PLAIN:
        return None
    if kind is datetime:
        return moment
    if kind is bool:
        return bool
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice(kind)
    return msgspec.json.Decoder(kind).decode


@cache
def _choice(kind: type[Enum]) -> Convert:
    words = {one.value: one for one in kind}

    def read(value: object) -> Enum:
        try:
            return words[value]
        except KeyError:
            raise StorageError(
                f"A column of {kind.__name__} holds {value!r}, which it should not",
                hint="Run: threadline doctor",
            ) from None

    return read
