"""What somebody writes is never lost, said twice, or said somewhere else."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Route, expect

from tests.browser.app_server import Place
from tests.browser.screen import PHONE, Screen


def test_the_field_outlasts_the_first_words(screen: Screen) -> None:
    """Whoever goes on writing while a conversation begins goes on in it, with the same field."""
    page = screen.go("/?new")
    held: list[Route] = []
    page.route("**/api/sessions", lambda route: _hold(route, held, "POST"))
    screen.say("first")
    screen.sees("first")
    page.keyboard.type("and thn")
    page.keyboard.press("ArrowLeft")

    _let_go(screen, held)
    page.wait_for_url(re.compile(r"/c/"))
    screen.sees("I heard: first")

    expect(screen.composer).to_be_focused()
    page.keyboard.type("e")
    expect(screen.composer).to_have_value("and then")
    screen.composer.press("Enter")
    screen.sees("I heard: and then")
    expect(screen.transcript.get_by_text("first", exact=True)).to_have_count(1)


def test_who_goes_back_at_once_is_not_brought_along(place: Place) -> None:
    """Back on a phone before a conversation is there: the list stays, and it can be opened."""
    with place.screen(is_phone=True, path="/") as screen:
        page = screen.page
        page.get_by_role("button", name="New conversation").click()
        held: list[Route] = []
        page.route("**/api/sessions", lambda route: _hold(route, held, "POST"))
        # On a phone Enter begins a line.
        screen.composer.fill("tell me more")
        page.get_by_role("button", name="Send").tap()
        screen.sees("tell me more")
        page.go_back()
        _let_go(screen, held)

        row = screen.sidebar.get_by_role("link").filter(has_text="tell me more")
        expect(row).to_be_visible()
        assert urlsplit(page.url).path == "/"
        row.click()
        expect(screen.transcript.get_by_text("me more", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def test_a_command_is_given_once(screen: Screen) -> None:
    """Enter twice before it is known which commands there are takes back one turn, not two."""
    page = screen.begin("one")
    screen.sees("I heard: one")
    screen.say("two")
    screen.sees("I heard: two")
    held: list[Route] = []
    page.route("**/api/commands", lambda route: _hold(route, held, "GET"))

    screen.composer.fill("/undo")
    screen.composer.press("Enter")
    screen.composer.press("Enter")
    _let_go(screen, held)

    expect(screen.transcript.get_by_text("I heard: two")).to_have_count(0)
    screen.sees("I heard: one")
    # What was taken back is offered to be said differently.
    expect(screen.composer).to_have_value("two")


def test_what_was_not_sent_outlasts_the_page(screen: Screen) -> None:
    """Words that could not be sent are sent by the next page, once, and are not in the field."""
    page = screen.begin("one")
    screen.sees("I heard: one")
    page.route("**/messages", lambda route: _cut(route, "POST"))
    screen.say("Are you there?")
    screen.sees("Are you there?", "Not sent yet.")

    page.unroute("**/messages")
    page.reload()

    screen.sees("I heard: Are you there?")
    expect(screen.transcript.get_by_text("Are you there?", exact=True)).to_have_count(1)
    expect(screen.composer).to_have_value("")


def test_somebody_who_was_away_is_offered_a_summary(screen: Screen) -> None:
    """After ten rounds it is told how much was said; the first of it and a summary are at hand."""
    path = urlsplit(screen.begin("round 0").url).path
    id = path.removeprefix("/c/")
    screen.sees("I heard: round 0")
    for number in range(1, 12):
        screen.call("POST", f"/api/sessions/{id}/messages", {"text": f"round {number}"})
    screen.sees("I heard: round 11")
    page = screen.go("/?new")
    screen.call("DELETE", f"/api/sessions/{id}/mark?seq=3")
    screen.go(path)

    news = page.get_by_text("11 questions have been answered here since you last looked.")
    expect(news).to_be_visible()
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    screen.keep("news")
    page.get_by_role("button", name="Sum it up").click()

    expect(screen.composer).to_have_value(re.compile("^Sum up what was said here since"))
    expect(news).to_have_count(0)


def _hold(route: Route, held: list[Route], method: str) -> None:
    if route.request.method == method:
        held.append(route)
    else:
        route.continue_()


def _let_go(screen: Screen, held: list[Route]) -> None:
    while not held:
        screen.page.wait_for_timeout(10)
    for route in held:
        route.continue_()


def _cut(route: Route, method: str) -> None:
    if route.request.method == method:
        route.abort()
    else:
        route.continue_()
