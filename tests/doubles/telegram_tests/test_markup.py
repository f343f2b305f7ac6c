"""Markup as Telegram reads it: what it becomes, and how its mistakes are told."""

import re

import hypothesis
import hypothesis.strategies as st
import pytest

from tests.doubles.telegram.contents import parse_words
from tests.doubles.telegram.entities import settle, stretch, units
from tests.doubles.telegram.html import read_html
from tests.doubles.telegram.markdown import read_legacy_markdown, read_markdown
from tests.doubles.telegram.refusals import Refusal, Wire


def brief(text: str, entities: list[Wire]) -> list[tuple[object, ...]]:
    """Write entities as their kind and words, the outer ones first."""
    ordered = sorted(entities, key=lambda one: (one["offset"], -one["length"]))
    return [(one["type"], stretch(text, one)) for one in ordered]


@pytest.mark.parametrize(
    ("markup", "text", "found"),
    [
        ("<b>a</b> <strong>b</strong>", "a b", [("bold", "a"), ("bold", "b")]),
        ("<i>a</i><em>b</em>", "ab", [("italic", "a"), ("italic", "b")]),
        ("<u>a</u><ins>b</ins>", "ab", [("underline", "a"), ("underline", "b")]),
        ("<s>a</s><del>b</del>", "ab", [("strikethrough", "a"), ("strikethrough", "b")]),
        ("😀<b>😀</b>", "😀😀", [("bold", "😀")]),
        ("<B>a</b>", "a", [("bold", "a")]),
        ("<b>a<i>b</i></b>", "ab", [("bold", "ab"), ("italic", "b")]),
        ('<span class="tg-spoiler">a</span>', "a", [("spoiler", "a")]),
        ("<tg-spoiler>a</tg-spoiler>", "a", [("spoiler", "a")]),
        ("<code>a &lt; b</code>", "a < b", [("code", "a < b")]),
        ("<pre>a</pre>", "a", [("pre", "a")]),
        ("<blockquote>a</blockquote>", "a", [("blockquote", "a")]),
        ("<blockquote expandable>a</blockquote>", "a", [("expandable_blockquote", "a")]),
        ("<a href='https://a.org/?b&amp;c'>x</a>", "x", [("text_link", "x")]),
        ('<a href="tg://user?id=7">x</a>', "x", [("text_mention", "x")]),
        ('<a href="nowhere">x</a>', "x", []),
        ("&lt;&gt;&amp;&quot;&#65;&#x42;&nbsp;&", '<>&"AB&nbsp;&', []),
        ("a > b", "a > b", []),
        ("<b></b>", "", []),
    ],
)
def test_html_is_read(markup: str, text: str, found: list[tuple[str, str]]) -> None:
    """Tags become entities, and everything else words."""
    read, entities = read_html(markup)

    assert (read, brief(read, entities)) == (text, found)


def test_code_has_a_language() -> None:
    """A block of code can say what it is written in."""
    text, entities = read_html('<pre><code class="language-python">x = 1</code></pre>')

    assert (text, entities) == (
        "x = 1",
        [{"type": "pre", "offset": 0, "length": 5, "language": "python"}],
    )


