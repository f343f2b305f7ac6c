"""The agent asks for leave, and somebody decides."""

import pytest
from playwright.sync_api import expect

from tests.browser.screen import Screen


@pytest.mark.parametrize(
    ("choice", "outcome"),
    [("Yes, this once", "Done: tidy up"), ("No", "Left alone: tidy up")],
    ids=["yes", "no"],
)
def test_the_agent_waits_for_a_decision(screen: Screen, choice: str, outcome: str) -> None:
    """The question stands where one writes, the list marks it, and the answer lets it go on."""
    page = screen.begin("ask tidy up")
    question = page.get_by_role("region", name="The agent asks")
    expect(question.get_by_text("May I tidy up?")).to_be_visible()
    row = screen.sidebar.get_by_role("link").filter(has_text="ask tidy up")
    expect(row.first.get_by_text("Needs you")).to_have_count(1)
    screen.keep("approval")

    question.get_by_role("button", name=choice).click()

    screen.sees(outcome)
    expect(question).to_have_count(0)
    expect(row.first.get_by_text("Needs you")).to_have_count(0)
