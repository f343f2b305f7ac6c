"""Markdown at a terminal: what is emphasised is seen so, and nothing gets lost."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.cli.terminal_markdown import Markup

_STYLES = re.compile(r"\x1b\[[0-9;]*m")
_MARKS = set("*_`#>-+•│─~[]()! ")


def shown(text: str, width: int = 80) -> list[str]:
    markup = Markup()
    return [line for one in text.split("\n") for line in markup.lines(one, width)]


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain words", "plain words"),
        ("# Title", "\x1b[1mTitle\x1b[0m"),
        ("### Small ###", "\x1b[1mSmall\x1b[0m"),
        ("a **bold** word", "a \x1b[1mbold\x1b[0m word"),
        ("__bold__", "\x1b[1mbold\x1b[0m"),
        ("an *italic* word", "an \x1b[3mitalic\x1b[0m word"),
        ("_italic_", "\x1b[3mitalic\x1b[0m"),
        ("**bold and *both***", "\x1b[1mbold and \x1b[0m\x1b[1;3mboth\x1b[0m"),
        ("run `make *all*` now", "run \x1b[36mmake *all*\x1b[0m now"),
        ("[here](https://a.b)", "\x1b[4mhere\x1b[0m\x1b[2m (https://a.b)\x1b[0m"),
        ("- one", "• one"),
        ("  * two", "  • two"),
        ("1. first", "1. first"),
        ("> said", "\x1b[2m│ \x1b[0msaid"),
        ("---", "\x1b[2m" + "─" * 24 + "\x1b[0m"),
        ("", ""),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("snake_case_name", "snake_case_name"),
        ("an * open star", "an * open star"),
        ("#hashtag", "#hashtag"),
        ("a `tick", "a `tick"),
    ],
)
def test_a_line_is_shown(text: str, seen: str) -> None:
    """Emphasis, code, links, lists, quotes and headings have a look; other signs are left alone."""
    assert shown(text) == [seen]


def test_code_is_left_as_it_is() -> None:
    """Inside a block nothing is emphasised or cut, and only its own fence ends it."""
    long = "x = 1 * 2 * 3  # " + "long " * 40
    text = f"before\n````python\n# **no** title\n```\n{long}\n````\n**after**"

    assert shown(text) == [
        "before",
        "\x1b[2m  python\x1b[0m",
        "\x1b[36m  # **no** title\x1b[0m",
        "\x1b[36m  ```\x1b[0m",
        f"\x1b[36m  {long}\x1b[0m",
        "\x1b[1mafter\x1b[0m",
    ]


def test_emphasis_goes_on_over_the_end_of_a_line() -> None:
    """What is cut between words keeps its look on both sides."""
    lines = shown("some **words that are bold for longer than one line** end", 24)

    assert lines == [
        "some \x1b[1mwords that are bold\x1b[0m",
        "\x1b[1mfor longer than one line\x1b[0m",
        "end",
    ]


@pytest.mark.parametrize("lead", ["- ", "> ", "12. "])
def test_the_rest_of_an_item_stands_below_its_words(lead: str) -> None:
    """Lists and quotes keep their shape where a line is too short for them."""
    first, *more = shown(f"{lead}words that do *not* fit into one line of it", 24)

    assert more
    assert _STYLES.sub("", first)[len(lead) :].startswith("words")
    assert all(line.startswith(" " * len(lead)) and line[len(lead)] != " " for line in more)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=300), st.integers(20, 90))
def test_no_word_is_lost(text: str, width: int) -> None:
    """Whatever is written, all its letters are shown, in order, and every style ends."""
    lines = Markup().lines(text, width)
    seen = _STYLES.sub("", "".join(lines))

    if not text.lstrip().startswith(("```", "~~~")):
        assert _letters(seen) == _letters(text)
    assert all(line.count("\x1b[0m") * 2 == line.count("\x1b[") for line in lines)


@pytest.mark.parametrize(
    "text",
    [
        *("*" * 20_000, "_a" * 2_000, "[" * 4_000, "**a " * 1_000, "`" * 3_999),
        "# a" + " " * 200_000 + "x",
    ],
)
def test_odd_lines_take_no_time(text: str) -> None:
    """A line of nothing but marks is shown at once."""
    assert _letters(_STYLES.sub("", "".join(Markup().lines(text, 80)))) == _letters(text)


def _letters(text: str) -> str:
    return "".join(sign for sign in text if sign not in _MARKS and not sign.isspace())
