# ruff: noqa: INP001 - the documents are no package
"""`python -m docs.pictures`: take the pictures of the web app anew, from the app itself."""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.app_server import Place
from tests.browser.chromium import open_chromium
from tests.browser.screen import Screen
from tests.browser.webhook_shop import Shop

IMAGES = Path(__file__).parent / "images"
AGENT = Path(__file__).with_name("showing.py")
SETTINGS = '[agent]\npython = "showing:answer"\n'
FERRY = "Is there a ferry to the island on Sunday that takes bicycles?"
OTHERS = ("Grandmother's plum cake", "Sum up a CSV file in Python", "A story for Emil")


def main() -> None:
    """Start a server with a few conversations, and take all pictures."""
    with tempfile.TemporaryDirectory() as folder, open_chromium() as chromium, Shop() as shop:
        home = Path(folder)
        (home / AGENT.name).write_bytes(AGENT.read_bytes())
        with Place(home, chromium, SETTINGS + shop.settings) as place:
            place.start()
            with place.screen() as screen:
                _converse(place, screen, shop)
                _take_desktop(screen)
            with place.screen(is_phone=True) as screen:
                _take_phone(screen)


def _converse(place: Place, screen: Screen, shop: Shop) -> None:
    """Let there be something to see."""
    for words in OTHERS:
        screen.begin(words)
        expect(screen.transcript.get_by_role("listitem").nth(2)).to_be_visible()
    shop.says(place.url, "Where is my parcel?")
    shop.hears()
    screen.begin("Tidy up the downloads folder")
    expect(screen.page.get_by_role("region", name="The agent asks")).to_be_visible()
    _take(screen.page, "app-approval.png")
    screen.begin(FERRY)
    screen.sees("I would take the")
    row = screen.sidebar.get_by_role("link").filter(has_text="ferry")
    expect(row.get_by_text("Unread")).to_have_count(0)


def _take_desktop(screen: Screen) -> None:
    page = screen.page
    page.mouse.move(700, 700)
    _take(page, "app-light.png")
    page.emulate_media(color_scheme="dark")
    _take(page, "app-dark.png")
    page.emulate_media(color_scheme="light")
    page.get_by_role("textbox", name="Search").press_sequentially("ferr")
    expect(screen.sidebar.get_by_role("region", name="Messages")).to_be_visible()
    _take(page, "app-search.png")


def _take_phone(screen: Screen) -> None:
    expect(screen.sidebar.get_by_role("link").filter(has_text="ferry")).to_be_visible()
    _take(screen.page, "app-phone-list.png")
    screen.sidebar.get_by_role("link").filter(has_text="ferry").click()
    screen.sees("I would take the")
    _take(screen.page, "app-phone.png")


def _take(page: Page, name: str) -> None:
    (IMAGES / name).write_bytes(page.screenshot())


if __name__ == "__main__":
    main()
