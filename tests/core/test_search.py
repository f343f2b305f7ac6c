"""What a question means, whatever somebody types."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.errors import Invalid
from threadline.core.message import Role
from threadline.core.person import Identity
from threadline.core.search import (
    QUERY_LIMIT,
    SNIPPET_LIMIT,
    TERMS_LIMIT,
    Phrase,
    SearchFilter,
    WordPart,
    read_query,
)
from threadline.store.search.matcher import cut_snippet, says


@pytest.mark.parametrize(
    ("question", "text", "is_said"),
    [
        ("quick fox", "the quick brown FOX", True),
        ("quick fox", "the quick brown dog", False),
        ('"brown fox"', "a brown, fox", True),
        ('"brown fox"', "a fox, brown", False),
        ('"brown fox', "a brown fox", True),
        ("fox -dog", "a fox", True),
        ("fox -dog", "a fox and a dog", False),
        ('fox -"big dog"', "a fox and a dog, big", True),
        ("bro*", "a brown fox", True),
        ("row*", "a brown fox", False),
        ("*row*", "a brown fox", True),
        ("-*row* fox", "a brown fox", False),
        ("*s.exa*", "see docs.example.org", True),
        ("user@example.org", "write to user@example.org", True),
        ("user@example.org", "example.org has a user", False),
        ("日本", "これは日本語です", True),
        ("日語", "これは日本語です", False),
        ("語", "これは日本語", True),
        ('"日本 語"', "日本 語", True),
        ("*本*", "これは日本語です", True),
        ("*x日*", "ax日本", True),
        ("🎉", "done 🎉", True),
        ("OR", "this or that", True),
        ("NEAR(a", "near a", True),
        ("a:b", "a b", True),
        ("'); DROP", "drop it", True),
        ("it's", "it's", True),
        ("x" * 100, "y " + "x" * 70, True),
    ],
)
def test_a_question_means_what_a_person_means(question: str, text: str, is_said: bool) -> None:
    """Words, phrases, exclusions, beginnings and parts; all else is only words."""
    assert says(text, read_query(question)) is is_said


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no word"),
        ("  ?! ", "no word"),
        ('"', "no word"),
        ("-fox", "only what must not"),
        ("*ab*", "too short"),
        ("fox -*ab*", "too short"),
        ("a " * (TERMS_LIMIT + 1), "more than"),
        ("x" * (QUERY_LIMIT + 1), "search cannot be"),
        ("a\0b", "search cannot be"),
        (None, "search cannot be"),
    ],
)
def test_what_cannot_be_searched_for_is_said(text: str, problem: str) -> None:
    """The few things that are no question get an error that says so, and what to do."""
    with pytest.raises(Invalid, match=problem) as refused:
        read_query(text)

    assert refused.value.hint


def test_the_word_being_typed_may_be_a_beginning() -> None:
    """Only the last word, only while nothing follows it, and not from a single letter on."""

    def last(text: str) -> Phrase | WordPart:
        return read_query(text, is_typing=True).wanted[-1]

    assert last("quick fo") == Phrase(words=("fo",), is_open=True)
    assert last("quick fo ") == Phrase(words=("fo",))
    assert last("quick f") == Phrase(words=("f",))
    assert last('"quick fo') == Phrase(words=("quick", "fo"), is_open=True)
    assert last('"quick fo"') == Phrase(words=("quick", "fo"))


@given(st.text(max_size=200))
def test_nothing_that_somebody_types_breaks_the_search(text: str) -> None:
    """Every text is a question, or is refused as Invalid."""
    try:
        question = read_query(text)
    except Invalid:
        return
    assert question.wanted


@pytest.mark.parametrize(
    ("text", "question", "found"),
    [
        ("a quick fox", "quick", ["quick"]),
        ("a quick fox", "fox qu*", ["qu", "fox"]),
        ("Die Straße", "strasse", ["Straße"]),
        ("Die Straße", "stra*", ["Stra"]),
        ("ein cafe\u0301 bitte", "café", ["cafe\u0301"]),
        ("x" * 500 + " ﬁne day " + "y" * 500, "day", ["day"]),
        ("日本語テキスト", "本語テ", ["本語テ"]),
        ("abcdef", "*bcd*", ["bcd"]),
        ("one\r\ntwo\nthree", '"two three"', ["two three"]),
    ],
)
def test_a_snippet_shows_what_was_found(text: str, question: str, found: list[str]) -> None:
    """The ranges are places in the snippet, in the writing of the text itself."""
    snippet = cut_snippet(text, read_query(question))

    assert [snippet.text[begin:end] for begin, end in snippet.ranges] == found
    assert "\n" not in snippet.text


@given(st.text(), st.sampled_from(["fox", "字", "é", "*oxx*"]), st.text())
def test_a_snippet_is_short_and_its_ranges_are_inside(before: str, word: str, after: str) -> None:
    """At most 200 characters, and ranges in order that do not overlap or lie outside."""
    snippet = cut_snippet(f"{before} {word} {after}", read_query(word))

    assert len(snippet.text) <= SNIPPET_LIMIT
    edges = [edge for pair in snippet.ranges for edge in pair]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(snippet.text) for edge in edges)


@pytest.mark.parametrize(
    "fields",
    [
        {"roles": ()},
        {"roles": ("nobody",)},
        {"roles": "user"},
        {"platform": 5},
        {"kind": "cellar"},
        {"project": 0},
        {"session": "../etc"},
        {"since": datetime(2026, 1, 1)},
        {"until": "yesterday"},
        {"is_archived": 1},
        {"person": 0},
        {"sender": "alice"},
        {"sender": Identity(platform="telegram", id="alice"), "person": 1},
    ],
)
def test_a_filter_refuses_what_cannot_be(fields: dict[str, object]) -> None:
    """A filter that could never be met is an error, and not an empty answer."""
    with pytest.raises(Invalid):
        SearchFilter(**fields)  # type: ignore[arg-type]


def test_a_filter_takes_words_for_choices() -> None:
    """Choices may come as text, as they do from a command line."""
    made = SearchFilter(roles=("user",), since=datetime(2026, 1, 1, tzinfo=UTC))  # type: ignore[arg-type]

    assert made.roles == (Role.USER,)


@given(
    st.lists(st.sampled_from(["fox", "foxes", "a", "x" * 64, "x" * 70, "-", ".", "_"]), max_size=8),
    st.sampled_from(["", " "]),
    st.sampled_from(
        ["fox", "fox*", '"a fox"', '"fox a"', "fox -a", "x" * 64, "x" * 66, "*oxe*", '"a fox"*']
    ),
)
def test_plain_text_is_read_like_any_other(pieces: list[str], blank: str, question: str) -> None:
    """The short way for plain ASCII answers as the long way, which one accent more asks for."""
    text, query = blank.join(pieces), read_query(question)

    assert says(text, query) == says(f"{text} é", query)
