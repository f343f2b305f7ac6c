"""Several tabs agree, and a screen comes back after the server was killed."""

from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.browser.actor import END, STORY
from tests.browser.place import Place
from tests.browser.screen import Screen


def test_two_tabs_agree(screen: Screen) -> None:
    """What is said, renamed and stopped in one tab is seen in the other."""
    screen.expected = {412}  # Whoever renames may have seen an older revision, and looks again.
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
            away = page.get_by_text("Reconnecting. You can go on writing.")
            expect(away).to_be_visible()
            screen.say("I write on")
            screen.sees("I write on")
            screen.keep("away")
            place.start()

            expect(away).to_have_count(0, timeout=30_000)
            expect(screen.transcript.get_by_text(END)).to_be_visible(timeout=30_000)
            screen.sees("I heard: I write on")
            expect(screen.transcript.get_by_text("I write on", exact=True)).to_have_count(1)
