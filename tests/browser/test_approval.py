"""The agent asks for leave, and somebody decides."""

import pytest
from playwright.sync_api import Route, expect

from tests.browser.screen import Screen


@pytest.mark.parametrize(
    ("choice", "outcome"),
    [("Yes, this once", "Done: tidy up"), ("No", "Left alone: tidy up")],
    ids=["yes", "no"],
)
def test_the_agent_waits_for_a_decision(screen: Screen, choice: str, outcome: str) -> None:
    """The question stands where one writes, the list marks it, and the answer lets it go on.

    Whoever decided by keyboard goes on there.
    """
    page = screen.begin("ask tidy up")
    question = page.get_by_role("region", name="The agent asks")
    expect(question.get_by_text("May I tidy up?")).to_be_visible()
    row = screen.sidebar.get_by_role("link").filter(has_text="ask tidy up")
    expect(row.first.get_by_text("Needs you")).to_have_count(1)
    screen.keep("approval")

    question.get_by_role("button", name=choice).press("Enter")

    expect(screen.composer).to_be_focused()
    screen.sees(outcome)
    expect(question).to_have_count(0)
    expect(row.first.get_by_text("Needs you")).to_have_count(0)


def test_an_answer_is_for_one_question(screen: Screen) -> None:
    """Nobody says yes twice to what they saw once: the next question is another one."""
    page = screen.begin("ask tidy up")
    question = page.get_by_role("region", name="The agent asks")
    note = question.get_by_role("textbox")
    yes = question.get_by_role("button", name="Yes, this once")
    note.fill("and sweep?")
    held: list[Route] = []
    page.route("**/api/turns/*", lambda route: held.extend([route]))

    with page.expect_request("**/api/turns/*"):
        yes.click()
    expect(question.get_by_text("May I tidy up?")).to_be_visible()
    expect(yes).to_be_disabled()
    for route in held:
        route.continue_()
    page.unroute("**/api/turns/*")

    expect(question.get_by_text("May I and sweep?")).to_be_visible()
    expect(note).to_have_value("")
    yes.click()
    screen.sees("Done: tidy up")
