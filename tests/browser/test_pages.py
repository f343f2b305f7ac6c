"""The pages beside the conversations: things are made, changed and deleted, and no word is lost."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.app_server import SETTINGS, Place
from tests.browser.axe import violations
from tests.browser.screen import Screen
from tests.browser.webhook_shop import Shop

_GONE = 404
_STALE = 412
AWAY = "The server could not be reached."


@pytest.fixture(scope="module")
def settings(shop: Shop) -> str:
    """How the server is set up: people can write from a shop."""
    return SETTINGS + shop.settings


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server on whose pages nothing is yet."""
    return own


@contextmanager
def _lost(page: Page, method: str, address: str) -> Iterator[None]:
    """Lose what is asked at an address on its way there; the answer, if it makes something."""

    def lose(route: Route) -> None:
        if route.request.method != method:
            route.continue_()
            return
        if method == "POST":
            route.fetch()
        route.abort()

    page.route(address, lose)
    try:
        yield
    finally:
        page.unroute(address)


def _dialog(screen: Screen) -> Locator:
    return screen.page.get_by_role("dialog")


def _press(screen: Screen, name: str) -> None:
    _dialog(screen).get_by_role("button", name=name, exact=True).click()


def _changes_elsewhere(screen: Screen, path: str, body: dict[str, object]) -> None:
    """Change something as another window would."""
    asking = screen.context.request
    csrf = asking.get(f"{screen.url}/api/me").json()["csrf"]
    headers = {"X-CSRF-Token": csrf, "If-Match": "*"}
    assert asking.patch(f"{screen.url}{path}", headers=headers, data=body).ok


def test_a_job_is_made_once_and_changed_by_whoever_saw_it(screen: Screen) -> None:
    """An answer that was lost makes no second job, and who was slower loses no word."""
    screen.expected.add(_STALE)
    page = screen.go("/jobs")
    jobs = page.get_by_role("list", name="All jobs").get_by_role("listitem")
    prompt = page.get_by_label("Prompt")

    page.get_by_role("button", name="New job").click()
    prompt.fill("What should I water?")
    page.get_by_role("button", name="every day 9:00").click()
    expect(page.get_by_text("Next runs")).to_be_visible()
    assert violations(page) == []
    with _lost(page, "POST", "**/api/jobs?*"):
        _press(screen, "Create")
        expect(_dialog(screen).get_by_text(AWAY)).to_be_visible()
    _press(screen, "Create")
    expect(_dialog(screen)).to_have_count(0)
    expect(jobs).to_have_count(1)

    more = page.get_by_role("button", name="More for What should I water?")
    with _lost(page, "GET", "**/api/jobs/1"):
        screen.choose(more, "Edit")
        expect(_dialog(screen).get_by_text(AWAY)).to_be_visible()
        expect(page.get_by_role("button", name="Save")).to_be_disabled()
        expect(prompt).to_have_count(0)
    _press(screen, "Try again")
    expect(prompt).to_have_value("What should I water?")
    _changes_elsewhere(screen, "/api/jobs/1", {"schedule": "every 2h"})
    prompt.fill("Which trees should I water?")
    page.get_by_label("Name (optional)").fill("")
    _press(screen, "Save")
    expect(
        _dialog(screen).get_by_text("Somebody else changed this in the meantime.")
    ).to_be_visible()
    expect(_dialog(screen).get_by_text("every 2h")).to_be_visible()
    expect(prompt).to_have_value("Which trees should I water?")
    screen.keep("job-stale")
    _press(screen, "Save")
    expect(jobs.get_by_role("link", name="Which trees should I water?")).to_be_visible()
    # It can be pointed at, although all of the line leads to the job.
    jobs.get_by_text("Every day at 9:00").hover()

    screen.choose(page.get_by_role("button", name="More for Which trees"), "Delete")
    _press(screen, "Delete")
    expect(page.get_by_role("heading", name="No jobs yet")).to_be_visible()


