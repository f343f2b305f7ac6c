"""A screen: pages of the web app, which must run nothing strange and ask nobody else."""

import json
import os
import re
from typing import Any, Literal
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Response,
    expect,
)

from tests.architecture.source import ROOT

PICTURES = ROOT / ".pictures"
"""Where every walk leaves what it saw last; git does not keep it."""
DESKTOP = (1400, 900)
PHONE = (390, 844)
_REFUSED = 400
_WATCH = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`against the policy: ${event.violatedDirective} ${event.blockedURI}`));
"""
_AWAY = ("net::ERR_", "Failed to load resource")
"""What a browser itself writes down when a server is away or refuses."""


class Screen:
    """The window of somebody who is logged in, and what was wrong in it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        """Open a window before a server."""
        self.context, self.url = context, url
        self.faults: list[str] = []
        self.expected: set[int] = set()
        """The refusals that belong to the walk."""
        context.add_init_script(_WATCH)
        self.page = self.open()

    def open(self) -> Page:
        """Open another tab."""
        page = self.context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error} {error.stack}"))
        page.on("request", self._ask)
        page.on("response", self._answer)
        return page

    def go(self, path: str = "/") -> Page:
        """Go to a place of the app."""
        self.page.goto(f"{self.url}{path}")
        return self.page

    def begin(self, words: str) -> Page:
        """Begin a conversation, and wait until it has an address."""
        if urlsplit(self.page.url).path != "/":  # Where one begins.
            self.go("/?new")
        self.say(words)
        self.page.wait_for_url(re.compile(r"/c/"))
        return self.page

    def say(self, words: str) -> None:
        """Write something and send it."""
        self.composer.fill(words)
        self.composer.press("Enter")

    @property
    def composer(self) -> Locator:
        """Where one writes."""
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def transcript(self) -> Locator:
        """What was said."""
        return self.page.get_by_role("region", name="Conversation", exact=True)

    @property
    def sidebar(self) -> Locator:
        """All conversations."""
        return self.page.get_by_role("navigation", name="Conversations")

    def sees(self, *texts: str) -> None:
        """Wait until the transcript shows some texts."""
        for text in texts:
            expect(self.transcript.get_by_text(text).last).to_be_visible()

    def choose(self, menu: Locator, choice: str) -> None:
        """Choose a line of a menu."""
        menu.click()
        self.page.get_by_role("menuitem", name=choice, exact=True).click()

    def keep(self, name: str) -> None:
        """Take a picture by day and one by night, unless nobody is there to look at it."""
        if os.environ.get("CI"):
            return
        PICTURES.mkdir(exist_ok=True)
        schemes: tuple[Literal["dark", "light"], ...] = ("dark", "light")
        for scheme in schemes:
            self.page.emulate_media(color_scheme=scheme)
            (PICTURES / f"{name}-{scheme}.png").write_bytes(self.page.screenshot())

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Ask the server directly, as whoever is logged in here."""
        return self._fetched(path, method=method, data=json.dumps(body), media="application/json")

    def upload(self, name: str, media_type: str, content: bytes) -> dict[str, Any]:
        """Upload a file, as whoever is logged in here."""
        path = f"/api/attachments?{urlencode({'name': name})}"
        return self._fetched(path, method="POST", data=content, media=media_type)

    def _fetched(self, path: str, *, method: str, data: str | bytes, media: str) -> dict[str, Any]:
        asking = self.context.request
        csrf = asking.get(f"{self.url}/api/me").json()["csrf"]
        headers = {"X-CSRF-Token": csrf, "Content-Type": media}
        answer = asking.fetch(f"{self.url}{path}", method=method, headers=headers, data=data)
        assert answer.ok, answer.text()
        fetched: dict[str, Any] = answer.json()
        return fetched

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(_AWAY):
            self.faults.append(f"console: {message.text}")

    def _ask(self, request: Request) -> None:
        asked = urlsplit(request.url)
        is_ours = asked.netloc == urlsplit(self.url).netloc
        if asked.scheme not in {"data", "blob", "about"} and not is_ours:
            self.faults.append(f"asked somebody else: {request.url}")

    def _answer(self, response: Response) -> None:
        if response.status >= _REFUSED and response.status not in self.expected:
            self.faults.append(
                f"refused: {response.status} {response.request.method} {response.url}"
            )
