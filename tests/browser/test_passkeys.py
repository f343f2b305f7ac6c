"""A passkey is made and used with a device; the device here is one that Chromium plays itself."""

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.app_server import Place
from tests.browser.screen import Screen

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server whose link nobody has used yet."""
    return own


def test_a_passkey_opens_the_door(place: Place, chromium: Browser) -> None:
    """Somebody makes a passkey, logs out, and comes in again with nothing else."""
    context = chromium.new_context(reduced_motion="reduce")
    screen = Screen(context, _named(place.url))
    screen.expected = {401}
    page = screen.page
    page.goto(_named(place.link))
    device = context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    device.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})

    screen.go("/settings/account")
    page.get_by_role("button", name="Add a passkey").click()
    dialog = page.get_by_role("dialog", name="Add a passkey")
    dialog.get_by_role("textbox").fill("my needle")
    dialog.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("list", name="Passkeys").get_by_text("my needle")).to_be_visible()
    screen.keep("passkey")

    page.get_by_role("button", name="Account and settings").click()
    page.get_by_role("menuitem", name="Log out").click()
    page.get_by_role("button", name="Use a passkey").click()

    expect(screen.sidebar).to_be_visible()
    context.close()
    assert not screen.faults, screen.faults


def _named(url: str) -> str:
    """Passkeys belong to a name, never to a number."""
    return url.replace("127.0.0.1", "localhost")
