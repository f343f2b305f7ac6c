"""The page of the API: to be read by anybody, and to try things out where the app was built."""

import json
import re
from pathlib import Path

import pytest

from tests.databases import FAST, on
from tests.web.browser import browsing, make_site
from tests.web.resources.test_problems import Page
from threadline.store import Store
from threadline.web.headers import POLICY
from threadline.web.resources.docs_page import SOURCE, value_kind, write_manual
from threadline.web.spa import Entry, SpaFiles

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(1)> `<b>` \"'"


def build(folder: Path, mark: str) -> SpaFiles:
    """Leave what a build leaves, as far as the page needs it."""
    made = {"file": f"assets/manual-{mark}.js", "css": [f"assets/manual-{mark}.css"]}
    (folder / "manifest.json").write_text(json.dumps({SOURCE: made}), encoding="utf-8")
    return SpaFiles(folder)


@on(FAST)
async def test_the_page_loads_what_was_built(store: Store, tmp_path: Path) -> None:
    """It has one script and one style, both of the newest build, under the policy of all pages."""
    async with browsing(make_site(store, screens=build(tmp_path, "A1"))) as browser:
        first = await browser.client.get("/api/docs")
        build(tmp_path, "B2")
        second = await browser.client.get("/api/docs")

    assert first.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert re.findall(r"<script.*?</script>", first.text, re.DOTALL) == [
        '<script type="module" src="/assets/manual-A1.js"></script>'
    ]
    assert {"/assets/manual-B2.js", "/assets/manual-B2.css"} <= Page(second.text).links
    for page in (Page(first.text), Page(second.text)):
        assert not page.tags & {"style", "iframe", "img", "form"}
        assert not page.styled
        assert all(link.startswith(("/api/", "/assets/", "/favicon", "#")) for link in page.links)


@on(FAST)
async def test_without_a_build_the_page_is_there_to_be_read(store: Store) -> None:
    """A checkout that was never built has the same operations, a plain style and no script."""
    async with browsing(make_site(store)) as browser:
        page = await browser.client.get("/api/docs")

    assert page.status_code == 200
    assert 'id="begin_session"' in page.text
    assert "/api/docs.css" in Page(page.text).links
    assert "script" not in Page(page.text).tags


@on(FAST)
async def test_every_body_has_an_example(store: Store) -> None:
    """Programs that read the description find one, and so does the form of the page."""
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
def test_hostile_words_stay_words(entry: Entry | None) -> None:
    """Whatever a description, a name or an example says, no tag of it becomes one of the page."""
    hostile = {"type": "string", "description": HOSTILE, "examples": [HOSTILE]}
    shape = {"type": "object", "properties": {HOSTILE: hostile}, "required": [HOSTILE]}
    content = {"application/json": {"schema": shape}}
    operation = {
        "operationId": HOSTILE,
        "tags": [HOSTILE],
        "summary": HOSTILE,
        "description": HOSTILE,
        "parameters": [{"name": HOSTILE, "in": "query", "schema": hostile}],
        "requestBody": {"content": content},
        "responses": {
            "200": {"description": HOSTILE, "content": content},
            "400": {"description": HOSTILE},
        },
    }
    info = {"title": HOSTILE, "description": HOSTILE}
    schema = {"info": info, "paths": {f"/{HOSTILE}": {"post": operation}}}

    text = "\n".join(write_manual(schema, entry))

    page = Page(text)
    assert "img" not in page.tags
    assert text.count("<script") == (1 if entry else 0)
    assert not page.styled
    assert "<code>&lt;b&gt;</code>" in text


@pytest.mark.parametrize(
    ("name", "called"),
    [("Page_SessionRow_", "Page of SessionRow"), ("Origin-Input", "Origin"), ("NewJob", "NewJob")],
)
def test_shapes_are_called_as_people_would(name: str, called: str) -> None:
    """What a program made of the names of two shapes is read as both of them."""
    schema = {"components": {"schemas": {name: {"type": "object"}}}}

    assert value_kind(schema, {"$ref": f"#/components/schemas/{name}"}) == called


def test_a_line_for_a_shell_is_quoted() -> None:
    """An example with an apostrophe does not end the quotes around it."""
    body = {"type": "object", "properties": {"text": {"examples": ["it's; rm"]}}}
    content = {"application/json": {"schema": body}}
    operation = {
        "operationId": "say",
        "requestBody": {"content": content},
        "responses": {"204": {"description": "said"}},
    }
    schema = {"info": {"title": "T", "description": ""}, "paths": {"/say": {"post": operation}}}

    text = "\n".join(write_manual(schema))

    assert "it&#x27;&quot;&#x27;&quot;&#x27;s; rm" in text
