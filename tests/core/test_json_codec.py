"""Values from outside are checked by their types, wherever they come from."""

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from msgspec import Struct

from threadline.core.errors import Invalid
from threadline.core.json_codec import Count, Id, Key, checked, convert, decode


class Inner(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of a value."""

    id: Id = "i"
    text: str = ""


class Outer(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value with a field of each sort."""

    id: Id = "o"
    count: Count = 0
    key: Key = 1
    share: float = 0.5
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    inner: Inner = Inner()
    many: tuple[Inner, ...] = ()
    table: dict[str, str] = {}


HALF = "\ud800"
WRONG: dict[str, dict[str, Any]] = {
    "a number as text": {"id": 7},
    "too many characters": {"id": "x" * 256},
    "too many bytes": {"id": "é" * 128},
    "NUL": {"inner": {"text": "a\0b"}},
    "NUL in a list": {"many": [{}, {"text": "\0"}]},
    "NUL in a name": {"table": {"\0": "x"}},
    "below zero": {"count": -1},
    "zero as a key": {"key": 0},
    "a huge number": {"count": 2**70},
    "truth as a number": {"count": True},
    "an unknown field": {"extra": 1},
    "an unknown field inside": {"inner": {"extra": 1}},
    "a time without a zone": {"at": "2026-01-01T00:00:00"},
    "no time": {"at": "2026-02-31T00:00:00Z"},
    "nothing": {"id": None},
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_plain_data_is_refused(name: str) -> None:
    """The error is a short sentence that begins with the name of the value."""
    with pytest.raises(Invalid, match=r"^wish") as caught:
        convert(WRONG[name], Outer, "wish")

    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "nothing",
        '{"share": NaN}',
        '{"share": Infinity}',
        '{"share": 1e999}',
        '{"id": "\\ud800"}',
        '{"id": "a\\u0000b"}',
        '{"extra": 1}',
        b'{"id": "\xff"}',
        '{"inner": ' * 100_000,
    ],
)
def test_wrong_json_is_refused(text: str | bytes) -> None:
    """Neither half characters, numbers that are none, nor bad encodings are taken."""
    with pytest.raises(Invalid, match="wish"):
        decode(text, Outer, "wish")


@pytest.mark.parametrize(
    "value",
    [
        Outer(id=7),  # type: ignore[arg-type]
        Outer(id=b"x"),  # type: ignore[arg-type]
        Outer(id=HALF),
        Outer(count=-1),
        Outer(inner=Outer()),  # type: ignore[arg-type]
        Outer(inner=Inner(text="\0")),
        Outer(many=(Inner(id="x" * 256),)),
        Outer(many=7),  # type: ignore[arg-type]
        Outer(at=datetime(2026, 1, 1)),
        Outer(share=object()),  # type: ignore[arg-type]
        Outer(share=math.nan),
        Outer(share=math.inf),
    ],
)
def test_wrong_values_of_callers_are_refused(value: Outer) -> None:
    """A constructor checks nothing, and neither does msgspec of an instance: the port does."""
    with pytest.raises(Invalid, match="wish"):
        checked(value, "wish")


def test_another_type_is_refused() -> None:
    """A value of another type is not taken in the place of the one that is wanted."""
    with pytest.raises(Invalid, match="a Outer|an Outer"):
        checked(Inner(), "wish", Outer)


def test_a_right_value_is_equal() -> None:
    """What fits comes back equal, with its times in UTC."""
    east = datetime(2026, 1, 1, 5, tzinfo=timezone(timedelta(hours=5)))
    value = Outer(at=east, many=(Inner(text="x"),), table={"a": "b"})
    found = checked(value, "wish")

    assert found == value
    assert found.at.tzinfo is UTC
    assert found.at == datetime(2026, 1, 1, tzinfo=UTC)
