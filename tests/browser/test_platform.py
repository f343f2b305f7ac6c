"""A conversation that lives on a platform is live here too, and can be answered into."""

import pytest
from playwright.sync_api import expect

from tests.browser.app_server import SETTINGS, Place
from tests.browser.screen import Screen
from tests.browser.webhook_shop import Shop


@pytest.fixture(scope="module")
def settings(shop: Shop) -> str:
    """The shop is connected."""
    return SETTINGS + shop.settings


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server that the shop is connected to."""
    return own


def test_the_owner_answers_into_a_platform(shop: Shop, place: Place, screen: Screen) -> None:
    """Ann writes there and it is seen here; the owner answers here and it is delivered there."""
    shop.says(place.url, "Where is my parcel?")
    assert shop.hears() == "I heard: Where is my parcel?"
    row = screen.sidebar.get_by_role("link").filter(has_text="Where is my parcel?")
    row.click()
    screen.sees("I heard: Where is my parcel?")
    expect(screen.page.get_by_text("as the bot")).to_be_visible()

    screen.say("It is on its way, Ann.")

    assert shop.hears() == "It is on its way, Ann."
    screen.sees("It is on its way, Ann.")
    shop.says(place.url, "Thank you!")
    assert shop.hears() == "I heard: Thank you!"
    screen.sees("I heard: Thank you!")
    screen.keep("platform")


def test_the_owner_asks_the_agent_there(shop: Shop, place: Place, screen: Screen) -> None:
    """Words can also be for the agent; its answer is delivered there."""
    shop.says(place.url, "Hello?", session="order 67", name="Bob")
    assert shop.hears() == "I heard: Hello?"
    screen.sidebar.get_by_role("link").filter(has_text="Hello?").click()
    screen.sees("I heard: Hello?")

    where = screen.page.get_by_role("button").filter(has_text="as the bot")
    where.click()
    screen.page.get_by_role("menuitemradio", name="Ask the agent").click()
    screen.say("Write him something kind")

    assert shop.hears() == "I heard: Write him something kind"


def test_the_owner_takes_over(shop: Shop, place: Place, screen: Screen) -> None:
    """The agent is silent, and the owner answers under their own name until it is given back."""
    shop.says(place.url, "Is a human there?", session="order 68", name="Cleo")
    assert shop.hears() == "I heard: Is a human there?"
    row = screen.sidebar.get_by_role("link").filter(has_text="Is a human there?")
    row.click()
    screen.sees("I heard: Is a human there?")
    screen.page.get_by_role("button", name="More for this conversation").click()
    screen.page.get_by_role("menuitem", name="Take over").click()
    silent = screen.page.get_by_text("You have taken over; the agent is silent.")
    expect(silent).to_be_visible()

    shop.says(place.url, "Hello, human!", session="order 68", name="Cleo")
    screen.sees("Hello, human!")
    screen.say("Hello, Cleo.")
    assert shop.hears() == "Hello, Cleo."
    mine = screen.page.locator("li.message").filter(has_text="Hello, Cleo.")
    expect(mine.locator(".name")).to_have_text("owner")
    screen.keep("taken-over")

    screen.page.get_by_role("button", name="Give it back").click()
    expect(silent).to_be_hidden()
    shop.says(place.url, "And now?", session="order 68", name="Cleo")
    assert shop.hears() == "I heard: And now?"


def test_an_answer_that_is_lost_says_so(shop: Shop, place: Place, screen: Screen) -> None:
    """Below the words of the owner and in the list; sent again it arrives, and all is well."""
    shop.says(place.url, "Can you hear me?", session="order 69", name="Dora")
    assert shop.hears() == "I heard: Can you hear me?"
    row = screen.sidebar.get_by_role("link").filter(has_text="Can you hear me?")
    row.click()
    screen.sees("I heard: Can you hear me?")
    shop.refuses()

    screen.say("Yes, Dora.")

    lost = screen.transcript.get_by_text("Not delivered to")
    expect(lost).to_be_visible()
    expect(row.get_by_text("An answer could not be delivered")).to_have_count(1)
    screen.keep("lost-answer")
    screen.transcript.get_by_role("button", name="Try again").click()
    assert shop.hears() == "Yes, Dora."
    expect(lost).to_have_count(0)
    expect(row.get_by_text("An answer could not be delivered")).to_have_count(0)
