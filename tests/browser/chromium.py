"""A real browser: the Chromium that comes with an npm package, or the one that is named."""

import asyncio
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.architecture.source import ROOT

UI = ROOT / "ui"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--headless=shell"]
"""Without a sandbox, as anybody may run it anywhere; nothing that pages could notice."""
_UNPACK = 'import c from "@sparticuz/chromium"; console.log(await c.executablePath());'


@contextmanager
def open_chromium() -> Iterator[Browser]:
    """Open the browser, until the context is left."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        yield browser
        browser.close()


class Resting:
    """A browser that outlasts many tests: while it rests, other loops can run in its thread.

    Its own loop stands still between two calls, and yet it counts as running until it is closed.
    """

    def __init__(self, browser: Browser) -> None:
        """Let a browser rest that was just opened."""
        self.browser = browser
        self._loop, self._hooks = asyncio.get_running_loop(), sys.get_asyncgen_hooks()
        self._rest()

    @contextmanager
    def awake(self) -> Iterator[Browser]:
        """Use the browser, until the context is left."""
        self.wake()
        try:
            yield self.browser
        finally:
            self._rest()

    def wake(self) -> None:
        """Let its loop count as running, as it must to be closed."""
        asyncio._set_running_loop(self._loop)
        sys.set_asyncgen_hooks(*self._hooks)

    @staticmethod
    def _rest() -> None:
        asyncio._set_running_loop(None)
        sys.set_asyncgen_hooks(None, None)


@contextmanager
def keep_chromium() -> Iterator[Resting]:
    """Open a browser that rests unless it is used, until the context is left."""
    with open_chromium() as browser:
        resting = Resting(browser)
        try:
            yield resting
        finally:
            resting.wake()


@cache
def find_chromium() -> str:
    """Answer where the browser is; the first who asks unpacks it, and others wait for that."""
    if named := os.environ.get("CHROMIUM_PATH"):
        return named
    folder = UI / "node_modules" / ".chromium"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _unpack(folder)


def _unpack(folder: Path) -> str:
    done = subprocess.run(
        ["node", "--input-type=module", "-e", _UNPACK],
        cwd=UI,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, f"there is no browser: {done.stderr}"
    return done.stdout.strip()
