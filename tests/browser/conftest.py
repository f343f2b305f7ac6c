"""Browsers, servers and logins for walks through the web app."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.app_server import SETTINGS, Place
from tests.browser.chromium import Resting, keep_chromium
from tests.browser.screen import Screen
from tests.browser.webhook_shop import Shop
from threadline.testing.deadline import HANG_SECONDS

expect.set_options(timeout=HANG_SECONDS * 1000)


@pytest.fixture(scope="session")
def resting() -> Iterator[Resting]:
    """One browser for all walks, each of which has a window of its own."""
    with keep_chromium() as resting:
        yield resting


@pytest.fixture(scope="module")
def chromium(resting: Resting) -> Iterator[Browser]:
    """The browser, awake for a module; tests with a loop of their own may follow."""
    with resting.awake() as browser:
        yield browser


@pytest.fixture(scope="session")
def common(resting: Resting, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One server for all walks that stay within conversations of their own."""
    with Place(tmp_path_factory.mktemp("common"), resting.browser) as place:
        place.start()
        yield place


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server of a module's own keeps everything."""
    return tmp_path_factory.mktemp("walk")


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    """Somebody on a platform."""
    with Shop() as shop:
        yield shop


@pytest.fixture(scope="module")
def settings() -> str:
    """How the server of a module's own is set up: the actor is its agent."""
    return SETTINGS


@pytest.fixture(scope="module")
def own(folder: Path, chromium: Browser, settings: str) -> Iterator[Place]:
    """A server for the walks of a module alone: those that change it, or need it otherwise."""
    with Place(folder, chromium, settings) as place:
        place.start()
        yield place


@pytest.fixture(scope="module")
def place(chromium: Browser, common: Place) -> Place:
    """A server as somebody starts it, and a login."""
    return common


@pytest.fixture
def screen(place: Place) -> Iterator[Screen]:
    """Somebody at a desk who has opened the app."""
    with place.screen() as screen:
        yield screen
