"""Browsers, servers and logins for walks through the web app."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.chromium import open_chromium
from tests.browser.place import SETTINGS, Place
from tests.browser.screen import Screen
from tests.browser.shop import Shop

expect.set_options(timeout=20_000)  # Milliseconds; many tests run side by side.


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for the walks of a module.

    Not for longer: while it is open its own loop runs in this thread, and no other can.
    """
    with open_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server of a module keeps everything."""
    return tmp_path_factory.mktemp("walk")


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    """Somebody on a platform."""
    with Shop() as shop:
        yield shop


@pytest.fixture(scope="module")
def settings() -> str:
    """How the server of a module is set up: the actor is its agent."""
    return SETTINGS


@pytest.fixture(scope="module")
def place(folder: Path, chromium: Browser, settings: str) -> Iterator[Place]:
    """A server as somebody starts it, and a login."""
    with Place(folder, chromium, settings) as place:
        place.start()
        yield place


@pytest.fixture
def screen(place: Place) -> Iterator[Screen]:
    """Somebody at a desk who has opened the app."""
    with place.screen() as screen:
        yield screen
