"""A place to walk through: a server with its settings and its login, and screens before it."""

import shutil
import signal
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import apsw
from playwright.sync_api import Browser, StorageState

from tests.browser.screen import DESKTOP, PHONE, Screen
from tests.cli.server_process import Server
from tests.docs.login_link import link_of
from threadline.testing.deadline import HANG_SECONDS

ACTOR = Path(__file__).with_name("agent.py")
SETTINGS = """
[agent]
python = "actor:answer"
"""


class Place:
    """A server in a folder of its own; one can come back to it after it was killed."""

    def __init__(self, folder: Path, chromium: Browser, settings: str = SETTINGS) -> None:
        """Furnish the folder; nothing is started yet."""
        self.folder, self._chromium = folder, chromium
        self._server: Server | None = None
        self._login: StorageState | None = None
        self.url = ""
        # A program that is started here finds it by its bare name.
        shutil.copy(ACTOR, folder / "actor.py")
        (folder / "threadline.toml").write_text(settings, encoding="utf-8")
        usual = str(folder / ".threadline" / "threadline.db")
        self._database: str = tomllib.loads(settings).get("database", usual)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.__exit__(kind, error, traceback)

    @property
    def server(self) -> Server:
        """The server that runs."""
        assert self._server is not None, "it was not started"
        return self._server

    @property
    def link(self) -> str:
        """The link that logs in; it works once."""
        return link_of(self.server)

    def start(self) -> None:
        """Start the server; once more at the same address if it was there before."""
        port = urlsplit(self.url).port or 0
        self._server = Server(self.folder, "--port", str(port))
        self.url = self._server.url()

    def kill(self) -> None:
        """End the server as a power cut would."""
        self.server.tell(signal.SIGKILL)
        self.server.ended()
        self.server.__exit__(None, None, None)

    def _prove_login(self) -> None:
        """Make all logins proven just now, as the suite may take longer than a proof lasts."""
        connection = apsw.Connection(self._database, flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(int(HANG_SECONDS * 1000))
        try:
            connection.execute("UPDATE logins SET proven_at = ?", (time.time_ns() // 1000,))
        finally:
            connection.close()

    @contextmanager
    def screen(
        self, *, is_phone: bool = False, is_known: bool = True, path: str = "/"
    ) -> Iterator[Screen]:
        """Open the app, logged in unless nobody is known; its faults are told at the end."""
        width, height = PHONE if is_phone else DESKTOP
        context = self._chromium.new_context(
            viewport={"width": width, "height": height},
            has_touch=is_phone,
            is_mobile=is_phone,
            storage_state=self._login if is_known else None,
            reduced_motion="reduce",
        )
        context.set_default_timeout(HANG_SECONDS * 1000)
        screen = Screen(context, self.url)
        if not is_known:
            screen.expected = {401}
        elif self._login is None:
            screen.page.goto(self.link)
            self._login = context.storage_state()
        self._prove_login()
        screen.go(path)
        try:
            yield screen
        finally:
            context.close()
        assert not screen.faults, screen.faults
