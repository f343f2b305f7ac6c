"""A login at a localhost name of its own is sent to no other web server on this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.app_server import Place
from tests.browser.screen import Screen

NAME = "k3v9.localhost"


@pytest.fixture(scope="module")
def place(own: Place) -> Place:
    """A server whose link nobody has used yet."""
    return own


@contextmanager
def neighbour() -> Iterator[tuple[int, list[str]]]:
    """Serve on another port of this machine, and collect the cookies that are sent there."""
    sent: list[str] = []

    class Listening(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Listening) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, sent
        server.shutdown()
        thread.join()


def test_a_login_at_a_name_of_its_own_stays_there(place: Place, chromium: Browser) -> None:
    """The link logs in at once, and neither the address nor another name gets the cookie."""
    context = chromium.new_context(reduced_motion="reduce")
    screen = Screen(context, place.url.replace("127.0.0.1", NAME))
    screen.page.goto(place.link.replace("127.0.0.1", NAME))
    expect(screen.sidebar).to_be_visible()
    names = [cookie["name"] for cookie in context.cookies()]

    with neighbour() as (port, sent):
        for host in ("127.0.0.1", "other.localhost"):
            page = context.new_page()
            page.goto(f"http://{host}:{port}/")
            page.close()
    context.close()

    assert names == ["threadline"]
    assert sent
    assert not any(sent)
    assert not screen.faults, screen.faults