@pytest.mark.parametrize(
    ("markup", "why"),
    [
        ("é <abc>", 'Unsupported start tag "abc" at byte offset 3'),
        ("1 < 2", 'Unclosed start tag at byte offset 2|Unsupported start tag "" at byte offset 2'),
        ("<b", "Unclosed start tag at byte offset 0"),
        ("<i =a>", 'Empty attribute name in the tag "i" at byte offset 0'),
        ("<i a = ", 'Unclosed start tag "i" at byte offset 0'),
        ("<i a=1$>", "Unexpected end of name token at byte offset 5"),
        ('<i a="1>', "Unclosed start tag at byte offset 0"),
        ("a</b>", "Unexpected end tag at byte offset 1"),
        ("<b>a</b", "Unclosed end tag at byte offset 4"),
        ("<b>a</i>", 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'),
        ("<b>a", 'Can\'t find end tag corresponding to start tag "b"'),
        ("<span>a</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
    ],
)
def test_mistakes_in_html_are_told(markup: str, why: str) -> None:
    """The words for a mistake are Telegram's, with the place counted in bytes."""
    with pytest.raises(Refusal) as refused:
        read_html(markup)

    assert refused.value.description in {
        f"Bad Request: can't parse entities: {one}" for one in why.split("|")
    }


@pytest.mark.parametrize(
    ("markup", "text", "found"),
    [
        ("*a* _b_ __c__ ~d~ ||e||", "a b c d e", None),
        ("*a _b_*", "a b", [("bold", "a b"), ("italic", "b")]),
        (r"1\. \*a\*", "1. *a*", []),
        ("`a*b`", "a*b", [("code", "a*b")]),
        ("```\na.b\n```", "a.b\n", [("pre", "a.b\n")]),
        ("[x](https://a.org)", "x", [("text_link", "x")]),
        ("[x](tg://user?id=7)", "x", [("text_mention", "x")]),
        ("![👍](tg://emoji?id=5)", "👍", [("custom_emoji", "👍")]),
        (">a\n>b\nc", "a\nb\nc", [("blockquote", "a\nb")]),
        ("**>a\n>b||", "a\nb", [("expandable_blockquote", "a\nb")]),
    ],
)
def test_markdown_is_read(markup: str, text: str, found: list[tuple[str, str]] | None) -> None:
    """Marks become entities, and what is escaped becomes itself."""
    read, entities = read_markdown(markup)

    if found is None:
        kinds = ("bold", "italic", "underline", "strikethrough", "spoiler")
        found = list(zip(kinds, "abcde", strict=True))
    assert (read, brief(read, entities)) == (text, found)


@pytest.mark.parametrize(
    ("markup", "text", "found"),
    [
        ("*a* _b_ `c`", "a b c", [("bold", "a"), ("italic", "b"), ("code", "c")]),
        ("*a_b*", "a_b", [("bold", "a_b")]),
        (r"\*a\* \_ \[ \` \. \\", r"*a* _ [ ` \. \\", []),
        ("1. (a) - b! #c", "1. (a) - b! #c", []),
        ("** a", " a", []),
        ("```\na*b\n```", "a*b\n", [("pre", "a*b\n")]),
        ("[x](https://a.org)", "x", [("text_link", "x")]),
        ("[x](tg://user?id=7)", "x", [("text_mention", "x")]),
        ("[a.org]", "a.org", [("text_link", "a.org")]),
        ("[nowhere]", "nowhere", []),
        ("é 🧵 *b*", "é 🧵 b", [("bold", "b")]),
    ],
)
def test_legacy_markdown_is_read(markup: str, text: str, found: list[tuple[str, str]]) -> None:
    """In the older Markdown nothing nests, and only four signs are special."""
    read, entities = read_legacy_markdown(markup)

    assert (read, brief(read, entities)) == (text, found)


@pytest.mark.parametrize(
    ("markup", "at"), [("*a", 0), ("é_a", 2), ("`a", 0), ("```a", 0), ("a [b", 2)]
)
def test_mistakes_in_legacy_markdown_are_told(markup: str, at: int) -> None:
    """What has no end is refused, with the place where it begins."""
    with pytest.raises(Refusal, match=f"starting at byte offset {at}$"):
        read_legacy_markdown(markup)


def test_legacy_markdown_names_languages() -> None:
    """A fence can say what is in it."""
    text, entities = read_legacy_markdown("```python\nx```")

    assert (text, entities[0]["language"]) == ("x", "python")


def test_markdown_names_languages() -> None:
    """A fence can say what is in it."""
    _, entities = read_markdown("```python\nx```")

    assert entities[0]["language"] == "python"


@pytest.mark.parametrize(
    ("markup", "why"),
    [
        ("1.", r"Character '.' is reserved and must be escaped with the preceding '\'"),
        ("a-b", r"Character '-' is reserved and must be escaped with the preceding '\'"),
        ("é*a", "Can't find end of Bold entity at byte offset 2"),
        ("_a", "Can't find end of Italic entity at byte offset 0"),
        ("`a", "Can't find end of Code entity at byte offset 0"),
        ("```a", "Can't find end of Pre entity at byte offset 0"),
        ("[a", "Can't find end of TextUrl entity at byte offset 0"),
        ("[a](b", "Can't find end of a URL at byte offset 3"),
        ("*a _b*_", "Can't find end of"),
    ],
)
def test_mistakes_in_markdown_are_told(markup: str, why: str) -> None:
    """The words for a mistake are Telegram's."""
    with pytest.raises(Refusal) as refused:
        read_markdown(markup)

    assert refused.value.description.startswith(f"Bad Request: can't parse entities: {why}")


def test_code_keeps_everything_else_out() -> None:
    """Inside of code nothing is bold, and no link is found."""
    text, entities = read_html("<b>a <code>b @alice</code> c</b> @alice")

    assert brief(text, settle(text, entities)) == [
        ("bold", "a "),
        ("code", "b @alice"),
        ("bold", " c"),
        ("mention", "@alice"),
    ]


def test_white_space_is_taken_off_the_ends() -> None:
    """Entities move along with the words that are left."""
    text, entities = parse_words(" \n<b>a </b> b \r\n", "html", None)

    assert (text, brief(text, entities)) == ("a  b", [("bold", "a ")])


@hypothesis.given(st.text(st.sampled_from("<>/&;a= \"'b|*_~`[]()!>\\\n#.😀"), max_size=40))
def test_no_markup_breaks_the_reader(markup: str) -> None:
    """Whatever is written is read, or refused; entities always lie inside of the text."""
    for read in (read_html, read_markdown):
        try:
            text, entities = read(markup)
        except Refusal:
            continue
        for one in settle(text, entities):
            assert 0 <= one["offset"] < one["offset"] + one["length"] <= units(text)


@hypothesis.given(st.text(max_size=60))
def test_escaped_text_comes_back(text: str) -> None:
    """What is escaped by the rules of the documentation reads as it was."""
    html = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    marked = re.sub(r"([_*\[\]()~`>#+\-=|{}.!\\])", r"\\\1", text)

    assert read_html(html) == (text, [])
    assert read_markdown(marked) == (text, [])
