"""JSON codec: values from JSON, from plain data and from callers, checked by their types."""

import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from typing import Annotated, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from threadline.core.errors import Invalid
from threadline.core.validation import (
    COUNT_LIMIT,
    ID_LIMIT,
    checked_moment,
    checked_text,
    checked_type,
    unfit,
)

T = TypeVar("T")

_OWN = bytes, bytearray, datetime, date, time, timedelta, Decimal
"""Types of which nothing else is made on the way: none of them passes for text."""
_BYTES = "bytes"
"""The key in the metadata of a type under which its limit in bytes is."""

Id: TypeAlias = Annotated[str, Meta(max_length=ID_LIMIT, extra={_BYTES: ID_LIMIT})]
"""An id, which both databases can index."""
Word: TypeAlias = Annotated[str, Meta(min_length=1, max_length=ID_LIMIT, extra={_BYTES: ID_LIMIT})]
"""An id that is not empty."""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=COUNT_LIMIT)]
Key: TypeAlias = Annotated[int, Meta(ge=1, le=COUNT_LIMIT)]

_PLACE = re.compile(r"(?P<problem>.*?)(?: - at `\$?(?P<path>.*)`)?", re.DOTALL)
_PROBLEM_SHOWN = 200
"""Characters: the problem may quote what was given."""


def decode(data: bytes | str, kind: type[T], what: str) -> T:
    """Return the value that a JSON text describes; raise Invalid if it does not fit its type."""
    try:
        return _settle(cast("T", _decoder(cast("Hashable", kind))(data)), what)
    except msgspec.ValidationError as error:
        raise _misfit(error, what) from error
    except RecursionError as error:
        raise Invalid(f"{what} is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise Invalid(f"{what} is not JSON: {error}"[:_PROBLEM_SHOWN]) from error


def convert(plain: object, kind: type[T], what: str) -> T:
    """Return the value that plain data describes; raise Invalid if it does not fit its type."""
    try:
        return _settle(msgspec.convert(plain, kind), what)
    except msgspec.ValidationError as error:
        raise _misfit(error, what) from error
    except (RecursionError, OverflowError) as error:
        raise Invalid(f"{what} cannot be read: {error}") from error


def checked(value: T, what: str, kind: type[T] | None = None) -> T:
    """Return a value from a caller that need not be typed, if it and all its fields fit.

    Constructors check nothing, so the value is taken apart and put together again.
    """
    kind = kind or type(value)
    try:
        plain = msgspec.to_builtins(checked_type(value, what, kind), builtin_types=_OWN)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"{what} cannot be read: {error}"[:_PROBLEM_SHOWN]) from error
    return convert(plain, kind, what)


def json_schemas(
    kinds: Sequence[type[object]], place: str = "#/$defs/"
) -> tuple[list[dict[str, object]], dict[str, object]]:
    """Return the JSON Schema of each type, and of all types that these use by their names.

    The schemas refer to each other by their names at a place of the document.
    """
    schemas, parts = msgspec.json.schema_components(kinds, ref_template=f"{place}{{name}}")
    # Defaults are tuples; in JSON they are lists.
    used: dict[str, object] = msgspec.json.decode(msgspec.json.encode(parts))
    return list(schemas), used


@cache
def _decoder(kind: Hashable) -> Callable[[bytes | str], object]:
    return msgspec.json.Decoder(cast("type[object]", kind)).decode


def misfit_of(error: BaseException) -> tuple[str, str]:
    """Return the path of the field that an error of msgspec is about, and what is wrong with it."""
    found = cast("re.Match[str]", _PLACE.fullmatch(str(error)))
    return found["path"] or "", found["problem"][:_PROBLEM_SHOWN]


def _misfit(error: msgspec.ValidationError, what: str) -> Invalid:
    """Return the error that names the field, from one of msgspec or of a rule of ours."""
    if isinstance(error.__cause__, Invalid):
        return error.__cause__
    path, problem = misfit_of(error)
    return Invalid(f"{what}{path} does not fit: {problem}")


def _settle(value: T, what: str) -> T:
    """Return a value with its times in UTC; raise Invalid for what no database could store."""
    return cast("T", _settled(value, what))


def _settled(value: object, what: str) -> object:
    if isinstance(value, str):
        return checked_text(value, what)
    if isinstance(value, int):
        if abs(value) > COUNT_LIMIT:
            raise unfit(value, what, f"a whole number of at most {COUNT_LIMIT}")
        return value
    if isinstance(value, float | Decimal):
        if not math.isfinite(value):
            raise unfit(value, what, "a finite number")
        return value
    if isinstance(value, datetime):
        return checked_moment(value, what)
    if isinstance(value, Struct):
        return _settled_struct(value, what)
    if isinstance(value, list | tuple):
        items = [_settled(item, f"{what}[{n}]") for n, item in enumerate(value)]
        is_same = all(new is old for new, old in zip(items, value, strict=True))
        return value if is_same else type(value)(items)
    if isinstance(value, dict):
        return {
            _settled(name, what): _settled(item, f"{what}.{name}") for name, item in value.items()
        }
    return value


def _settled_struct(value: Struct, what: str) -> Struct:
    limits = _byte_limits(type(value))
    changes = {}
    for name in value.__struct_fields__:
        item = getattr(value, name)
        new = _settled(item, f"{what}.{name}")
        if new is not item:
            changes[name] = new
        limit = limits.get(name)
        if limit is not None and isinstance(new, str) and len(new.encode()) > limit:
            raise unfit(new, f"{what}.{name}", f"text of at most {limit} bytes")
    return replace(value, **changes) if changes else value


@cache
def _byte_limits(kind: type[Struct]) -> Mapping[str, int]:
    """Return how many bytes the text in each field may have, where that is limited."""
    hints = get_type_hints(kind, include_extras=True)
    found = {name: _byte_limit(hints[name]) for name in kind.__struct_fields__}
    return {name: limit for name, limit in found.items() if limit is not None}


def _byte_limit(hint: object) -> int | None:
    if get_origin(hint) is Annotated:
        for meta in get_args(hint)[1:]:
            if isinstance(meta, Meta) and meta.extra and _BYTES in meta.extra:
                return cast("int", meta.extra[_BYTES])
        return _byte_limit(get_args(hint)[0])
    return next((one for one in map(_byte_limit, get_args(hint)) if one is not None), None)
