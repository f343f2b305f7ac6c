"""JSON codec: how the values of a record are written, read back, and described by a schema."""

import base64
import binascii
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Annotated, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from threadline.core.errors import Invalid
from threadline.core.validation import (
    COUNT_LIMIT,
    ID_LIMIT,
    TEXT_LIMIT,
    checked_choice,
    checked_count,
    checked_flag,
    checked_id,
    checked_text,
    unfit,
)

T = TypeVar("T")

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """How one kind of value is read from JSON, written as JSON, and described."""

    read: Callable[[object, str], object]
    """Takes plain JSON data and the name of the field; refuses what does not fit."""
    write: Callable[[object], object]
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slot:
    """One field of a record: its shape, and what it is when it is left out."""

    shape: Shape
    is_optional: bool
    default: object


def _same(value: object) -> object:
    return value


def text_shape(
    read: Callable[[object, str], str], schema: Mapping[str, object] | None = None
) -> Shape:
    """Make the shape of a text that a check of ours takes."""
    return Shape(read=read, write=_same, schema={"type": "string", **(schema or {})})


TEXT = text_shape(checked_text, {"maxLength": TEXT_LIMIT})
ID = text_shape(checked_id, {"maxLength": ID_LIMIT})
COUNT = Shape(
    read=checked_count,
    write=_same,
    schema={"type": "integer", "minimum": 0, "maximum": COUNT_LIMIT},
)
FLAG = Shape(read=checked_flag, write=_same, schema={"type": "boolean"})

Id: TypeAlias = Annotated[str, ID]
"""An id, which both databases can index."""


def _read_moment(value: object, what: str) -> datetime:
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        try:
            return datetime.fromisoformat(value).astimezone(UTC)
        except ValueError:
            pass  # such as the 31st of February
    raise unfit(value, what, "a moment in UTC such as 2026-01-31T18:45:00.000000Z")


def _write_moment(value: object) -> object:
    if not isinstance(value, datetime):
        raise unfit(value, "moment", "a datetime")
    at = value.astimezone(UTC)
    # %Y leaves out the leading zeros of early years.
    return f"{at.year:04}-{at:%m-%dT%H:%M:%S.%f}Z"


MOMENT = Shape(
    read=_read_moment,
    write=_write_moment,
    schema={"type": "string", "pattern": f"^{_MOMENT.pattern}$"},
)


def _read_bytes(value: object, what: str) -> bytes:
    try:
        if isinstance(value, str):
            return base64.b64decode(value.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        pass
    raise unfit(value, what, "bytes in base64")


def _write_bytes(value: object) -> object:
    if not isinstance(value, bytes):
        raise unfit(value, "data", "bytes")
    return base64.b64encode(value).decode()


BYTES = Shape(
    read=_read_bytes,
    write=_write_bytes,
    schema={"type": "string", "contentEncoding": "base64"},
)

_slots: dict[type[object], Mapping[str, Slot]] = {}
_PLAIN: Mapping[object, Shape] = {
    str: TEXT,
    int: COUNT,
    bool: FLAG,
    datetime: MOMENT,
    bytes: BYTES,
}


def _choice(kind: type[StrEnum]) -> Shape:
    return Shape(
        read=lambda value, what: checked_choice(value, what, kind),
        write=str,
        schema={"type": "string", "enum": [member.value for member in kind]},
    )


def _many(one: Shape) -> Shape:
    def read(value: object, what: str) -> object:
        if not isinstance(value, list):
            raise unfit(value, what, "a list")
        return tuple(one.read(item, f"{what}[{n}]") for n, item in enumerate(value))

    def write(value: object) -> object:
        return [one.write(item) for item in value] if isinstance(value, tuple) else value

    return Shape(read=read, write=write, schema={"type": "array", "items": one.schema})


def _record(kind: type[object]) -> Shape:
    return Shape(
        read=lambda value, what: read_record(kind, value, what),
        write=write_record,
        schema=schema_of(kind),
    )


@cache
def shape_of(annotation: object) -> tuple[Shape, bool]:
    """Find the shape of an annotated type, and whether the value may be missing."""
    if get_origin(annotation) is types.UnionType or type(None) in get_args(annotation):
        inner = [part for part in get_args(annotation) if part is not type(None)]
        return shape_of(inner[0])[0], True
    if get_origin(annotation) is Annotated:
        return next(part for part in get_args(annotation) if isinstance(part, Shape)), False
    if get_origin(annotation) is tuple:
        return _many(shape_of(get_args(annotation)[0])[0]), False
    if annotation in _PLAIN:
        return _PLAIN[annotation], False
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return _choice(annotation), False
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _record(annotation), False
    raise Invalid(f"Nothing is known of the shape of {annotation}")


def slots_of(kind: type[object]) -> Mapping[str, Slot]:
    """Answer what is known of each field of a record."""
    if kind not in _slots:
        hints = get_type_hints(kind, include_extras=True)
        found = {}
        for each in fields(kind):  # type: ignore[arg-type]  # callers pass dataclasses
            shape, is_optional = shape_of(hints[each.name])
            default = None if each.default is MISSING else each.default
            is_optional = is_optional or each.default is not MISSING
            found[each.name] = Slot(shape=shape, is_optional=is_optional, default=default)
        _slots[kind] = found
    return _slots[kind]


def read_record(kind: type[T], value: object, what: str) -> T:
    """Read a record from plain JSON data, or say which field is wrong."""
    if not isinstance(value, dict):
        raise unfit(value, what, "an object with named fields")
    slots = slots_of(kind)
    if unknown := [str(name)[:40] for name in value if name not in slots]:
        raise Invalid(f"{what} has a field that is not known: {unknown[0]!r}")
    given = {}
    for name, slot in slots.items():
        if value.get(name) is not None:
            given[name] = slot.shape.read(value[name], f"{what}.{name}")
        elif not slot.is_optional:
            raise Invalid(f"{what} lacks the field {name!r}")
    try:
        return _built(kind, given)
    except (TypeError, ValueError) as error:
        raise Invalid(f"{what} is malformed: {error}") from error


def _built(kind: type[T], given: dict[str, object]) -> T:
    return kind(**given)


def write_record(value: object) -> dict[str, object]:
    """Write a record as plain JSON data, in the order of its fields, without those it lacks."""
    plain: dict[str, object] = {}
    for name, slot in slots_of(type(value)).items():
        item = getattr(value, name)
        if item is not None and item != slot.default:
            plain[name] = slot.shape.write(item)
    return plain


def schema_of(kind: type[object]) -> dict[str, object]:
    """Describe a record as JSON Schema."""
    slots = slots_of(kind)
    return {
        "type": "object",
        "properties": {name: dict(slot.shape.schema) for name, slot in slots.items()},
        "required": [name for name, slot in slots.items() if not slot.is_optional],
        "additionalProperties": False,
    }
