"""What comes over the wire and is no plain request, over real sockets."""

import asyncio
from urllib.parse import urlsplit

import pytest

from tests.databases import FAST, on
from tests.web.browser import HERE, browsing, make_site
from tests.web.test_server import FakeGateway, Odd
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS
from threadline.web.request_limits import RequestGuard
from threadline.web.server import make_app, serve

HOST = b"Host: 127.0.0.1\r\n"
UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"


async def exchange(*requests: bytes) -> bytes:
    """Send bytes to a server, then nothing more; answer all that comes back."""
    async with serve(make_app(FakeGateway(Odd("odd"))), "127.0.0.1", 0) as url:
        place = urlsplit(url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(b"".join(requests))
        writer.write_eof()
        async with asyncio.timeout(HANG_SECONDS):
            answer = await reader.read()
        writer.close()
    return answer


async def test_a_request_with_two_lengths_is_the_last_one_on_its_connection() -> None:
    """A proxy may believe the other one, and take what follows for another person's request."""
    answer = await exchange(
        b"POST /healthz HTTP/1.1\r\n" + HOST,
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    )

    assert answer.startswith(b"HTTP/1.1 400")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"connection: close" in answer.lower()
    assert b"alive" not in answer


async def test_what_is_no_request_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Anybody can send such bytes, as often as they like: the log is for what we should look at."""
    odd = await exchange(b"\x16\x03\x01 hello\r\n\r\n")
    upgrade = await exchange(b"GET /healthz HTTP/1.1\r\n" + HOST + UPGRADE + b"\r\n")

    assert odd.startswith(b"HTTP/1.1 400")
    assert upgrade.startswith(b"HTTP/1.1 200")
    assert [one.getMessage() for one in caplog.records] == []


@on(FAST)
@pytest.mark.parametrize(
    "path", ["/platforms/local", "/p/main/platforms/local", "/api", "/login/?link=x", "/s/x/"]
)
async def test_nobody_is_led_elsewhere(store: Store, path: str) -> None:
    """Platforms may be called by any name, so an address that is made of it leads anywhere."""
    async with browsing(make_site(store), base="http://evil.example") as abroad:
        there = await abroad.client.get(path)
    async with browsing(make_site(store), base=HERE) as browser:
        here = await browser.client.get(path)

    assert there.status_code in {404, 421}
    assert here.status_code == 404
    assert "location" not in {*there.headers, *here.headers}


@pytest.mark.parametrize(
    ("path", "told"),
    [("/s/the-address-of-a-page", "GET /s/…"), ("/" + "x" * 5000, "GET /" + "x" * 199)],
)
async def test_the_log_does_not_tell_what_opens_a_page(
    path: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever knows the address of a shared page may read it, so the log must not; nor is it full
    of somebody's long paths.
    """

    async def breaks(*_: object) -> None:
        raise RuntimeError("broken")

    async with browsing(RequestGuard(breaks)) as browser:
        answer = await browser.client.get(f"{path}?link=secret")

    assert answer.status_code == 500
    assert [one.getMessage() for one in caplog.records] == [f"A request failed: {told}"]
