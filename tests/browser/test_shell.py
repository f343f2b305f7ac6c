"""The window itself: what opens over it, what is told in it, and what is done when it fails."""

import re

import pytest
from playwright.sync_api import Locator, Page, Response, Route, expect

from tests.browser.app_server import SETTINGS, Place
from tests.browser.screen import Screen

MANY = 40
DIAGRAM = "\n".join(["flowchart TD", *(f"  n{number}[Step {number}]" for number in range(60))])
"""Longer than what is shown of long code; its last steps are folded."""


@pytest.fixture(scope="module")
def settings() -> str:
    """There are two profiles."""
    return f"{SETTINGS}\n[profiles.family]\n"


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server with two profiles."""
    return own


def test_dialogs_give_the_focus_back(screen: Screen) -> None:
    """However a window was left, by ×, Cancel, Save or a choice, one goes on where one was."""
    page, row = _begin(screen, "A talk to rename")
    for leave in ("Close", "Cancel", "Save"):
        dialog = _rename(page, row)
        dialog.get_by_role("button", name=leave).click()
        expect(dialog).to_have_count(0)
        expect(row.get_by_role("link")).to_be_focused()

    screen.composer.focus()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").press_sequentially("Appearance: Light")
    expect(page.get_by_role("option").first).to_contain_text("Light")
    page.keyboard.press("Enter")
    expect(screen.composer).to_be_focused()


def test_a_slip_beside_a_window_loses_nothing(screen: Screen) -> None:
    """Only a press that begins and ends beside it closes it, and none once one has written."""
    page, row = _begin(screen, "A talk to keep")
    dialog = _rename(page, row)
    field = dialog.get_by_role("textbox", name="Title")
    box = field.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(20, 20)
    page.mouse.up()
    expect(field).to_be_visible()

    page.mouse.click(20, 20)
    expect(dialog).to_have_count(0)
    _rename(page, row)
    field.fill("Half written")
    page.mouse.click(20, 20)
    expect(field).to_have_value("Half written")

    page.keyboard.press("Escape")
    page.get_by_role("button", name="Keep writing").click()
    expect(field).to_be_focused()
    dialog.get_by_role("button", name="Close").click()
    expect(field).to_have_value("Half written")
    dialog.get_by_role("button", name="Discard").click()
    expect(dialog).to_have_count(0)


def test_what_fails_in_a_window_is_told_in_it(screen: Screen) -> None:
    """An error behind the window could be neither read nor put away."""
    screen.expected = {500}
    page, row = _begin(screen, "A talk that cannot be renamed")
    page.route(re.compile(r"/api/sessions/[^/]+$"), _break)
    dialog = _rename(page, row)
    dialog.get_by_role("textbox", name="Title").fill("Another name")
    dialog.get_by_role("button", name="Save").click()

    told = dialog.get_by_role("alert")
    expect(told).to_contain_text("It broke")
    screen.keep("notice-in-dialog")
    told.get_by_role("button", name="Close").click()
    expect(told).to_have_count(0)
    expect(dialog.get_by_role("textbox", name="Title")).to_have_value("Another name")


def test_a_search_that_fails_found_nothing_out(screen: Screen) -> None:
    """The palette says that it failed, not that nothing fits; and tries again."""
    screen.expected = {500}
    page = screen.begin("About kingfishers")
    screen.sees("I heard: About")
    page.route("**/api/search*", _break)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").press_sequentially("xyzzyplugh")

    palette = page.get_by_role("dialog")
    expect(palette.get_by_text("The search failed")).to_be_visible()
    expect(palette.get_by_text("No results.")).to_have_count(0)
    page.unroute("**/api/search*")
    palette.get_by_role("button", name="Try again").click()
    expect(palette.get_by_text("No results.")).to_be_visible()


def test_what_left_the_list_can_still_be_renamed(screen: Screen) -> None:
    """Save did nothing, without a word, once the row was archived elsewhere."""
    page, row = _begin(screen, "A talk to put away")
    dialog = _rename(page, row)
    where = page.url.rpartition("/")[2]
    screen.call("POST", "/api/batches", {"ids": [where], "action": "archive"})
    expect(row).to_have_count(0)
    dialog.get_by_role("textbox", name="Title").fill("Put away")
    dialog.get_by_role("button", name="Save").click()

    expect(dialog).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Put away")


def test_a_window_without_its_server_says_so(screen: Screen) -> None:
    """It was blank under a banner that bade one go on writing."""
    page = screen.page
    page.route("**/api/me", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("status", name="Loading")).to_be_visible()
    expect(page.get_by_text("The server is not responding.")).to_be_visible()

    page.unroute("**/api/me")
    expect(screen.sidebar).to_be_visible()


def test_a_part_that_does_not_come_is_told(screen: Screen) -> None:
    """A page of which something could not be loaded was blank for good."""
    page = screen.page
    expect(screen.sidebar).to_be_visible()
    page.route("**/assets/Pages-*.js", lambda route: route.abort())
    page.get_by_role("button", name="Account and settings").click()
    # The page itself is loaded anew once, in case there is a newer one.
    with page.expect_event("domcontentloaded"):
        page.get_by_role("menuitem", name="Settings").click()
    expect(page.get_by_text("This part of the app could not be loaded.")).to_be_visible()

    page.unroute("**/assets/Pages-*.js")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("heading", level=1, name="Settings")).to_be_visible()


def test_words_for_one_profile_are_not_said_in_another(screen: Screen) -> None:
    """What was begun in one stays there; the other begins with nothing."""
    page = screen.go("/")
    screen.composer.fill("Only for work")
    profile = page.get_by_title("Profile")
    profile.click()
    page.get_by_role("menuitemradio", name="family").click()
    expect(profile).to_contain_text("family")
    expect(screen.composer).to_have_value("")

    profile.click()
    page.get_by_role("menuitemradio", name="main").click()
    expect(screen.composer).to_have_value("Only for work")
    # Stored before the page is left: the next conversation begins with nothing.
    with page.expect_response(_is_stored_draft):
        screen.composer.fill("")


def test_a_link_into_another_profile_leads_there(screen: Screen) -> None:
    """A link, and Back after a switch, open what is in another profile, and show its list."""
    begun = {"text": "Dinner at eight", "profile": "family"}
    id = screen.call("POST", "/api/sessions", begun)["session_id"]
    page = screen.go(f"/c/{id}")
    profile = page.get_by_title("Profile")
    row = screen.sidebar.get_by_role("link").filter(has_text="Dinner at eight")
    screen.sees("I heard: Dinner at eight")
    expect(profile).to_contain_text("family")
    expect(row).to_be_visible()

    profile.click()
    page.get_by_role("menuitemradio", name="main").click()
    expect(row).to_have_count(0)
    page.go_back()

    screen.sees("I heard: Dinner at eight")
    expect(profile).to_contain_text("family")


def test_a_phone_finds_the_list_as_it_was(place: Place) -> None:
    """Back from a conversation one stands where one was in the list, and nothing was read anew."""
    with place.screen(is_phone=True) as screen:
        page = screen.page
        for number in range(MANY):
            screen.call("POST", "/api/sessions", {"text": f"Talk {number}"})
        rows = screen.sidebar.get_by_role("listitem").get_by_role("link")
        expect(rows.filter(has_text=f"Talk {MANY - 1}").first).to_be_visible()
        wanted = rows.filter(has_text=re.compile(r"Talk 1\b"))
        screen.sidebar.locator(".list").evaluate("list => list.scrollTo(0, 1500)")
        expect(wanted).to_be_in_viewport()
        read: list[str] = []
        page.on("request", lambda request: read.append(request.url))
        wanted.tap()
        screen.sees("I heard: Talk 1")
        page.get_by_role("button", name="Back to all conversations").tap()

        expect(wanted).to_be_in_viewport()
        assert page.title() == "Conversations · Threadline"
        assert not [url for url in read if "/api/sessions?" in url and "ids=" not in url]


def test_a_long_diagram_is_drawn_whole(screen: Screen) -> None:
    """Its later lines, which are folded in the page, were left out of the drawing."""
    page = screen.begin(f"work \n\n```mermaid\n{DIAGRAM}\n```")
    screen.sees("It says:")

    drawing = page.frame_locator("iframe.drawing").last
    expect(drawing.get_by_text("Step 59")).to_be_attached()
    screen.keep("diagram")


def test_a_diagram_with_images_is_not_drawn(screen: Screen) -> None:
    """An image node asks no server for anything, not even in vain: its source is shown instead."""
    asked: list[str] = []
    screen.page.on("request", lambda request: asked.append(request.url))
    image = 'A@{ img: "https://elsewhere.example/a.png", w: 60, h: 60 } --> B'
    page = screen.begin(f"work \n\n```mermaid\nflowchart TD\n{image}\n```")
    screen.sees("It says:")

    expect(page.get_by_text("This diagram could not be drawn").first).to_be_visible()
    expect(page.locator("iframe.drawing")).to_have_count(0)
    assert not [url for url in asked if "elsewhere" in url]


def _is_stored_draft(response: Response) -> bool:
    return response.request.method == "PUT" and "/api/drafts" in response.url


def _begin(screen: Screen, words: str) -> tuple[Page, Locator]:
    """Begin a conversation, and wait until its row in the list stands still."""
    page = screen.begin(words)
    row = screen.sidebar.get_by_role("listitem").filter(has_text=f"I heard: {words}")
    expect(row).to_be_visible()
    return page, row


def _rename(page: Page, row: Locator) -> Locator:
    """Open the window in which a conversation is renamed."""
    row.hover()
    row.get_by_role("button", name="More for this conversation").click()
    page.get_by_role("menuitem", name="Rename").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("textbox", name="Title")).to_be_focused()
    return dialog


def _break(route: Route) -> None:
    if route.request.method == "GET" and "/api/search" not in route.request.url:
        route.continue_()
    else:
        route.fulfill(status=500, json={"title": "StorageError", "detail": "It broke"})
