"""Somebody looks for what was said, and arrives at it."""

import re

from playwright.sync_api import expect

from tests.browser.screen import Screen

FILL = "\n\n".join(f"Line {number} of what is beside the point." for number in range(30))


def test_a_hit_opens_where_it_was_said(screen: Screen) -> None:
    """Words are found while they are typed; a hit opens the conversation at them, also twice."""
    screen.begin("The heron stands in the reeds")
    screen.sees("I heard: The heron")
    for number in range(6):
        screen.say(f"{number}: {FILL}")
        screen.sees(f"I heard: {number}:")
    page = screen.go("/?new")

    page.get_by_role("textbox", name="Search").press_sequentially("heron ree")
    found = screen.sidebar.get_by_role("region", name="Messages").get_by_role("link")
    expect(found.first).to_contain_text("heron")
    screen.keep("search")
    found.last.click()

    page.wait_for_url(re.compile(r"#m\d+$"))
    line = screen.transcript.get_by_text("The heron stands in the reeds", exact=True)
    expect(line).to_be_in_viewport()
    screen.keep("search-opened")

    screen.transcript.press("End")
    expect(line).not_to_be_in_viewport()
    found.last.click()
    expect(line).to_be_in_viewport()


def test_the_palette_leads_anywhere(screen: Screen) -> None:
    """One key opens one list of conversations, commands and places."""
    screen.begin("A talk about lighthouses")
    screen.sees("I heard: A talk")
    page = screen.go("/?new")

    expect(screen.sidebar).to_be_visible()
    page.keyboard.press("Control+k")
    field = page.get_by_role("dialog").get_by_role("combobox")
    field.press_sequentially("lighthou")
    expect(page.get_by_role("option").filter(has_text="lighthou").first).to_be_visible()
    screen.keep("palette")
    field.press("Enter")

    screen.sees("I heard: A talk about lighthouses")


def test_nothing_found_is_said(screen: Screen) -> None:
    """Words that nobody said find nothing, and it is told."""
    screen.page.get_by_role("textbox", name="Search").press_sequentially("xyzzyplugh")

    expect(screen.sidebar.get_by_text("Nothing found")).to_be_visible()
