"""Splitting: long texts in pieces that a platform takes."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from threadline.core.errors import Invalid
from threadline.core.platform import Capabilities, Unit
from threadline.core.splitting import Limit, TextPiece, limit_of, split, text_length

TOKENS = (
    *("a", "word", "Some words. ", "A question? ", "long" * 12, " ", "  ", "\n", "\n\n", "\n \n"),
    *("```", "```py\n", "\n```\n", "~~~~\n", "    code", "`x`", "你好。", "é", "e\u0301"),
    *("👩‍👩‍👧", "🇩🇪", "👍🏽", "\t", "\r\n"),
)
texts = st.lists(st.sampled_from(TOKENS), max_size=60).map("".join)
limits = st.builds(
    Limit,
    most=st.integers(min_value=32, max_value=120),
    unit=st.sampled_from(Unit),
    bubbles=st.booleans(),
)


def pieces(text: str, limit: Limit, start: int = 0) -> Sequence[TextPiece]:
    """Cut a text."""
    return list(split(text, limit, start))


def shown(text: str, most: int = 64, *, bubbles: bool = False) -> list[str]:
    """Cut a text, and answer how the pieces read."""
    return [cut.text for cut in split(text, Limit(most=most, bubbles=bubbles))]


@given(texts, limits)
def test_every_piece_is_within_its_limit(text: str, limit: Limit) -> None:
    """Whatever is counted, no platform is given more than it takes, and nothing empty."""
    for cut in pieces(text, limit):
        assert text_length(cut.text, limit.unit) <= limit.most
        assert cut.text.strip()


@given(texts, limits)
def test_nothing_is_lost(text: str, limit: Limit) -> None:
    """Each stretch of the text stands in its piece; only white space at the seams goes."""
    begin = 0
    for cut in pieces(text, limit):
        assert text[begin : cut.end].strip() in cut.text
        begin = cut.end
    assert not text[begin:].strip()


@given(texts, texts, limits)
@example("x" * 40 + "\n```py\n" + "y" * 30, "\n```\nz", Limit(most=64))
def test_what_was_cut_off_stays_as_it_is(text: str, more: str, limit: Limit) -> None:
    """When a text grows only its last piece changes, so that a stream never takes words back."""
    before, after = pieces(text, limit), pieces(text + more, limit)

    kept = before[:-1]
    assert after[: len(kept)] == kept


@given(texts, limits, st.data())
def test_one_can_go_on_after_any_piece(text: str, limit: Limit, data: st.DataObject) -> None:
    """Whoever knows how far the pieces came goes on exactly there."""
    cuts = pieces(text, limit)
    if cuts:
        done = data.draw(st.integers(min_value=0, max_value=len(cuts) - 1))
        assert pieces(text, limit, cuts[done].end) == cuts[done + 1 :]


def test_a_short_text_is_one_piece() -> None:
    """What fits is left as it is."""
    assert shown("hello\n\nworld") == ["hello\n\nworld"]
    assert shown("") == shown(" \n ") == []


@pytest.mark.parametrize("between", ["\n\n", "\n", ". ", " "])
def test_the_seam_is_where_a_reader_pauses(between: str) -> None:
    """A paragraph is better than a line, a line than a sentence, a sentence than a word."""
    first, second = "a" * 20 + " " + "b" * 20, "c" * 41

    one, two = shown(first + between + second)

    assert (one, two) == (first + between.strip(), second)


def test_a_block_of_code_is_closed_and_opened_again() -> None:
    """Code reads as code in every piece, and keeps its indentation."""
    code = "\n".join(f"    line {n} of code" for n in range(6))

    one, two, *more = shown(f"```python\n{code}\n```\nThat is all.", 96)

    assert one.startswith("```python\n    line 0")
    assert one.endswith("\n```")
    assert two.startswith("```python\n    line")
    assert [two, *more][-1].endswith("That is all.")


def test_no_letter_is_torn() -> None:
    """A letter of several characters stays whole."""
    family = "👩‍👩‍👧"

    for piece in shown(family * 20, 32):
        assert not piece.startswith("\u200d")
        assert not piece.endswith("\u200d")


def test_blank_lines_part_bubbles() -> None:
    """Where blocks are bubbles each of them is a piece, but not within code."""
    assert shown("one\n\ntwo\n \nthree", bubbles=True) == ["one", "two", "three"]
    assert shown("```\na\n\nb\n```\n\nend", bubbles=True) == ["```\na\n\nb\n```", "end"]


def test_a_marker_has_its_room() -> None:
    """What is said before a piece is taken from its limit; one without sense is refused."""
    assert limit_of(Capabilities(text_limit=100), "12345").most == 95
    with pytest.raises(Invalid):
        Limit(most=3)


def test_units_are_counted_as_platforms_count_them() -> None:
    """The same smiley is one character, two units of UTF-16, or four bytes."""
    assert [text_length("🙂", unit) for unit in Unit] == [1, 2, 4]
