"""What stays while one reads: what was opened, what waits, and what could not be sent."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Route, expect

from tests.browser.agent import STORY
from tests.browser.app_server import Place
from tests.browser.screen import Screen

LINES = 4
"""Lines of a turn in which a tool is used."""
PAGE = 60
"""Lines that are read at once."""


def test_what_was_opened_stays_so(screen: Screen) -> None:
    """A row may leave the page as an answer grows; what was opened or written in it does not."""
    page = screen.begin("work the cat sat")
    screen.sees("It says: the cat sat")
    card = page.locator("details").filter(has_text="read_file")
    card.locator("summary").click()
    own = screen.transcript.locator("li").filter(has_text="work the cat sat")
    own.hover()
    own.get_by_role("button", name="Edit").click()
    words = page.get_by_role("textbox", name="Your message")
    words.fill("work the dog sat")

    screen.call("POST", _messages(screen), {"text": "pour 100 2"})
    screen.sees("Line 99 ")
    expect(own).to_have_count(0)

    expect(words).to_have_value("work the dog sat")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Discard").click()
    screen.transcript.focus()
    page.keyboard.press("Home")
    expect(card.get_by_text("Output")).to_be_visible()


def test_words_that_wait_are_changed_line_by_line(screen: Screen) -> None:
    """Escape leaves them, Enter keeps them once, and what comes too late is not lost."""
    page = screen.begin("hang on")
    screen.sees(STORY)
    screen.composer.fill("first\nsecond")
    screen.composer.press("Enter")
    waiting = page.get_by_role("region", name="Waiting")
    words = waiting.get_by_role("textbox")
    change = waiting.get_by_role("button", name=re.compile("^Edit"))
    kept: list[str] = []
    page.on(
        "request", lambda request: kept.append(request.method) if "/queue/" in request.url else None
    )

    change.click()
    expect(words).to_have_value("first\nsecond")
    words.fill("other words")
    words.press("Escape")
    expect(waiting.get_by_text("first")).to_be_visible()
    change.click()
    words.press("ControlOrMeta+End")
    words.press_sequentially("!")
    words.press("Enter")
    expect(waiting.get_by_text("second!")).to_be_visible()
    assert kept == ["PUT"]
    change.click()
    words.press("ControlOrMeta+End")
    words.press_sequentially("?")
    late: list[Route] = []
    page.route("**/queue/*", lambda route: late.extend([route]))
    screen.expected = {404, 409}
    screen.call("POST", f"{_session(screen)}/stop")

    screen.sees("I heard: first")
    for route in late:
        route.continue_()
    expect(screen.composer).to_have_value("first\nsecond!?")


def test_a_gap_can_be_retried_whatever_comes_after_it(screen: Screen) -> None:
    """A branch that leaves after an answer that broke off does not take its retry away."""
    page = screen.begin("hang on")
    screen.sees(STORY)
    page.get_by_role("button", name="Stop").click()
    screen.sees("This answer was stopped.")
    lines = screen.call("GET", _messages(screen))["items"]

    screen.call("POST", f"{_messages(screen)}/{lines[-1]['seq']}/branches", {})

    screen.sees("A branch starts here")
    retry = screen.transcript.get_by_role("button").filter(has_text="Retry")
    expect(retry).to_be_visible()


def test_what_cannot_be_sent_is_seen_everywhere(screen: Screen) -> None:
    """Whoever reads in the middle while the server is away sees what they wrote."""
    page = screen.begin("work 0")
    turns = PAGE // 2 // LINES + 2
    for turn in range(1, turns):
        screen.call("POST", _messages(screen), {"text": f"work {turn}"})
    screen.sees(f"It says: {turns - 1}")
    path = urlsplit(page.url).path
    later = re.compile(r"/messages\?.*after=")
    page.route(later, lambda route: route.abort())
    screen.go()
    screen.go(f"{path}#m1")
    screen.sees("work 0")
    written = page.get_by_role("list", name="Just written")

    screen.context.set_offline(True)
    screen.say("hear me")
    expect(written).to_contain_text("hear me")
    expect(written).to_contain_text("Not sent yet.")
    screen.keep("unsent")
    page.unroute(later)
    screen.context.set_offline(False)

    expect(written).to_have_count(0)
    screen.transcript.focus()
    page.keyboard.press("End")
    screen.sees("I heard: hear me")


def test_the_details_give_the_focus_back(place: Place) -> None:
    """Where they lie over the conversation, closing them leads back to their button."""
    with place.screen(is_phone=True) as screen:
        page = screen.go("/?new")
        screen.composer.fill("hello")
        page.get_by_role("button", name="Send").click()
        page.wait_for_url("**/c/*")
        page.get_by_role("button", name="Show details").click()
        over = page.get_by_role("dialog", name="Details")
        over.get_by_role("button", name="Close details").click()
        expect(page.get_by_role("button", name="Show details")).to_be_focused()


def _session(screen: Screen) -> str:
    """The address of the open conversation, for programs."""
    return f"/api/sessions/{screen.page.url.split('/c/')[1].split('#')[0]}"


def _messages(screen: Screen) -> str:
    return f"{_session(screen)}/messages"
