"""What comes from outside: taken as it is, or refused by name."""

from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.errors import Invalid
from threadline.core.validation import (
    COUNT_LIMIT,
    ID_LIMIT,
    TEXT_LIMIT,
    checked_choice,
    checked_count,
    checked_id,
    checked_moment,
    checked_name,
    checked_text,
    clean_title,
    unfit,
)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


BEYOND_INT_TEXT = 10**5000
"""More digits than Python is willing to write."""


@pytest.mark.parametrize(
    "value", ["", "../..", "a:b=c%@", "\u202e\u200d👍", "\n\x7f", "x" * 255, "é" * 127]
)
def test_an_id_may_look_like_anything(value: str) -> None:
    """What a platform calls its users is not ours to judge, and is kept unchanged."""
    assert checked_id(value, "chat") == value


@pytest.mark.parametrize(
    "value",
    ["a\0b", "\ud800", "x" * 256, "é" * 128, "x" * 10_000_000, None, 7, b"x", BEYOND_INT_TEXT],
    ids=["nul", "half", "long", "bytes", "huge", "none", "int", "binary", "giant"],
)
def test_an_id_that_cannot_be_stored_is_refused(value: object) -> None:
    """The error names the field and stays short, however long the value is."""
    with pytest.raises(Invalid, match=f"^chat cannot be .* at most {ID_LIMIT} bytes") as refusal:
        checked_id(value, "chat")
    assert len(str(refusal.value)) < 250


@pytest.mark.parametrize(
    "value", ["a\0", "\udfff", "x" * 6, 5, None], ids=["nul", "half", "long", "int", "none"]
)
def test_a_text_that_cannot_be_stored_is_refused(value: object) -> None:
    """NUL, halves of characters, more than the limit, and what is no text at all."""
    with pytest.raises(Invalid, match=r"^topic cannot be .* at most 5 characters"):
        checked_text(value, "topic", limit=5)


def test_a_text_may_be_as_long_as_its_limit() -> None:
    """The limit counts characters, and its last one is still in."""
    assert checked_text("é" * TEXT_LIMIT, "text") == "é" * TEXT_LIMIT
    with pytest.raises(Invalid, match=r"4,194,304 characters"):
        checked_text("é" * (TEXT_LIMIT + 1), "text")


@given(st.text())
def test_every_whole_text_without_nul_is_taken(value: str) -> None:
    """Taken unchanged when UTF-8 can write it and no NUL is in it; refused otherwise."""
    if "\0" in value:
        with pytest.raises(Invalid):
            checked_text(value, "text")
    else:
        assert checked_text(value, "text") == value


@pytest.mark.parametrize("value", ["a", "0", "main", "a_b-c", "x" * 64])
def test_a_name_for_the_file_system_is_plain(value: str) -> None:
    """Small letters, digits, line and dash."""
    assert checked_name(value, "profile") == value


@pytest.mark.parametrize(
    "value",
    ["", ".", "..", "a/b", "a\\b", "-a", "_a", "A", "a\n", "ä", "a.b", "x" * 65, "a\0", None],
)
def test_a_name_that_could_leave_its_folder_is_refused(value: object) -> None:
    """Also every name that some file system might read differently."""
    with pytest.raises(Invalid, match=r"^profile cannot be"):
        checked_name(value, "profile")


def test_a_choice_is_taken_as_text_or_member() -> None:
    """Configuration and JSON bring text, code brings members."""
    assert checked_choice("red", "colour", Colour) is Colour.RED
    assert checked_choice(Colour.BLUE, "colour", Colour) is Colour.BLUE


@pytest.mark.parametrize("value", ["RED", "", None, 1, ["red"], {}, b"red"], ids=repr)
def test_an_unknown_choice_is_refused_with_the_list(value: object) -> None:
    """The error says which words there are."""
    with pytest.raises(Invalid, match=r"^colour cannot be .* one of red, blue"):
        checked_choice(value, "colour", Colour)


@pytest.mark.parametrize(("value", "least"), [(0, 0), (1, 1), (-3, -5), (COUNT_LIMIT, 0)])
def test_a_count_starts_at_its_least(value: int, least: int) -> None:
    """The least and the greatest number are both in."""
    assert checked_count(value, "n", least=least) == value


@pytest.mark.parametrize(
    "value",
    [-1, COUNT_LIMIT + 1, BEYOND_INT_TEXT, 1.0, "1", True, None],
    ids=["negative", "over", "giant", "float", "text", "bool", "none"],
)
def test_what_is_no_count_is_refused(value: object) -> None:
    """Neither too small or great, nor a fraction, a text or a truth."""
    with pytest.raises(Invalid, match=r"^n cannot be .* whole number from 0"):
        checked_count(value, "n")


def test_a_moment_is_given_back_in_utc() -> None:
    """The same moment, whatever zone it came in."""
    kolkata = timezone(timedelta(hours=5, minutes=30))

    moment = checked_moment(datetime(2026, 5, 1, 4, 0, tzinfo=kolkata), "at")

    assert moment == datetime(2026, 4, 30, 22, 30, tzinfo=UTC)
    assert moment.tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 5, 1),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
        "2026-05-01T00:00:00Z",
        1.5,
        None,
    ],
    ids=["naive", "outside the calendar", "text", "number", "none"],
)
def test_what_is_no_moment_is_refused(value: object) -> None:
    """A naive datetime is no moment, and nothing is guessed."""
    with pytest.raises(Invalid, match=r"^at cannot be .* datetime with a time zone"):
        checked_moment(value, "at")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("  Two\n\twords \u2028here ", "Two words here"),
        ("a\x00b\x1b[31mc\x7f", "ab[31mc"),
        ("evil\u202egnp.exe\u2066\u200f", "evilgnp.exe"),
        ("zero\u200bwi\u200ddth\ufeff \u2060 gap", "zerowidth gap"),
        ("\u3164\u115f\u034f\u00ad", ""),
        ("half \ud83d", "half"),
        ("naïve 日本語 שלום ☂️ 👍🏽", "naïve 日本語 שלום ☂️ 👍🏽"),
        ("x" * 101, "x" * 100),
        ("y" * 99 + " z", "y" * 99),
        ("", ""),
    ],
    ids=["space", "control", "bidi", "width", "invisible", "half", "plain", "long", "cut", "empty"],
)
def test_a_title_is_one_clean_short_line(text: str, title: str) -> None:
    """Nothing unseen stays in it, words stay apart, and it is cut without a trailing blank."""
    assert clean_title(text) == title


@given(st.text(st.characters()), st.integers(1, 20))
def test_cleaning_a_title_twice_changes_nothing(text: str, limit: int) -> None:
    """A clean title is within its limit, can be stored, and is clean already."""
    title = clean_title(text, limit)

    assert len(title) <= limit
    assert clean_title(title, limit) == title == title.strip()


def test_a_title_must_be_text() -> None:
    """Anything else is refused by name."""
    with pytest.raises(Invalid, match=r"^title cannot be None"):
        clean_title(None)  # type: ignore[arg-type]


def test_an_unfit_value_is_shown_shortened() -> None:
    """The error shows both ends of a long value, and says what is wanted."""
    error = unfit("a" * 500 + "z", "chat", "short")

    assert str(error).startswith("chat cannot be 'aaaa")
    assert str(error).endswith("z'. It must be short.")
    assert len(str(error)) < 120
