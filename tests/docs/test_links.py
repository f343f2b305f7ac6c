"""Links inside the documents lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.architecture.source import DOCS, ROOT

_LINK = re.compile(r"\]\((?!https?://)([^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def documents() -> list[Path]:
    """List all documents."""
    return sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])


def anchors(text: str) -> set[str]:
    """Name the places in a document, as they are named where it is read."""
    headings = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text))
    return {heading.replace(" ", "-") for heading in headings}


def broken(path: Path) -> list[str]:
    """List the links of a document that lead nowhere."""
    text = path.read_text(encoding="utf-8")
    found = []
    for name, anchor in _LINK.findall(_BLOCK.sub("", text)):
        target = (path.parent / name).resolve() if name else path
        if not target.exists():
            found.append(name)
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{name}#{anchor}")
    return found


@pytest.mark.parametrize("path", documents(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(path: Path) -> None:
    """A link to another document, a picture or a heading finds it."""
    assert not broken(path)


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    """A link to a heading that is not there is found."""
    page = tmp_path / "page.md"
    page.write_text("# One heading\n\n[here](#one-heading) [there](#another)\n", encoding="utf-8")

    assert broken(page) == ["#another"]
