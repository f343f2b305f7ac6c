"""Rows: how the columns of a query become a value of the type that the caller names.

A struct takes each of its fields from the column of the same name: a moment from microseconds, an
enum from its value, and what is neither a number nor a text from JSON. A field that is a struct,
and has no column of its own name, takes the columns `field_name`; it is None where all of them are
NULL. The parts of a message take the columns `text` and `parts`. Where a column is NULL, a field
that cannot be None takes its default. Any other type takes the only column of a query.

Nothing is checked: what is read was checked before it was stored.
"""

import types
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from functools import cache
from operator import itemgetter
from typing import Any, NewType, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct

from threadline.core.errors import StorageError
from threadline.core.message import Part, unpack
from threadline.database.timestamps import moment

R = TypeVar("R")

_PLAIN = (int, str, bytes, float)
_PARTS = tuple[Part, ...]
_TEXT = "text"
"""The column of the text of parts that are nothing else."""


def row_reader(kind: type[R], columns: Sequence[str]) -> Callable[[Sequence[Any]], R]:
    """Return what makes a value of a type from a row; raise TypeError if the columns do not fit."""
    if len(set(columns)) < len(columns):
        raise TypeError(f"A column is there twice: {', '.join(columns)}")
    if not is_struct(kind):
        if len(columns) != 1:
            raise TypeError(f"{kind} needs one column, not {', '.join(columns)}")
        if supertype(kind) in _PLAIN:
            return itemgetter(0)
    source = _Source()
    if is_struct(kind):
        value = source.struct(kind, {name: place for place, name in enumerate(columns)})
    else:
        value = source.value(kind, 0, "None")
    return source.compile(value)


class _Source:
    """The source of a function that makes a value from a row.

    A function that names all fields is three times as fast as a loop over them. Its text holds
    names of fields and places of columns; everything else is a value that it refers to by a name.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def compile(self, value: str) -> Callable[[Sequence[Any]], Any]:
        """Return the function that makes what an expression says from `row`."""
        made: Callable[[Sequence[Any]], Any] = eval(f"lambda row: {value}", self._values)  # noqa: S307
        return made

    def struct(self, kind: type[Any], places: Mapping[str, int]) -> str:
        """Return the expression for a struct; raise TypeError if the columns do not fit."""
        hints, used, fields = _hints(cast("Hashable", kind)), set[str](), []
        for field in msgspec.structs.fields(kind):
            name, hint = field.name, hints[field.name]
            inner = _inner(name, places, hints)
            if name in places:
                used.add(name)
                if without_none(hint) == _PARTS and _TEXT in places:
                    used.add(_TEXT)
                    fields.append(f"{name}={self._parts(hint, places[_TEXT], places[name])}")
                    continue
                fields.append(f"{name}={self.value(hint, places[name], self._default(field))}")
            elif inner:
                used |= {f"{name}_{column}" for column in inner}
                fields.append(f"{name}={self._part(hint, inner)}")
            elif field.required:
                raise TypeError(f"{kind.__name__} needs a column {name}")
        unknown = sorted(set(places) - used)
        if unknown:
            raise TypeError(f"{kind.__name__} has no field for {', '.join(unknown)}")
        return f"{self._name(kind)}({', '.join(fields)})"

    def value(self, hint: Any, place: int, default: str) -> str:
        """Return the expression for the value of a column; `default` stands for NULL, if given."""
        kind, column = supertype(without_none(hint)), f"row[{place}]"
        if without_none(hint) is not hint:
            default = "None"
        if kind in _PLAIN:
            made = column
        elif isinstance(kind, type) and issubclass(kind, Enum):
            made = f"{self._name(_members(kind))}[{column}]"
        else:
            made = f"{self._name(_converter(kind))}({column})"
        is_same = made == column and default in {"", "None"}
        return made if is_same or not default else f"{default} if {column} is None else {made}"

    def _part(self, hint: Any, places: Mapping[str, int]) -> str:
        kind = without_none(hint)
        if not is_struct(kind):
            raise TypeError(f"{kind} is no struct, which takes {', '.join(places)}")
        made = self.struct(kind, places)
        if kind is hint:
            return made
        is_none = " and ".join(f"row[{place}] is None" for place in places.values())
        return f"None if {is_none} else {made}"

    def _parts(self, hint: Any, text: int, parts: int) -> str:
        made = f"{self._name(unpack)}(row[{text}], row[{parts}])"
        return made if hint == _PARTS else f"None if row[{text}] is None else {made}"

    def _default(self, field: msgspec.structs.FieldInfo) -> str:
        """Return what stands for NULL in the column of a field; empty: it is never NULL."""
        return "" if field.default is NODEFAULT else self._name(field.default)

    def _name(self, value: Any) -> str:
        name = f"value_{len(self._values)}"
        self._values[name] = value
        return name


def _inner(name: str, places: Mapping[str, int], hints: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the columns of a field that is a struct, by the names of its own fields."""
    return {
        column.removeprefix(f"{name}_"): place
        for column, place in places.items()
        if column.startswith(f"{name}_") and column not in hints
    }


def is_struct(kind: object) -> bool:
    """Return whether a type takes its fields from columns of their own."""
    return isinstance(kind, type) and issubclass(kind, Struct)


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
def _converter(kind: Any) -> Callable[[Any], object]:
    """Return what turns the value of a column into a type that is not the column's own."""
    if kind is datetime:
        return moment
    return bool if kind is bool else msgspec.json.Decoder(kind).decode


class _Members(dict[object, Enum]):
    """The members of an enum by their values."""

    def __init__(self, kind: type[Enum]) -> None:
        super().__init__({one.value: one for one in kind})
        self._kind = kind.__name__

    def __missing__(self, value: object) -> Enum:
        raise StorageError(
            f"A column of {self._kind} holds {value!r}, which it should not",
            hint="Run: threadline doctor",
        )


@cache
def _members(kind: type[Enum]) -> _Members:
    return _Members(kind)
