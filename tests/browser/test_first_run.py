"""Somebody starts Threadline for the first time, opens the link, and talks."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.place import Place


@pytest.fixture(scope="module")
def place(folder: Path, chromium: Browser) -> Place:
    """Make a place without any settings."""
    return Place(folder, chromium, settings="")


def test_the_link_is_all_that_is_needed(place: Place) -> None:
    """The printed link logs in; the first words are answered by the offline agent."""
    with place:
        place.start()
        with place.screen() as screen:
            page = screen.page
            expect(screen.sidebar).to_be_visible()
            assert page.title() == "Threadline"

            screen.say("Hello there!")

            screen.sees("Hello there!", "That is message 1 of our conversation.")
            expect(
                screen.sidebar.get_by_role("link").filter(has_text="Hello there!")
            ).to_be_visible()
            screen.keep("first-run")
