"""The owner changes settings, and how they log in; a member finds what is theirs."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.app_server import Place
from tests.browser.screen import Screen

PASSWORD = "a bridge of sighs"
_WRONG = 422


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server whose settings may be changed."""
    return own


def _saves(screen: Screen, setting: str, value: str) -> None:
    field = screen.page.get_by_role("textbox", name=setting, exact=True)
    field.fill(value)
    screen.page.get_by_role("button", name="Save").click()


def test_a_setting_is_written_into_the_file(screen: Screen, folder: Path) -> None:
    """It holds at once and stays; what is wrong is told at its field, and nothing is written."""
    screen.expected.add(_WRONG)
    page = screen.go("/settings/spend")

    _saves(screen, "Everybody, a day", "12.5")
    expect(page.get_by_text("Saved.")).to_be_visible()
    _saves(screen, "Everybody, a month", "-1")
    expect(page.get_by_text("spend.month cannot be")).to_be_visible()
    screen.keep("settings")

    page.reload()
    expect(page.get_by_role("textbox", name="Everybody, a day")).to_have_value("12.5")
    expect(page.get_by_role("textbox", name="Everybody, a month")).to_have_value("")
    (file,) = folder.rglob(".threadline/threadline.toml")
    assert "day = 12.5" in file.read_text()


def test_a_setting_is_found_by_its_words(screen: Screen) -> None:
    """Whatever section it is in; the machine's own are shown, and say where they are changed."""
    page = screen.go("/settings")

    page.get_by_role("searchbox", name="Find a setting").fill("program protocol")

    expect(page.get_by_text("threadline config set agent.command")).to_be_visible()


def test_a_password_logs_in(place: Place, chromium: Browser) -> None:
    """It is set on one screen; another one finds the door, and comes in with it."""
    with place.screen(path="/settings/account") as screen:
        page = screen.page
        page.get_by_role("button", name="Set a password").click()
        page.get_by_label("New password", exact=True).fill(PASSWORD)
        page.get_by_label("Repeat the new password").fill(PASSWORD)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("button", name="Change the password")).to_be_visible()

    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{place.url}/settings/account")
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("Wrong name or password")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("heading", name="Where you are logged in")).to_be_visible()
    context.close()


def test_a_member_sees_what_is_theirs(place: Place, chromium: Browser) -> None:
    """A link lets them in once; the settings of the server are not for them."""
    with place.screen(path="/settings/accounts") as screen:
        page = screen.page
        page.get_by_role("button", name="Add a member").click()
        page.get_by_label("Name").fill("Ada")
        page.get_by_role("dialog").get_by_role("button", name="Add a member").click()
        screen.choose(page.get_by_role("button", name="More for Ada"), "Create a login link")
        link = page.get_by_role("dialog").locator("code").inner_text()

    context = chromium.new_context()
    page = context.new_page()
    page.goto(link)
    page.goto(f"{place.url}/settings/agent")
    expect(page.get_by_role("heading", name="You don't have access to this")).to_be_visible()
    expect(page.get_by_role("link", name="Audit log")).to_have_count(0)
    context.close()


def test_a_token_is_shown_once(screen: Screen) -> None:
    """It opens the API, and nothing any more once it is revoked."""
    page = screen.go("/settings/account")

    page.get_by_role("button", name="Create a token").click()
    page.get_by_label("What it is for").fill("backup")
    page.get_by_role("dialog").get_by_role("button", name="Create a token").click()
    token = page.get_by_role("dialog").locator("code").inner_text()
    page.get_by_role("button", name="Done").click()
    bearer = {"Authorization": f"Bearer {token}", "Cookie": ""}
    assert screen.context.request.get(f"{screen.url}/api/me", headers=bearer).ok

    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No token yet.")).to_be_visible()
    assert not screen.context.request.get(f"{screen.url}/api/me", headers=bearer).ok
