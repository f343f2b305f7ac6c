"""The page of the API: what is read there can be tried out there."""

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.app_server import Place
from tests.browser.axe import violations
from tests.browser.screen import Screen

_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def opened(page: Page, name: str) -> Locator:
    """Open an operation, and find its form."""
    operation = page.locator(f"details#{name}")
    operation.locator("summary").first.click()
    form = operation.get_by_role("form")
    expect(form).to_be_visible()
    return form


def answer(form: Locator) -> Locator:
    """Find where the answer is shown."""
    return form.get_by_role("group", name="Response", exact=True)


def send(form: Locator) -> None:
    """Send what was filled in."""
    form.get_by_role("button", name="Send").click()


def test_what_is_read_can_be_tried_out(screen: Screen) -> None:
    """Find an operation, read a list, make something, see what is wrong, and delete it again."""
    page = screen.go("/api/docs")
    expect(page.get_by_text("You are logged in as")).to_be_visible()
    listing = opened(page, "list_sessions")
    listing.get_by_role("spinbutton", name="most").fill("1")
    expect(listing.locator(".line")).to_contain_text("/api/sessions?most=1")
    send(listing)
    expect(answer(listing).get_by_role("status")).to_have_text(re.compile(r"^200.* ms$"))
    expect(answer(listing)).to_contain_text("application/json")

    page.get_by_role("searchbox", name="Filter operations").fill("make project")
    expect(page.locator("details#read_job")).to_be_hidden()
    making = opened(page, "make_project")
    body = making.get_by_role("textbox", name="Body")
    assert "name" in json.loads(body.input_value())
    key = making.get_by_role("textbox", name="Idempotency-Key").input_value()
    body.fill('{"name": "It\'s a project"}')
    expect(making.locator(".line")).to_contain_text(r"It'\''s a project")
    expect(making.locator(".line")).to_contain_text("Bearer $TOKEN")
    send(making)
    expect(answer(making).get_by_role("status")).to_have_text(re.compile("^201"))
    expect(making.get_by_role("textbox", name="Idempotency-Key")).not_to_have_value(key)
    made = json.loads(answer(making).locator("pre").inner_text())
    assert made["name"] == "It's a project"
    _check(screen, "manual")

    screen.expected = {422}
    body.fill('{"name": 7}')
    send(making)
    expect(answer(making).get_by_role("status")).to_have_text(re.compile("^422"))
    expect(answer(making).locator(".problem")).to_contain_text("body.name")

    page.get_by_role("searchbox", name="Filter operations").fill("")
    deleting = opened(page, "delete_project")
    deleting.get_by_role("spinbutton", name="key").fill(str(made["key"]))
    send(deleting)
    page.get_by_role("button", name="Cancel").click()
    expect(answer(deleting)).to_be_hidden()
    send(deleting)
    assert violations(page) == []
    page.get_by_role("button", name="Delete").click()
    expect(answer(deleting).get_by_role("status")).to_have_text(re.compile("^20"))


def test_the_feed_is_shown_as_it_comes(screen: Screen) -> None:
    """Events appear while they happen, until somebody presses stop."""
    page = screen.go("/api/docs#follow")
    feed = page.locator("details#follow").get_by_role("form")
    send(feed)
    events = feed.get_by_role("list", name="Events").get_by_role("listitem")
    expect(events.first).to_contain_text("snapshot")

    screen.call("POST", "/api/sessions", {"text": "Hello, feed"})
    expect(events.filter(has_text="message.added").first).to_be_visible()
    screen.keep("manual-feed")
    feed.get_by_role("button", name="Stop").click()
    expect(answer(feed).get_by_role("status")).to_have_text("Stopped.")
    expect(feed.get_by_role("button", name="Stop")).to_be_hidden()


def test_a_token_is_used_instead_of_the_login(screen: Screen) -> None:
    """What a token may not do is refused, although whoever is logged in may."""
    wish = {"name": "walk", "scopes": ["read"], "days": 1}
    made = screen.call("POST", "/api/tokens", wish)
    page = screen.go("/api/docs")
    page.get_by_label("Token").fill(made["token"])

    listing = opened(page, "list_projects")
    send(listing)
    expect(answer(listing).get_by_role("status")).to_have_text(re.compile("^200"))
    screen.expected = {403}
    making = opened(page, "make_project")
    send(making)
    expect(answer(making).get_by_role("status")).to_have_text(re.compile("^403"))
    expect(making.locator(".line")).not_to_contain_text(made["token"])


@pytest.mark.parametrize("is_phone", [False, True], ids=["desktop", "phone"])
def test_whoever_is_not_logged_in_is_told_so(place: Place, is_phone: bool) -> None:
    """The page says where to log in, takes a token instead, and tells refusals in words."""
    with place.screen(is_known=False, is_phone=is_phone, path="/api/docs") as screen:
        page = screen.page
        expect(page.get_by_text("You are not logged in.")).to_be_visible()
        expect(page.get_by_role("link", name="Log in")).to_have_attribute("href", "/login")

        listing = opened(page, "list_sessions")
        send(listing)
        expect(answer(listing).locator(".problem")).to_contain_text("NotLoggedIn")
        _check(screen, f"manual-nobody{'-phone' if is_phone else ''}")
        assert page.evaluate(_WIDE) == 0

        page.get_by_label("Token").fill("tl_wrong")
        expect(page.get_by_text("Requests are sent with the token below")).to_be_visible()
        expect(listing.locator(".line")).not_to_contain_text("tl_wrong")
        assert page.evaluate("localStorage.length + sessionStorage.length") == 0


def _check(screen: Screen, name: str) -> None:
    screen.keep(name)
    for scheme in ("light", "dark"):
        screen.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert violations(screen.page) == [], scheme
