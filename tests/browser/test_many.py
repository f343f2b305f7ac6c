"""100,000 conversations feel like 10, and a conversation of 100,000 messages like a short one."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from playwright.sync_api import Browser, Page, expect

from bench.browser import heap
from tests.browser.app_server import SETTINGS, Place
from tests.browser.many_sessions import MANY, long_session, make_crowd
from tests.browser.screen import Screen

MOUNTED = 60
"""Lines or rows that are in the page, of however many."""
ELEMENTS = 2_000
"""Elements of the page, without what is said in messages."""
MEGABYTE = 1_000_000
_ELEMENTS = """() => document.querySelectorAll("*").length
  - document.querySelectorAll(".markdown *").length"""


@pytest.fixture(scope="module")
def place(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, chromium: Browser
) -> Iterator[Place]:
    """A server with a crowd; the workers of a run share what it takes to make it."""
    crowd = make_crowd(tmp_path_factory.getbasetemp().parent / "crowd")
    shutil.copy(crowd, folder / "threadline.db")
    _call_it_indexed(folder / "threadline.db")
    with Place(folder, chromium, f'database = "{folder}/threadline.db"\n{SETTINGS}') as place:
        place.start()
        yield place


def _call_it_indexed(path: Path) -> None:
    """Nobody searches here: let the server not index a crowd beside all that it is asked."""
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE sessions SET indexed_seq = last_seq, indexed_title = title")
    connection.close()


def test_the_list_stays_small(screen: Screen) -> None:
    """However far one scrolls, only the rows around what is seen are there."""
    page = screen.page
    rows = screen.sidebar.get_by_role("listitem")
    expect(rows.first).to_be_visible()
    for _ in range(15):
        rows.last.scroll_into_view_if_needed()
        assert rows.count() <= MOUNTED
    assert page.evaluate(_ELEMENTS) < ELEMENTS

    rows.nth(rows.count() // 2).get_by_role("link").click()

    expect(screen.composer).to_be_visible()
    expect(screen.transcript.get_by_role("listitem").last).to_be_visible()
    screen.keep("many-sessions")


def test_a_page_that_cannot_be_read_is_told(screen: Screen) -> None:
    """Else the list would seem to end there."""
    screen.expected = {500}
    page = screen.page
    rows = screen.sidebar.get_by_role("listitem")
    expect(rows.first).to_be_visible()
    page.route("**/api/sessions?*after=*", lambda route: route.fulfill(status=500, json={}))
    bottom = "list => list.scrollTo(0, list.scrollHeight)"
    screen.sidebar.locator(".list").evaluate(bottom)
    told = screen.sidebar.get_by_text("The list could not be loaded")
    expect(told).to_be_visible()

    page.unroute("**/api/sessions?*after=*")
    screen.sidebar.get_by_role("button", name="Try again").click()
    expect(told).to_have_count(0)


def test_new_words_come_first(screen: Screen) -> None:
    """What is said now stands at the top of 100,000."""
    screen.begin("I am the newest")
    screen.sees("I heard: I am the newest")

    first = screen.sidebar.get_by_role("listitem").first
    expect(first).to_contain_text("I am the newest")


_SETTLE = """(scroller) => new Promise((resolve) => {
  let [last, still] = [scroller.scrollTop, 0];
  const look = () => {
    still = scroller.scrollTop === last ? still + 1 : 0;
    last = scroller.scrollTop;
    if (still < 10) requestAnimationFrame(look);
    else resolve();
  };
  requestAnimationFrame(look);
})"""
"""A browser animates its scrolling by keys, also after a jump to another line."""


def test_a_long_conversation_is_walked_through(place: Place, screen: Screen) -> None:
    """It opens at its end, jumps to its beginning and back; page and memory stay small."""
    page = screen.go(f"/c/{long_session(place.folder / 'threadline.db')}")
    _sees_line(page, MANY)
    _is_small(page)
    before = heap(page)

    screen.transcript.focus()
    page.keyboard.press("Home")
    _sees_line(page, 1)
    for _ in range(20):
        page.keyboard.press("PageDown")
        _is_small(page)
    page.keyboard.press("End")
    _sees_line(page, MANY)
    for _ in range(20):
        page.keyboard.press("PageUp")
        _is_small(page)
    screen.transcript.evaluate(_SETTLE)
    for share in (0.1, 0.9, 0.3, 0.7, 0.5):
        page.evaluate("hash => (location.hash = hash)", f"#m{round(MANY * share)}")
        _sees_line(page, round(MANY * share))
        _is_small(page)
    screen.keep("many-messages")

    assert heap(page) - before < 10 * MEGABYTE


def test_a_long_answer_leaves_nothing_behind(screen: Screen) -> None:
    """Text that streams for long is kept once: a second answer takes no more than the first."""
    page = screen.begin("pour 400 5")
    screen.sees("Line 399 of")
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    before = heap(page)

    for number in range(2):
        screen.say("pour 400 5")
        screen.sees("Line 399 of")
        screen.say(f"So that was the {number}th")
        screen.sees(f"I heard: So that was the {number}th")

    assert heap(page) - before < 10 * MEGABYTE


def _sees_line(page: Page, seq: int) -> None:
    node = page.get_by_role("button", name=f"line {seq}: copy link")
    expect(node).to_be_in_viewport()


def _is_small(page: Page) -> None:
    assert page.locator("li[data-key]").count() <= MOUNTED
    assert page.evaluate(_ELEMENTS) < ELEMENTS
