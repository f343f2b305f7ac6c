"""How texts are taken apart, so that a search finds what a person means."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.tokenizer import (
    SEARCHED_LIMIT,
    WORD_LIMIT,
    normalize_text,
    parts,
    placed_words,
    split_words,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ISPARTA", "ısparta"),
        ("ﬁne", "FINE"),
        ("cafe\u0301", "CAFÉ"),
        ("Zwi\u00adschen", "zwischen"),
        ("❤️", "❤"),
        ("ｶﾞ", "ガ"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("①", "1"),
    ],
)
def test_ways_of_writing_do_not_count(one: str, other: str) -> None:
    """Case, width, ligatures, composed marks and unseen characters make no difference."""
    assert normalize_text(one) == normalize_text(other)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Don't stop_me now-42!", ["don", "t", "stop", "me", "now", "42"]),
        ("naïve café", ["naïve", "café"]),
        ("日本語", ["日本", "本語", "語"]),
        ("字", ["字"]),
        ("foo日本bar", ["foo", "日本", "本", "bar"]),
        ("한국어 검색", ["한국", "국어", "어", "검색", "색"]),
        ("ไทย", ["ไท", "ทย", "ย"]),
        ("a🎉🎉b", ["a", "🎉", "🎉", "b"]),
        ("हिन्दी", ["हिन्दी"]),
        ("… — !?", []),
        ("", []),
    ],
)
def test_a_text_is_taken_apart_into_words(text: str, found: list[str]) -> None:
    """Letters, digits and marks make words; unspaced scripts make pairs; symbols stand alone."""
    assert split_words(normalize_text(text)) == found


def test_a_long_word_counts_by_its_beginning() -> None:
    """Nobody types more than 64 characters of a word, and an index need not hold them."""
    assert split_words("x" * 1000) == ["x" * WORD_LIMIT]
    assert split_words("é" * 1000) == ["é" * WORD_LIMIT]


def test_parts_stay_within_words() -> None:
    """Every three neighbours of a word are a part of it; words shorter than that have none."""
    assert parts("foo barn a-b") == {"foo", "bar", "arn"}
    assert parts(normalize_text("日本語テキスト")) == set()


def test_only_the_beginning_of_a_long_text_is_searched() -> None:
    """A text of megabytes costs no more than its first 65,536 characters."""
    assert len(normalize_text("ß" * 4 * SEARCHED_LIMIT)) == SEARCHED_LIMIT
    assert len(normalize_text("x" * 4 * SEARCHED_LIMIT)) == SEARCHED_LIMIT


@given(st.text())
def test_folding_twice_is_folding_once(text: str) -> None:
    """What was folded is in its last form, or a question would not meet its answer."""
    assert normalize_text(normalize_text(text)) == normalize_text(text)


def test_every_character_has_one_last_form() -> None:
    """No single character of Unicode changes when it is folded again."""
    assert not [
        hex(code)
        for code in range(0x110000)
        if normalize_text(normalize_text(chr(code))) != normalize_text(chr(code))
    ]


@given(st.text())
def test_words_are_what_stands_at_their_places(text: str) -> None:
    """The two ways to read words agree, and no word holds a blank or what an index would split."""
    folded = normalize_text(text)
    placed = list(placed_words(folded))

    assert [word for word, _, _ in placed] == split_words(folded)
    assert all(folded[begin:end].startswith(word) for word, begin, end in placed)
    assert not [
        word
        for word in split_words(folded)
        for character in word
        if unicodedata.category(character)[0] in "ZPC" and character.isascii()
    ]


@given(st.text(), st.text(min_size=3, max_size=6), st.text())
def test_the_parts_of_a_piece_are_parts_of_the_whole(before: str, piece: str, after: str) -> None:
    """If a text holds a piece, its index holds the parts of that piece: nothing can be missed."""
    whole = normalize_text(before) + normalize_text(piece) + normalize_text(after)

    assert parts(normalize_text(piece)) <= parts(whole)
