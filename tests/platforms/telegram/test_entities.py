"""The Markdown of agents becomes a text with entities that Telegram always takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.core.platform import Capabilities, Unit
from threadline.core.splitting import limit_of, split, text_length
from threadline.platforms.telegram.entities import (
    ENTITIES_LIMIT,
    TEXT_LIMIT,
    Entity,
    Rendered,
    render_entities,
)
from threadline.testing.platform_contract import STRANGE

_LIMIT = limit_of(Capabilities(text_limit=TEXT_LIMIT, unit=Unit.UTF16))
MARKS = st.text(
    alphabet=st.sampled_from([*"*_~`[]()<>#|\\-+!:>\n\t aé🧵漢", "\u200d", "\ud83e"]),
    max_size=200,
)


def shown(rendered: Rendered) -> list[tuple[str, str]]:
    """List each style with the words that it is on."""
    units = rendered.text.encode("utf-16-le")
    return [
        (one.type, units[2 * one.offset : 2 * (one.offset + one.length)].decode("utf-16-le"))
        for one in rendered.entities
    ]


@pytest.mark.parametrize(
    ("markdown", "text", "styles"),
    [
        ("a **b** c", "a b c", [("bold", "b")]),
        ("a __b__ c", "a b c", [("bold", "b")]),
        ("a *b* _c_", "a b c", [("italic", "b"), ("italic", "c")]),
        ("~~a~~", "a", [("strikethrough", "a")]),
        ("***a***", "a", [("bold", "a"), ("italic", "a")]),
        ("**a *b* c**", "a b c", [("bold", "a b c"), ("italic", "b")]),
        ("`a*b*`", "a*b*", [("code", "a*b*")]),
        ("``a`b``", "a`b", [("code", "a`b")]),
        ("**a `b` c**", "a b c", [("bold", "a "), ("code", "b"), ("bold", " c")]),
        ("# Title #", "Title", [("bold", "Title")]),
        ("[here](https://example.org/a_(b))", "here", [("text_link", "here")]),
        ("![cat](https://example.org/cat.png)", "cat", [("text_link", "cat")]),
        ("<https://example.org>", "https://example.org", [("text_link", "https://example.org")]),
        ("> a\n> **b**\nc", "a\nb\nc", [("blockquote", "a\nb"), ("bold", "b")]),
        ("```python\nx = 1\n```\nb", "x = 1\nb", [("pre", "x = 1")]),
        ("~~~\nx\n~~~", "x", [("pre", "x")]),
        ("- a\n  * b", "• a\n  • b", []),
        ("- [ ] a\n- [x] b", "☐ a\n☑ b", []),
        ("1. a\n2. b", "1. a\n2. b", []),
        ("a\n\n---\n\nb", "a\n\n———\n\nb", []),
        ("|a|b|\n|-|-|\n|漢|1|", "a  | b\n---|--\n漢 | 1", [("pre", "a  | b\n---|--\n漢 | 1")]),
    ],
)
def test_markdown_is_shown_as_it_is_meant(
    markdown: str, text: str, styles: list[tuple[str, str]]
) -> None:
    """What models write looks on Telegram as they meant it."""
    rendered = render_entities(markdown)

    assert (rendered.text, shown(rendered)) == (text, styles)


@pytest.mark.parametrize(
    "text",
    [
        STRANGE,
        "2*3*4 and snake_case_name and __init__.py",
        "a * b * c",
        "** not bold **",
        "5 > 3, a <b> c & d &amp;",
        "C:\\new\\table",
        "[a](javascript:alert(1)) [b](relative/path)",
        "half a **bold that has not",
        "a ` lonely tick",
        "   indented\n\n\nand far apart",
        "|no|table|",
    ],
)
def test_words_stay_as_they_are(text: str) -> None:
    """What is no mark is shown as it was written, with every blank."""
    assert render_entities(text) == Rendered(text)


def test_a_half_written_block_is_code_already() -> None:
    """While an answer grows, code that is not closed yet is shown as code."""
    assert shown(render_entities("so:\n```js\nlet a")) == [("pre", "let a")]


def test_where_a_link_leads_and_what_a_block_is_written_in_is_told() -> None:
    """A link keeps its address, and a block its language."""
    (link,) = render_entities("[a](https://example.org)").entities
    (block,) = render_entities("```c++\nx\n```").entities

    assert (link.url, block.language) == ("https://example.org", "c++")


def test_what_would_vanish_is_shown_plain() -> None:
    """A text of nothing but marks is shown, as an empty message is none."""
    assert render_entities("```\n```") == Rendered("```\n```")


def test_a_wide_table_does_not_burst_the_message() -> None:
    """A table whose columns would need too much room keeps its own."""
    rows = ["|a|b|", "|-|-|", f"|{'x' * 1000}|y|", *["|a|b|"] * 300]
    rendered = render_entities("\n".join(rows))

    assert text_length(rendered.text, Unit.UTF16) <= TEXT_LIMIT
    assert rendered.entities[0].type == "pre"


def test_more_styles_than_telegram_looks_at_are_left_out() -> None:
    """The first hundred are told."""
    assert len(render_entities("**a** " * 200).entities) == ENTITIES_LIMIT


@pytest.mark.parametrize("beginning", ["# a", "- a", "- [x] a", "|a|\n|-", "> a", "---", "```"])
@pytest.mark.parametrize("blank", [" ", "\t", " #", "| ", "-", "`"])
def test_a_line_of_blanks_is_rendered_in_time(beginning: str, blank: str) -> None:
    """Each form of a line is read once; a cubic pattern would not end before the test is stopped.

    A heading with thousands of tabs in it stopped the whole process for minutes.
    """
    text = beginning + blank * (4000 // len(blank)) + "x"

    assert "x" in render_entities(text).text or beginning == "```"


@given(MARKS | st.text(max_size=300))
def test_entities_are_lawful_for_every_text(text: str) -> None:
    """Whatever is written: styles lie within the text, are nested, and cut no letter in two."""
    rendered = render_entities(text)

    units = rendered.text.encode("utf-16-le")
    for one in rendered.entities:
        assert one.length > 0
        assert 0 <= one.offset <= one.offset + one.length <= len(units) // 2
        units[2 * one.offset : 2 * (one.offset + one.length)].decode("utf-16-le")
    for one in rendered.entities:
        for other in rendered.entities:
            assert _apart(one, other) or _inside(one, other) or _inside(other, one)
            if one.type in {"code", "pre"} and other.type in {"bold", "italic", "strikethrough"}:
                assert _apart(one, other)


@given(st.lists(MARKS, max_size=60).map("".join))
def test_no_piece_of_a_split_text_gets_too_long(text: str) -> None:
    """What fits before it is rendered fits afterwards."""
    for cut in split(text * 20, _LIMIT):
        assert text_length(render_entities(cut.text).text, Unit.UTF16) <= TEXT_LIMIT


def _apart(one: Entity, other: Entity) -> bool:
    return one.offset + one.length <= other.offset or other.offset + other.length <= one.offset


def _inside(one: Entity, other: Entity) -> bool:
    return other.offset <= one.offset and one.offset + one.length <= other.offset + other.length
