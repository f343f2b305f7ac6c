"""A phone: one column, large targets, everything within reach."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.app_server import Place
from tests.browser.screen import Screen

REACH = 20
"""So far from its middle a finger still meets a button, in pixels."""
_SMALL = """(reach) => [...document.querySelectorAll("a, button, summary, input, select")]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }))
  .filter((element) => !element.closest("p, h1"))
  .filter((element) => {
    const { left, right, top, bottom, width, height } = element.getBoundingClientRect();
    if (Math.min(width, height) > 2 * reach) return false;
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const around = [[x - reach, y], [x + reach, y], [x, y - reach], [x, y + reach]];
    const seen = around.filter(([x, y]) => x > 0 && y > 0 && x < innerWidth && y < innerHeight);
    const isMissed = ([x, y]) => !element.contains(document.elementFromPoint(x, y));
    return top < bottom && seen.some(isMissed);
  })
  .map((element) => element.outerHTML.slice(0, 160))"""
_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def screen(place: Place) -> Iterator[Screen]:
    """Somebody with a phone."""
    with place.screen(is_phone=True) as screen:
        yield screen


def test_one_column_with_a_way_back(screen: Screen) -> None:
    """The list leads to a conversation, which leads back; nothing is wider than the screen."""
    page = screen.page
    expect(screen.sidebar).to_be_visible()
    page.get_by_role("button", name="New conversation").click()
    expect(screen.sidebar).to_have_count(0)

    screen.composer.fill("Hello from the train")
    page.get_by_role("button", name="Send").tap()
    screen.sees("I heard: Hello from the train")
    screen.keep("phone-conversation")
    assert page.evaluate(_WIDE) == 0
    assert "\n".join(page.evaluate(_SMALL, REACH)) == ""

    page.get_by_role("button", name="Back to all conversations").tap()
    expect(screen.sidebar).to_be_visible()
    screen.keep("phone-list")
    assert page.evaluate(_WIDE) == 0
    assert "\n".join(page.evaluate(_SMALL, REACH)) == ""


@pytest.mark.parametrize("path", ["settings", "people", "platforms", "jobs", "spend", "welcome"])
def test_pages_fit(screen: Screen, path: str) -> None:
    """No page has to be moved sideways."""
    page = screen.go(f"/{path}")

    expect(page.get_by_role("heading", level=1)).to_be_visible()
    screen.keep(f"phone-{path}")
    assert page.evaluate(_WIDE) == 0
