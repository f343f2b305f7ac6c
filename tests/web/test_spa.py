"""The web app as it is served: every place is the same page, and runs nothing but itself."""

import json
import re
from collections.abc import AsyncIterator
from gzip import compress
from pathlib import Path

import pytest
from starlette.applications import Starlette

from tests.architecture.source import ROOT
from tests.web.browser import Browser, browsing
from threadline.web.spa import PLACES, Entry, SpaFiles

SCRIPT = "run()"


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    """Somebody before a small build."""
    (tmp_path / "assets").mkdir()
    for name in ("index.html", "diagram.html", "favicon.svg"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / "assets" / "index-B1.js").write_text(SCRIPT, encoding="utf-8")
    (tmp_path / "assets" / "index-B1.js.gz").write_bytes(compress(SCRIPT.encode()))
    async with browsing(Starlette(routes=SpaFiles(tmp_path).routes())) as browser:
        yield browser


@pytest.mark.parametrize("place", PLACES)
async def test_every_place_is_the_app(browser: Browser, place: str) -> None:
    """A link to any place of the app opens it; a browser asks each time whether it is newer."""
    page = await browser.client.get(re.sub(r"\{\w+(:path)?\}", "there", place))

    assert (page.status_code, page.text) == (200, "index.html")
    assert page.headers["cache-control"] == "no-cache"


async def test_the_app_runs_nothing_but_itself(browser: Browser) -> None:
    """The policy of the page allows scripts and requests to this server alone."""
    page = await browser.client.get("/")

    policy = dict(
        rule.strip().split(" ", 1) for rule in page.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert (policy["script-src"], policy["connect-src"]) == ("'self'", "'self'")
    assert "unsafe" not in policy["style-src"]


async def test_a_diagram_is_drawn_in_a_box(browser: Browser) -> None:
    """What draws diagrams has no origin, can ask for nothing, and is framed by us alone."""
    page = await browser.client.get("/diagram.html")

    policy = page.headers["content-security-policy"]
    assert "sandbox allow-scripts" in policy
    assert "connect-src" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy


@pytest.mark.parametrize(("takes", "encoding"), [("gzip, br", "gzip"), ("br", None)])
async def test_a_script_is_sent_small(browser: Browser, takes: str, encoding: str | None) -> None:
    """The compressed copy goes to those who take it, the same words to all, and for good."""
    script = await browser.client.get("/assets/index-B1.js", headers={"Accept-Encoding": takes})

    assert script.text == SCRIPT
    assert script.headers.get("content-encoding") == encoding
    assert script.headers["content-type"].startswith("text/javascript")
    assert "immutable" in script.headers["cache-control"]
    assert script.headers["vary"] == "Accept-Encoding"


def test_without_a_build_there_is_no_app(tmp_path: Path) -> None:
    """A checkout that was never built serves everything else."""
    screens = SpaFiles(tmp_path)

    assert not screens.is_there
    assert screens.routes() == ()


def test_a_page_of_the_server_finds_what_was_built_for_it(tmp_path: Path) -> None:
    """By its source, whatever the build called it; what was never built is not there."""
    screens = SpaFiles(tmp_path)
    assert screens.entry("src/a.ts") is None

    made = {"src/a.ts": {"file": "assets/a-1.js", "css": ["assets/a-2.css"]}}
    (tmp_path / "manifest.json").write_text(json.dumps(made), encoding="utf-8")

    assert screens.entry("src/a.ts") == Entry(script="/assets/a-1.js", styles=("/assets/a-2.css",))
    assert screens.entry("src/b.ts") is None


def test_the_server_knows_the_places_of_the_app() -> None:
    """Whatever the app makes a place of is also served when it is loaded there."""
    source = (ROOT / "ui" / "src" / "state" / "router.svelte.ts").read_text(encoding="utf-8")
    found = re.search(r"const PAGES = \[(.*?)\]", source, re.DOTALL)

    assert found is not None
    assert {f"/{page}" for page in re.findall(r'"(\w+)"', found[1])} <= set(PLACES)
