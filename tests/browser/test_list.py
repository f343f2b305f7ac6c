"""The list of conversations: several at once, and what stands over it when the store fails."""

import re

from playwright.sync_api import Route, expect

from tests.browser.screen import Screen


def test_several_are_archived_and_deleted_at_once(screen: Screen) -> None:
    """A selection is archived and found by its chip; deleting tells beforehand what goes."""
    screen.expected = {404}  # One of them is open while it is deleted.
    page = screen.begin("Apples to sort")
    screen.sees("I heard: Apples to sort")
    screen.begin("Pears to sort")
    screen.sees("I heard: Pears to sort")
    rows = screen.sidebar.get_by_role("listitem").filter(has_text="to sort")
    expect(rows).to_have_count(2)
    for row in rows.all():
        row.get_by_role("link").click(modifiers=["Control"])
    bar = page.get_by_role("toolbar", name="Actions for the selection")
    bar.get_by_role("button", name="Archive").click()
    expect(page.get_by_text("2 conversations archived.")).to_be_visible()
    expect(rows).to_have_count(0)

    screen.sidebar.get_by_role("button", name="Archived").click()
    expect(rows).to_have_count(2)
    for row in rows.all():
        row.get_by_role("link").click(modifiers=["Control"])
    screen.choose(bar.get_by_role("button", name="More"), "Delete")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile(r"\d messages will be removed"))
    dialog.get_by_role("button", name="Delete permanently").click()

    expect(dialog).to_have_count(0)
    expect(rows).to_have_count(0)


def test_one_is_moved_into_a_new_project_from_the_list(screen: Screen) -> None:
    """The list asks as the conversation itself does, and the move can be undone."""
    page = screen.begin("Plums to keep")
    row = screen.sidebar.get_by_role("listitem").filter(has_text="I heard: Plums to keep")
    row.hover()
    screen.choose(row.get_by_role("button", name="More for this conversation"), "Move to a project")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="New project").fill("Orchard")
    dialog.get_by_role("button", name="Create and move").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_text("1 conversation moved to Orchard.")).to_be_visible()

    page.get_by_role("button", name="Undo", exact=True).last.click()
    row.hover()
    screen.choose(row.get_by_role("button", name="More for this conversation"), "Move to a project")
    expect(dialog.get_by_role("button", name="No project", pressed=True)).to_be_visible()


def test_a_store_that_fails_is_not_overlooked(screen: Screen) -> None:
    """A banner stands over everything while nothing can be kept, and goes once it can."""
    screen.expected = {503}
    page = screen.begin("one")
    screen.sees("I heard: one")
    page.route("**/api/**", _keep_nothing)
    screen.say("Are you there?")
    banner = page.locator(".banner")
    expect(banner).to_be_visible()
    screen.keep("degraded")

    page.unroute("**/api/**")
    page.reload()
    screen.sees("I heard: Are you there?")
    expect(banner).to_have_count(0)


def test_what_was_unfolded_stays_so(screen: Screen) -> None:
    """Long code that somebody unfolded is unfolded when its row comes back."""
    lines = "\n".join(f"line {number}" for number in range(60))
    page = screen.begin(f"work \n\n```\n{lines}\n```")
    screen.sees("It says:")
    page.get_by_role("button", name="Show all 60 lines").last.click()
    expect(screen.transcript.get_by_text("line 59").last).to_be_visible()

    screen.sidebar.get_by_role("button", name="New conversation").click()
    expect(screen.transcript).to_have_count(0)
    page.go_back()

    expect(screen.transcript.get_by_text("line 59").last).to_be_visible()


def _keep_nothing(route: Route) -> None:
    if route.request.method == "GET":
        route.continue_()
    else:
        route.fulfill(status=503, json={"title": "StorageError", "detail": "The disk is full"})
