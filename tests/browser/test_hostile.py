"""Texts that try to run something or to ask another host: nothing runs, and no request leaves."""

import json
import subprocess

import pytest
from playwright.sync_api import expect

from tests.browser.app_server import SETTINGS, Place
from tests.browser.chromium import UI
from tests.browser.screen import Screen
from tests.browser.webhook_shop import Shop

AT_ONCE = 8
_READ = """
import ts from "typescript";
import { readFileSync } from "node:fs";
const typed = readFileSync("src/markdown/xss_samples.ts", "utf8");
const source = ts.transpile(typed, { module: "esnext", target: "es2022" });
const { XSS_SAMPLES } = await import(`data:text/javascript,${encodeURIComponent(source)}`);
console.log(JSON.stringify(XSS_SAMPLES));
"""
_OPEN = """() => {
  const shut = document.querySelectorAll("details:not([open])");
  for (const one of shut) one.open = true;
  return shut.length === 0;
}"""


@pytest.fixture(scope="module")
def corpus() -> list[str]:
    """Everything that the app itself is tested with, and that could harm in a real browser."""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", _READ], cwd=UI, capture_output=True, check=True
    )
    texts: list[str] = json.loads(done.stdout)
    assert len(texts) > 100
    # The server itself refuses what no text can have.
    return [text.replace("\0", "\ufffd") for text in texts]


@pytest.fixture(scope="module")
def settings(shop: Shop) -> str:
    """The shop is connected."""
    return SETTINGS + shop.settings


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server that such names are let into."""
    return own


def test_words_thoughts_and_tools_harm_nobody(screen: Screen, corpus: list[str]) -> None:
    """Each text is said by a person, thought by the agent, answered by a tool, and is a title."""
    for start in range(0, len(corpus), AT_ONCE):
        texts = corpus[start : start + AT_ONCE]
        begun = screen.call(
            "POST", "/api/sessions", {"text": f"work {texts[0]}", "title": texts[0]}
        )
        where = begun["session_id"]
        for text in texts[1:]:
            screen.call("POST", f"/api/sessions/{where}/messages", {"text": f"work {text}"})
        screen.call("POST", f"/api/sessions/{where}/messages", {"text": "the last one"})
        screen.go(f"/c/{where}")
        screen.sees("I heard: the last one")
        _open(screen)
        _is_unharmed(screen)
    screen.keep("hostile")


def test_names_harm_nobody(place: Place, shop: Shop, screen: Screen, corpus: list[str]) -> None:
    """Nor do the names of people, of conversations, and of files."""
    for number, text in enumerate(corpus[::10]):
        name = text.replace("\n", " ")[:60]
        shop.says(place.url, f"hello {number}", name=name, session="everybody")
        shop.hears()
    kept = screen.upload('"><img src=x onerror=window.ran=1>.txt', "text/plain", b"eggs")
    begun = screen.call("POST", "/api/sessions", {"text": "look", "attachments": [kept["ticket"]]})
    screen.go(f"/c/{begun['session_id']}")
    screen.sees("I heard: look")
    _is_unharmed(screen)

    screen.go("/")
    screen.sidebar.get_by_role("link").filter(has_text="hello").first.click()
    screen.sees("I heard: hello")
    screen.page.get_by_role("button", name="Show details").click()
    _is_unharmed(screen)
    screen.go("/people")
    expect(screen.page.get_by_role("heading").first).to_be_visible()
    _is_unharmed(screen)


def _open(screen: Screen) -> None:
    """Open everything that is folded."""
    screen.page.wait_for_function(_OPEN)


def _is_unharmed(screen: Screen) -> None:
    page = screen.page
    assert page.evaluate("window.ran") is None
    assert (
        page.evaluate(
            "document.querySelectorAll('iframe[srcdoc], object, embed, form[action]').length"
        )
        == 0
    )
    assert screen.faults == []
