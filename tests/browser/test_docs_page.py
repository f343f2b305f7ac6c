"""The page of the API: a viewer in which each operation can be tried out."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.app_server import Place
from tests.browser.axe import violations
from tests.browser.screen import Screen

_OF_THE_VIEWER = ("heading-order", "label", "landmark-unique", "region")
"""Rules of axe that the viewer itself breaks."""
_WIDE = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def opened(page: Page, tag: str, name: str) -> Locator:
    """Open an operation below its tag."""
    page.locator(f"#operations-tag-{tag}").click()
    operation = page.locator(f"#operations-{tag}-{name}")
    operation.locator(".opblock-summary-control").click()
    return operation


def send(operation: Locator) -> Locator:
    """Send the request, and find its response."""
    operation.get_by_role("button", name="Execute").click()
    return operation.locator(".live-responses-table")


def status(response: Locator) -> Locator:
    """Find the status of a response."""
    return response.locator("tbody td.response-col_status").first


def test_all_operations_are_listed(screen: Screen) -> None:
    """The page lists every operation of the description, under the policy of all pages."""
    page = screen.go("/api/docs")
    expect(page.get_by_role("status")).to_contain_text("You are logged in as")
    described = page.evaluate("fetch('/api/openapi.json').then((one) => one.json())")
    names: dict[str, list[str]] = {}
    for operations in described["paths"].values():
        for operation in operations.values():
            names.setdefault(operation["tags"][0], []).append(operation["operationId"])
    for tag, listed in names.items():
        heading = page.locator(f"#operations-tag-{tag}")
        heading.click()
        expect(page.locator(".opblock")).to_have_count(len(listed))
        for name in listed:
            expect(page.locator(f"#operations-{tag}-{name}")).to_be_visible()
        heading.click()
        expect(page.locator(".opblock")).to_have_count(0)


def test_operations_are_tried_out_with_the_login(screen: Screen) -> None:
    """A read and a write are sent with the cookie, and no CSRF token is shown."""
    page = screen.go("/api/docs")
    reading = opened(page, "me", "read_me")
    reading.get_by_role("button", name="Try it out").click()
    response = send(reading)
    expect(status(response)).to_contain_text("200")
    expect(response.locator(".microlight").first).to_contain_text('"owner"')

    making = opened(page, "projects", "make_project")
    making.get_by_role("button", name="Try it out").click()
    body = making.locator("textarea.body-param__text")
    expect(body).to_have_value(re.compile('"name":'))
    body.fill('{"name": "Made in the viewer"}')
    made = send(making)
    expect(status(made)).to_contain_text("201")
    expect(made.locator(".microlight").first).to_contain_text("Made in the viewer")
    expect(making.locator(".curl-command")).to_contain_text("/api/projects")
    expect(making.locator(".curl-command")).not_to_contain_text("CSRF")
    _check(screen, "api-docs-operation")


def test_the_feed_is_only_described(screen: Screen) -> None:
    """At the address of an event stream the viewer shows its example and does not send it."""
    feed = screen.go("/api/docs#/feed/follow").locator("#operations-feed-follow")
    expect(feed).to_contain_text("event: snapshot")
    expect(feed.get_by_role("button", name="Try it out")).to_have_count(0)


def test_a_token_is_used_instead_of_the_login(screen: Screen) -> None:
    """A write with a read-only token is refused, although the login may do it."""
    wish = {"name": "walk", "scopes": ["read"], "days": 1}
    token = screen.call("POST", "/api/tokens", wish)["token"]
    screen.expected = {403}
    page = screen.go("/api/docs")
    making = opened(page, "projects", "make_project")
    page.get_by_role("button", name="Authorize").first.click()
    dialog = page.locator(".dialog-ux")
    dialog.get_by_role("textbox").fill(token)
    dialog.get_by_role("button", name="Apply credentials").first.click()
    dialog.get_by_role("button", name="Close").last.click()

    making.get_by_role("button", name="Try it out").click()
    expect(status(send(making))).to_contain_text("403")
    assert token not in page.evaluate("JSON.stringify([localStorage, sessionStorage])")


@pytest.mark.parametrize("is_phone", [False, True], ids=["desktop", "phone"])
def test_users_who_are_not_logged_in_see_where_to_log_in(place: Place, is_phone: bool) -> None:
    """The page links to the login, fits the window and is readable in light and dark."""
    with place.screen(is_known=False, is_phone=is_phone, path="/api/docs") as screen:
        page = screen.page
        expect(page.get_by_role("status")).to_contain_text("You are not logged in.")
        expect(page.get_by_role("link", name="Log in")).to_have_attribute("href", "/login")
        expect(page.locator(".opblock-tag").first).to_be_visible()
        assert page.evaluate(_WIDE) == 0
        _check(screen, f"api-docs{'-phone' if is_phone else ''}")


def _check(screen: Screen, name: str) -> None:
    screen.keep(name)
    for scheme in ("light", "dark"):
        is_dark = scheme == "dark"
        screen.page.emulate_media(color_scheme="dark" if is_dark else "light")
        dark = screen.page.locator("html.dark-mode")
        expect(dark).to_have_count(int(is_dark))
        found = [one for one in violations(screen.page) if not one.startswith(_OF_THE_VIEWER)]
        assert found == [], scheme
