"""Several tabs agree, also on who is logged in; a screen comes back after a crash."""

import re
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.agent import END, STORY
from tests.browser.app_server import Place
from tests.browser.screen import Screen

PASSWORD = "a thread, a needle"
"""Of the owner."""


def test_two_tabs_agree(screen: Screen) -> None:
    """What is said, renamed and stopped in one tab is seen in the other."""
    page = screen.begin("hang on")
    other = screen.open()
    other.goto(page.url)
    there = other.get_by_role("region", name="Conversation", exact=True)
    expect(there.get_by_text(STORY)).to_be_visible()

    other.get_by_role("button", name="Stop").click()
    screen.sees("This answer was stopped.")
    screen.say("Are you there?")
    expect(there.get_by_text("I heard: Are you there?")).to_be_visible()
    other.get_by_role("heading", level=1).get_by_role("button").click()
    other.get_by_role("textbox", name="Title").fill("Both of us")
    other.get_by_role("textbox", name="Title").press("Enter")

    expect(page.get_by_role("heading", level=1, name="Both of us")).to_be_visible()
    expect(screen.sidebar.get_by_role("link").filter(has_text="Both of us")).to_be_visible()
    screen.keep("tabs")


def test_a_screen_comes_back_after_a_crash(folder: Path, chromium: Browser) -> None:
    """The server is killed in the midst of an answer: words wait, and nothing is lost."""
    (folder / "crash").mkdir()
    with Place(folder / "crash", chromium) as place:
        place.start()
        with place.screen() as screen:
            page = screen.begin("hang on")
            screen.sees(STORY)

            place.kill()
            away = page.get_by_text("Reconnecting. You can keep writing.")
            expect(away).to_be_visible()
            screen.say("I write on")
            screen.sees("I write on")
            screen.keep("away")
            place.start()

            expect(away).to_have_count(0, timeout=30_000)
            expect(screen.transcript.get_by_text(END)).to_be_visible(timeout=30_000)
            screen.sees("I heard: I write on")
            expect(screen.transcript.get_by_text("I write on", exact=True)).to_have_count(1)


def test_a_second_login_in_the_same_browser_takes_the_old_tabs_along(place: Place) -> None:
    """Once the printed link was opened again, all that an open tab changed was refused."""
    with place.screen(is_known=False) as screen:
        screen.expected = {401, 403}
        screen.page.goto(_link(place))
        page = screen.begin("in the first login")
        screen.sees("I heard: in the first login")

        other = screen.open()
        # The feed of the first login is ended, and goes on in the second one.
        with page.expect_request("**/api/feed*"):
            other.goto(_link(place))
        screen.say("in the second login")

        screen.sees("I heard: in the second login")


def test_nothing_is_left_for_the_next_one(place: Place) -> None:
    """Whoever logs in after somebody else finds neither their search nor what it had found."""
    _set_password(place)
    with place.screen(is_known=False) as screen:
        page = screen.page
        _enter(page)
        screen.begin("A secret of mine")
        screen.sees("I heard: A secret")
        page.get_by_role("textbox", name="Search").press_sequentially("secret")
        expect(screen.sidebar.get_by_role("region", name="Messages")).to_be_visible()

        page.get_by_role("button", name="Account and settings").click()
        page.get_by_role("menuitem", name="Log out").click()
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
        expect(page).to_have_title("Threadline")
        # The keys of the app do nothing at the door.
        page.locator("main").click(position={"x": 5, "y": 5})
        page.keyboard.press("Control+k")
        _enter(page)

        expect(page.get_by_role("textbox", name="Search")).to_have_value("")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(page).to_have_url(re.compile(r"/$"))


def _set_password(place: Place) -> None:
    with place.screen() as screen:
        asking = screen.context.request
        csrf = asking.get(f"{place.url}/api/me").json()["csrf"]
        headers = {"X-CSRF-Token": csrf}
        done = asking.put(f"{place.url}/api/me/password", headers=headers, data={"new": PASSWORD})
        assert done.ok, done.text()


def _enter(page: Page) -> None:
    page.get_by_role("textbox", name="Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("navigation", name="Conversations")).to_be_visible()


def _link(place: Place) -> str:
    """Make another link that logs the owner in."""
    with place.screen() as screen:
        key = screen.context.request.get(f"{place.url}/api/me").json()["account"]["key"]
        made = screen.call("POST", f"/api/accounts/{key}/link")
    return str(made["link"])
