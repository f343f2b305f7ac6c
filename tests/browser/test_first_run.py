"""Somebody starts Threadline for the first time, opens the link, and talks."""

import pytest
from playwright.sync_api import expect

from tests.browser.app_server import Place


@pytest.fixture(scope="module")
def settings() -> str:
    """Somebody who has not set anything yet."""
    return ""


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server that nobody has spoken to."""
    return own


def test_a_phone_is_shown_the_first_steps(place: Place) -> None:
    """The link leads a phone to the three steps and the composer; from there one gets back."""
    with place.screen(is_phone=True) as screen:
        page = screen.page
        steps = page.get_by_role("list", name="Steps")
        expect(steps.get_by_role("heading", name="Connect Telegram")).to_be_visible()
        expect(screen.composer).to_be_visible()
        screen.keep("first-run-phone")

        page.get_by_role("button", name="Back to all conversations").tap()

        expect(screen.sidebar).to_be_visible()
        expect(steps).to_have_count(0)


def test_the_link_is_all_that_is_needed(place: Place) -> None:
    """The printed link logs in; the first words are answered by the offline agent."""
    with place.screen() as screen:
        page = screen.page
        expect(screen.sidebar).to_be_visible()
        assert page.title() == "Threadline"

        screen.say("Hello there!")

        screen.sees("Hello there!", "That is message 1 of our conversation.")
        row = screen.sidebar.get_by_role("link").filter(has_text="Hello there!")
        expect(row).to_be_visible()
        screen.keep("first-run")
