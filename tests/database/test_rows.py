"""Rows become values of the type that the caller names."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import NewType

import msgspec
import pytest

from threadline.core.errors import StorageError
from threadline.core.message import Part, Text, ToolResult, pack
from threadline.database.rows import row_reader

Key = NewType("Key", int)


class Colour(StrEnum):
    """A choice."""

    RED = "red"


class Place(msgspec.Struct, frozen=True):
    """A part of a row."""

    path: str
    at: datetime


class Thing(msgspec.Struct, frozen=True, kw_only=True):
    """A row with a column of every kind."""

    key: Key
    colour: Colour | None
    made_at: datetime
    tools: tuple[str, ...] | None
    place: Place | None
    asker: str = ""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A row with the parts of a message."""

    key: Key
    parts: tuple[Part, ...]
    tools: tuple[str, ...] = ()


class Owed(msgspec.Struct, frozen=True, kw_only=True):
    """A row with the parts of a message, if there is one, inside another one."""

    said: Said
    parts: tuple[Part, ...] | None


COLUMNS = ("key", "made_at", "colour", "tools", "place_path", "place_at")


def test_each_column_gets_the_type_of_its_field() -> None:
    """Moments come from microseconds, choices from words, tuples from JSON, parts from prefixes."""
    read = row_reader(Thing, COLUMNS)

    assert read((1, 1_000_000, "red", '["a"]', "/x", 0)) == Thing(
        key=Key(1),
        colour=Colour.RED,
        made_at=datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC),
        tools=("a",),
        place=Place(path="/x", at=datetime(1970, 1, 1, tzinfo=UTC)),
    )


def test_null_is_none() -> None:
    """What is missing is None; a part of which everything is missing is None as a whole."""
    thing = row_reader(Thing, COLUMNS)((1, 0, None, None, None, None))

    assert (thing.colour, thing.tools, thing.place) == (None, None, None)


def test_parts_take_two_columns() -> None:
    """Plain text has no JSON; any other part is read from it."""
    read = row_reader(Said, ("key", "text", "parts"))
    result = (ToolResult(call_id="c", text="fine"),)

    assert read((1, "hello", None)).parts == (Text(text="hello"),)
    assert read((1, *pack(result))).parts == result


def test_parts_without_text_are_none() -> None:
    """A message that is not there has no parts; one within another row has columns of its own."""
    read = row_reader(Owed, ("said_key", "said_text", "said_parts", "text", "parts"))

    assert read((1, "hello", None, None, None)).parts is None
    assert read((1, "", None, "bye", None)).parts == (Text(text="bye"),)
    assert read((1, "hello", None, None, None)).said == Said(
        key=Key(1), parts=(Text(text="hello"),)
    )


def test_null_is_the_default_of_what_cannot_be_none() -> None:
    """A list that nobody has stored is an empty one."""
    read = row_reader(Said, ("key", "text", "parts", "tools"))

    assert read((1, "hello", None, None)).tools == ()
    assert read((1, "hello", None, '["a"]')).tools == ("a",)


def test_a_scalar_takes_the_only_column() -> None:
    """A number, a word or a moment needs no type of its own."""
    assert row_reader(Key, ("key",))((7,)) == 7
    assert row_reader(Colour, ("colour",))(("red",)) is Colour.RED
    assert row_reader(datetime, ("at",))((0,)) == datetime(1970, 1, 1, tzinfo=UTC)
    assert row_reader(datetime, ("at",))((None,)) is None
    assert row_reader(tuple[str, ...], ("tools",))(('["a"]',)) == ("a",)


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param(COLUMNS[1:], id="a column is missing"),
        pytest.param((*COLUMNS, "extra"), id="a column has no field"),
        pytest.param((*COLUMNS, "key"), id="a column is there twice"),
        pytest.param((*COLUMNS, "place_extra"), id="a column of a part has no field"),
        pytest.param((*COLUMNS, "asker_name"), id="a column has a field that is no struct"),
    ],
)
def test_columns_that_do_not_fit_are_refused(columns: tuple[str, ...]) -> None:
    """A query and its type cannot drift apart."""
    with pytest.raises(TypeError):
        row_reader(Thing, columns)


def test_a_scalar_of_two_columns_is_refused() -> None:
    """Nothing says which of them it would be."""
    with pytest.raises(TypeError):
        row_reader(Key, ("key", "id"))


def test_a_word_that_is_no_choice_is_damage() -> None:
    """The schema keeps such words out; a file that has one anyway was changed by hand."""
    with pytest.raises(StorageError, match="Colour holds 'blue'"):
        row_reader(Colour, ("colour",))(("blue",))
