"""A conversation is read: what was summarised, what is new below, and where words were found."""

import re

from playwright.sync_api import Page, expect

from tests.browser.screen import Screen


def test_what_was_compacted_is_shown_and_restored(screen: Screen) -> None:
    """The agent reads a summary; a person still finds every line, and can let the agent, too."""
    page = _converse(screen, "round", 8, "I heard:")
    first = screen.transcript.get_by_text("I heard: round 0", exact=True)
    screen.choose(page.get_by_role("button", name="More for this conversation"), "Compact")
    page.get_by_role("dialog").get_by_role("button", name="Compact").click()

    divider = screen.transcript.get_by_text("are summarised for the agent")
    expect(divider).to_be_visible()
    expect(first).to_have_count(0)
    screen.keep("compacted")
    screen.transcript.get_by_role("button", name="Show them").click()
    expect(first).to_be_visible()
    screen.transcript.get_by_role("button", name="Restore").click()

    expect(divider).to_have_count(0)
    expect(first).to_be_visible()


def test_an_answer_that_grows_moves_nobody(screen: Screen) -> None:
    """Whoever is at the end stays there; whoever reads further up is told of what is new below."""
    page = screen.begin("pour 60 2")
    last = screen.transcript.get_by_text("Line 59 ")
    expect(last).to_be_in_viewport()
    screen.transcript.focus()
    page.keyboard.press("Home")
    asked = screen.transcript.get_by_text("pour 60 2", exact=True)
    expect(asked.first).to_be_in_viewport()

    screen.call("POST", _messages(screen), {"text": "pour 60 2"})

    pill = page.get_by_role("button", name=re.compile("new below"))
    expect(pill).to_be_visible()
    expect(asked.first).to_be_in_viewport()
    screen.keep("new-below")
    pill.click()
    expect(last.last).to_be_in_viewport()
    expect(pill).to_have_count(0)


def test_hits_are_seen_in_the_overview(screen: Screen) -> None:
    """Whoever opens a long conversation at a hit sees at its edge where else the words are."""
    page = _converse(screen, "work pelican", 52, "It says:")
    screen.go("/?new")
    page.get_by_role("textbox", name="Search").fill("pelican")
    found = screen.sidebar.get_by_role("region", name="Messages")
    found.get_by_role("link").first.click()

    overview = page.get_by_role("slider", name="Overview")
    expect(overview.locator(".hit").first).to_be_attached()
    screen.keep("overview")
    overview.press("Home")
    expect(screen.transcript.get_by_text("work pelican 0", exact=True)).to_be_in_viewport()
    overview.press("End")
    expect(screen.transcript.get_by_text("It says: pelican 51")).to_be_in_viewport()


def _converse(screen: Screen, words: str, rounds: int, answer: str) -> Page:
    """Say so many things, and wait for the last answer."""
    page = screen.begin(f"{words} 0")
    for number in range(1, rounds):
        screen.call("POST", _messages(screen), {"text": f"{words} {number}"})
    screen.sees(f"{answer} {words.removeprefix('work ')} {rounds - 1}")
    return page


def _messages(screen: Screen) -> str:
    return f"/api/sessions/{screen.page.url.split('/c/')[1]}/messages"