def test_a_project_is_made_changed_and_deleted(screen: Screen) -> None:
    """It is in the list as long as it is there."""
    page = screen.go("/projects")

    page.get_by_role("button", name="New project").click()
    page.get_by_label("Name").fill("Garden")
    _press(screen, "Create")
    screen.choose(page.get_by_role("button", name="More for Garden"), "Edit")
    expect(page.get_by_label("Name")).to_have_value("Garden")
    page.get_by_label("Name").fill("Orchard")
    _press(screen, "Save")
    screen.choose(page.get_by_role("button", name="More for Orchard"), "Delete")
    _press(screen, "Delete")

    expect(page.get_by_role("heading", name="No projects yet")).to_be_visible()


def test_somebody_is_let_in_joined_and_forgotten(screen: Screen, shop: Shop) -> None:
    """The owner lets them in without a code, makes two senders one, and forgets them for good."""
    for name in ("Ann", "Bob"):
        shop.says(screen.url, "Hello!", name=name, session=f"of {name}")
        shop.hears()
    page = screen.go("/people")

    page.get_by_role("button", name="Let somebody in").click()
    page.get_by_label("Who", exact=True).fill("telegram:42")
    page.get_by_label("Name (optional)").fill("Ada")
    _press(screen, "Let in")
    expect(page.get_by_role("list", name="Let in").get_by_text("telegram:42")).to_be_visible()
    screen.choose(page.get_by_role("button", name="More for Ann"), "Join with another sender")
    page.get_by_label("And the other").fill("shop:bob")
    _press(screen, "Join")
    people = page.get_by_role("list", name="One person, several apps")
    screen.choose(people.get_by_role("button", name="More for Ann"), "Forget for good")
    page.get_by_label("to confirm").fill("shop:ann")
    _press(screen, "Forget for good")
    expect(page.get_by_role("heading", name="Forgotten. Certificate")).to_be_visible()
    _press(screen, "Done")

    expect(people).to_have_count(0)
    expect(page.get_by_role("list", name="What was forgotten")).to_be_visible()


def test_a_shared_page_is_revoked(screen: Screen) -> None:
    """Whoever has its link finds it no more."""
    page = screen.begin("Something for everybody")
    screen.sees("I heard: Something for everybody")
    session = page.url.rpartition("/")[2]
    share = screen.call("POST", "/api/shares", {"session": session})

    screen.go("/shares")
    page.get_by_role("button", name="Revoke").click()
    _press(screen, "Revoke")

    expect(page.get_by_text("The page was revoked.")).to_be_visible()
    assert not screen.context.request.get(f"{screen.url}{share['path']}").ok


def test_what_was_written_into_settings_stays_until_it_is_saved(screen: Screen) -> None:
    """Whoever looks elsewhere finds it again, and is told of it in every section."""
    page = screen.go("/settings/spend")
    field = page.get_by_role("textbox", name="Everybody, a day", exact=True)

    field.fill("12")
    page.get_by_role("link", name="Your account").click()
    expect(page.get_by_text("1 unsaved change")).to_be_visible()
    page.keyboard.press("Escape")
    screen.sidebar.get_by_role("button", name="New conversation").click()
    expect(screen.composer).to_be_visible()
    page.go_back()
    expect(page.get_by_text("1 unsaved change")).to_be_visible()
    page.go_back()
    expect(field).to_have_value("12")
    page.get_by_role("button", name="Discard").click()

    expect(field).to_have_value("")


def test_a_failed_read_leaves_the_first_steps_as_they_were(screen: Screen) -> None:
    """Whoever was about to connect a model goes on where they were."""
    page = screen.go("/welcome")
    model = page.get_by_role("combobox", name="Model", exact=True)

    model.fill("gpt-5.1")
    with _lost(page, "GET", "**/api/settings"), page.expect_event("requestfailed"):
        _changes_elsewhere(screen, "/api/settings", {"set": {"spend.day": 5}})

    expect(model).to_have_value("gpt-5.1")


def test_a_phone_goes_back_one_step(place: Place) -> None:
    """From a section to the sections, and from a job to the jobs."""
    with place.screen(is_phone=True, path="/settings/appearance") as screen:
        screen.page.get_by_role("button", name="Back to the sections").tap()
        expect(screen.page.get_by_role("link", name="Appearance")).to_be_visible()
        screen.expected.add(_GONE)
        screen.go("/jobs/999")
        expect(screen.page.get_by_role("heading", name="Page not found")).to_be_visible()
        screen.page.get_by_role("button", name="Back to the jobs").tap()
        expect(screen.page.get_by_role("button", name="New job")).to_be_visible()
