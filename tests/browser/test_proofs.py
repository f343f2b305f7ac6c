"""New ways to log in: the app asks for the password once more, and then goes on by itself."""

import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import expect

from tests.browser.app_server import Place
from tests.browser.screen import Screen

PASSWORD = "a bridge of sighs"


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server whose owner gets a password here."""
    return own


def grow_stale(place: Place) -> None:
    """Let the last proof of every browser be long ago."""
    file = place.folder / ".threadline" / "threadline.db"
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE logins SET proven_at = 0")


def test_a_proof_is_asked_for_and_the_token_is_made(place: Place, screen: Screen) -> None:
    """A wrong password is told; with the right one the token appears, without asking again."""
    screen.expected = {403}
    page = screen.go("/settings/account")
    page.get_by_role("button", name="Set a password").click()
    page.get_by_label("New password", exact=True).fill(PASSWORD)
    page.get_by_label("Repeat the new password").fill(PASSWORD)
    screen.keep("password")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Password saved.")).to_be_visible()
    grow_stale(place)

    page.get_by_role("button", name="Create a token").click()
    dialog = page.get_by_role("dialog", name="Create a token")
    dialog.get_by_label("What it is for").fill("backup")
    dialog.get_by_role("button", name="Create a token").click()
    asked = page.get_by_role("dialog", name="Confirm that it is you")
    asked.get_by_label("Your password").fill("no bridge at all")
    asked.get_by_role("button", name="Continue").click()
    expect(asked.get_by_text("The password is wrong")).to_be_visible()
    screen.keep("proof")
    asked.get_by_label("Your password").fill(PASSWORD)
    asked.get_by_role("button", name="Continue").click()

    expect(page.get_by_role("dialog", name="Your token").get_by_text("tl_")).to_be_visible()
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("list", name="Tokens").get_by_text("backup")).to_be_visible()


def test_who_changes_their_mind_creates_nothing(place: Place, screen: Screen) -> None:
    """The dialog below says why, and can be tried again."""
    screen.expected = {403}
    page = screen.go("/settings/account")
    expect(page.get_by_role("list", name="Tokens").get_by_role("listitem")).to_have_count(1)
    grow_stale(place)
    page.get_by_role("button", name="Create a token").click()
    dialog = page.get_by_role("dialog", name="Create a token")
    dialog.get_by_label("What it is for").fill("another one")
    dialog.get_by_role("button", name="Create a token").click()
    asked = page.get_by_role("dialog", name="Confirm that it is you")
    asked.get_by_role("button", name="Cancel").click()

    expect(dialog.get_by_text("This needs a fresh proof of who you are")).to_be_visible()
    assert len(screen.call("GET", "/api/tokens")["items"]) == 1


def test_a_new_password_revokes_tokens_if_wished(screen: Screen) -> None:
    """The list of tokens is empty afterwards, and the audit log tells it."""
    page = screen.go("/settings/account")
    page.get_by_role("button", name="Change the password").click()
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password", exact=True).fill("another bridge")
    page.get_by_label("Repeat the new password").fill("another bridge")
    page.get_by_label("Also revoke all my tokens").check()
    page.get_by_role("button", name="Save").click()

    expect(page.get_by_text("No token yet.")).to_be_visible()
    screen.go("/settings/audit")
    expect(page.get_by_text("revoked a token")).to_be_visible()
    expect(page.get_by_text("failed to log in")).to_be_visible()
    screen.keep("audit")
