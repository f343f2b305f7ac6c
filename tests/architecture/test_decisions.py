"""Decisions can be found, and say what they cost."""

import re

from tests.architecture.source import DOCS

PARTS = ("## Context", "## Choice", "## Price")


def test_every_decision_is_in_the_index() -> None:
    """The index lists each record, and each record has context, choice and price."""
    records = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")

    assert records
    for number, record in enumerate(records, start=1):
        text = record.read_text(encoding="utf-8")
        assert re.fullmatch(rf"{number:04}-[a-z0-9-]+\.md", record.name)
        assert f"({record.name})" in index, f"{record.name} is not linked in the index"
        assert all(part in text for part in PARTS), f"{record.name} lacks one of {PARTS}"
