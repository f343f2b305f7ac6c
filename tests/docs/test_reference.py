"""The reference says what the code says."""

import re

import pytest

from docs.generate import DOCS, pages, with_diagrams
from docs.meanings import ADVICE, EVENTS
from tests.docs.test_library_examples import groups, public_methods
from threadline.core.delivery import DELIVERY_TRANSITIONS
from threadline.core.turn import TRANSITIONS


@pytest.fixture(scope="module")
def written() -> dict[str, str]:
    """All pages as the code has them."""
    return pages()


def test_the_reference_is_up_to_date(written: dict[str, str]) -> None:
    """Every page that comes from the code is as `make docs` would write it."""
    stale = [
        path
        for path, text in written.items()
        if not (DOCS / path).exists() or (DOCS / path).read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run: make docs"


def test_the_reference_is_written_the_same_each_time(written: dict[str, str]) -> None:
    """Writing the reference twice gives the same text."""
    assert pages() == written


def test_no_page_is_left_over(written: dict[str, str]) -> None:
    """Every page of the reference comes from the code."""
    found = {path.relative_to(DOCS).as_posix() for path in DOCS.glob("reference/*")}
    assert found == {path for path in written if path.startswith("reference/")}


def test_every_operation_is_listed(written: dict[str, str]) -> None:
    """Whatever a store can be asked to do is in the reference of the library."""
    text = written["reference/library.md"]
    shown = [f"## store.{group}\n" for group in groups() if f"## store.{group}\n" not in text]
    names = [name for kind in groups().values() for name in public_methods(kind)]

    assert shown + [name for name in names if f"### `{name}`" not in text] == []


def test_every_table_is_explained(written: dict[str, str]) -> None:
    """The comment above each table of the schema is a sentence in the reference."""
    text = written["reference/schema.md"]
    tables = re.findall(r"^## `(\w+)`\n\n(.*)$", text, re.MULTILINE)

    assert len(tables) > 50
    assert [name for name, sentence in tables if not sentence.endswith(".")] == []


def test_no_meaning_is_left_over(written: dict[str, str]) -> None:
    """Whatever a sentence was written for still exists."""
    text = "\n".join(written.values())
    left = [word for words in (ADVICE, EVENTS) for word in words if f"`{word}`" not in text]
    assert not left


def test_the_diagrams_show_every_transition() -> None:
    """Each arrow of the tables is drawn, and no other one."""
    drawn = with_diagrams(
        "<!-- begin: turns -->\n<!-- end -->\n<!-- begin: deliveries -->\n<!-- end -->"
    )
    arrows = {tuple(arrow) for arrow in re.findall(r"(\w+) --> (\w+)", drawn)}
    turns = {(str(a), str(b)) for a, nexts in TRANSITIONS.items() for b in nexts}
    deliveries = {(str(a), str(b)) for a, nexts in DELIVERY_TRANSITIONS.items() for b in nexts}

    assert arrows == turns | deliveries
