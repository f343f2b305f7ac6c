"""Everybody can use it: no page has anything that axe finds wrong, by day or by night."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.app_server import SETTINGS, Place
from tests.browser.axe import violations
from tests.browser.screen import Screen
from tests.browser.webhook_shop import Shop

PAGES = {
    "": "Where is my parcel?",
    "?new": "Ready when you are",
    "settings": "Where you are logged in",
    "settings/agent": "agent.model",
    "people": "Ann",
    "platforms": "Everything arrived.",
    "jobs": "What should I water?",
    "jobs/1": "It has not run yet.",
    "spend": "No caps.",
    "projects": "Garden",
    "shares": "Copy link",
    "welcome": "Whoever has it controls the bot.",
    "gallery": "It needs you",
}
"""Each page, and what stands there once it has been read."""
RICH = """# A heading

A [link](https://example.org), `code`, a formula $a^2$ and a list:

- [x] done
- [ ] open

| a | b |
|---|---|
| 1 | 2 |

```python
print("hello")
```

> מילים בעברית, كلمات, 汉字 and 🙂
"""


@pytest.fixture(scope="module")
def place(folder: Path, chromium: Browser) -> Iterator[Place]:
    """A server with something on every page."""
    with Shop() as shop, Place(folder, chromium, SETTINGS + shop.settings) as place:
        place.start()
        shop.says(place.url, "Where is my parcel?")
        shop.hears()
        with place.screen() as screen:
            _furnish(screen)
        yield place


@pytest.mark.parametrize("is_phone", [False, True], ids=["desktop", "phone"])
@pytest.mark.parametrize("path", PAGES)
def test_pages_are_accessible(place: Place, path: str, is_phone: bool) -> None:
    """Landmarks, names, contrast and order are right on every page."""
    with place.screen(is_phone=is_phone, path=f"/{path}") as screen:
        expect(screen.page.get_by_text(PAGES[path]).locator("visible=true").first).to_be_visible()
        expect(screen.page.locator("main[aria-busy=true]")).to_have_count(0)
        name = path.strip("?").replace("/", "-") or "home"
        _check(screen, f"page-{name}{'-phone' if is_phone else ''}")


def test_a_conversation_is_accessible(screen: Screen) -> None:
    """So is a conversation with everything in it, its details, its menus and its questions."""
    page = screen.begin(f"work {RICH}")
    screen.sees("It says:")
    page.locator("details > summary").last.click()
    screen.say("ask tidy up")
    expect(page.get_by_role("region", name="The agent asks")).to_be_visible()
    page.get_by_role("button", name="Show details").click()
    _check(screen, "conversation-rich")

    page.get_by_role("button", name="More for this conversation").click()
    assert violations(page) == []
    page.get_by_role("menuitem", name="Share").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []


def test_the_door_is_accessible(place: Place) -> None:
    """Whoever is not logged in sees a door that says how to get in."""
    with place.screen(is_known=False) as screen:
        expect(screen.page.get_by_role("heading", name="Log in")).to_be_visible()
        _check(screen, "door")


def _furnish(screen: Screen) -> None:
    """Make one of everything that a page can list."""
    (row,) = screen.context.request.get(f"{screen.url}/api/sessions").json()["items"]
    screen.call("POST", "/api/shares", {"session": row["session"]["id"]})
    screen.call("POST", "/api/projects", {"name": "Garden"})
    wish = {"prompt": "What should I water?", "schedule": "every day 9:00"}
    screen.call("POST", "/api/jobs", wish)


def _check(screen: Screen, name: str) -> None:
    screen.keep(name)
    for scheme in ("light", "dark"):
        screen.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(screen.page) == [], scheme
