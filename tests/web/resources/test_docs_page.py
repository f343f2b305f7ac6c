"""The page of the API, and the description that it shows."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.databases import FAST, on
from tests.web.browser import browsing, make_site
from threadline.store import Store
from threadline.web.headers import POLICY
from threadline.web.resources.docs_page import SOURCE, render_page
from threadline.web.spa import Entry, SpaFiles


class Page(HTMLParser):
    """Reads which tags a page has, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: set[str] = set()
        self.styled: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        given = dict(attrs)
        self.links |= {given[name] or "" for name in ("href", "src") if name in given}
        self.styled += [name for name in given if name == "style" or name.startswith("on")]


def build(folder: Path, mark: str) -> SpaFiles:
    """Write what a build leaves, as far as the page needs it."""
    made = {"file": f"assets/docs-{mark}.js", "css": [f"assets/docs-{mark}.css"]}
    (folder / "manifest.json").write_text(json.dumps({SOURCE: made}), encoding="utf-8")
    return SpaFiles(folder)


@on(FAST)
async def test_the_page_loads_the_viewer_that_was_built(store: Store, tmp_path: Path) -> None:
    """One script and one style of the newest build are loaded, under the policy of all pages."""
    async with browsing(make_site(store, screens=build(tmp_path, "A1"))) as browser:
        first = await browser.client.get("/api/docs")
        build(tmp_path, "B2")
        second = await browser.client.get("/api/docs")

    assert first.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert re.findall(r"<script.*?</script>", first.text, re.DOTALL) == [
        '<script type="module" src="/assets/docs-A1.js"></script>'
    ]
    assert {"/assets/docs-B2.js", "/assets/docs-B2.css"} <= Page(second.text).links
    for page in (Page(first.text), Page(second.text)):
        assert not page.tags & {"style", "iframe", "img", "form"}
        assert not page.styled
        assert all(link.startswith(("/api/", "/assets/", "/favicon")) for link in page.links)


@on(FAST)
async def test_without_a_build_the_page_links_to_the_description(store: Store) -> None:
    """A checkout that was never built has a page without a script."""
    async with browsing(make_site(store)) as browser:
        page = await browser.client.get("/api/docs")

    assert page.status_code == 200
    assert "/api/openapi.json" in Page(page.text).links
    assert "script" not in Page(page.text).tags


@on(FAST)
async def test_every_body_has_an_example(store: Store) -> None:
    """The description has an example for every JSON body, with which the viewer fills it in."""
    async with browsing(make_site(store)) as browser:
        paths = (await browser.client.get("/api/openapi.json")).json()["paths"]

    bodies = {
        operation["operationId"]: operation["requestBody"]["content"]["application/json"]
        for operations in paths.values()
        for operation in operations.values()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    }
    assert bodies["begin_session"]["example"]["text"]
    assert [
        name for name, body in bodies.items() if not isinstance(body.get("example"), dict)
    ] == []


@pytest.mark.parametrize("entry", [None, Entry(script="/assets/m.js")], ids=["plain", "built"])
def test_the_title_is_escaped(entry: Entry | None) -> None:
    """No tag in the title of an application becomes one of the page."""
    page = Page(render_page("</title><img src=x>", entry))

    assert "img" not in page.tags
