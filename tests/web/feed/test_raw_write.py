"""The short way: what all are told goes straight to their connections, and nothing is overtaken."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from datetime import timedelta
from urllib.parse import urlsplit

import h11
import pytest

from tests.databases import OpenStore
from tests.web.feed.feed_scenario import Hall, make_token
from tests.web.feed.test_follower import HERE, follower
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.web.feed.follower import BACKLOG, FeedFollower, SharedFrame
from threadline.web.raw_writer import RawWriter

LONG = timedelta(days=1)


@pytest.fixture
async def hall(open_store: OpenStore) -> AsyncIterator[Hall]:
    """Open a hall."""
    async with GatewayScenario(open_store) as house, Hall(house) as hall:
        yield hall


class Tap(RawWriter):
    """A pipe that keeps what is pushed, or takes nothing."""

    def __init__(self, *, is_free: bool = True) -> None:
        self.pushed = b""
        self._is_free = is_free

    def push(self, chunk: bytes) -> bool:
        """Keep a chunk."""
        if self._is_free:
            self.pushed += chunk
        return self._is_free


async def waiting(one: FeedFollower) -> asyncio.Task[None]:
    """Let a stream wait for something to send."""
    task = asyncio.create_task(one.wait(LONG))
    await asyncio.sleep(0)
    return task


async def test_a_piece_goes_straight_to_whoever_waits() -> None:
    """It is sent as one chunk, and the stream need not be woken."""
    one, tap, piece = follower(), Tap(), SharedFrame(b"news")
    one.pipe = tap
    stream = await waiting(one)
    one.put(piece.frames)
    one.hurry(piece)
    await asyncio.sleep(0)

    assert (tap.pushed, one.waiting, stream.done()) == (b"4\r\nnews\r\n", 0, False)
    one.end("shutdown")
    await stream


@pytest.mark.parametrize("what", ["no pipe", "a full pipe", "busy", "more before", "over"])
async def test_a_piece_waits_for_its_turn(what: str) -> None:
    """Where something else is to be sent first, or nothing can be, it stays in the line."""
    one, tap, piece = follower(), Tap(is_free=what != "a full pipe"), SharedFrame(b"news")
    one.pipe = None if what == "no pipe" else tap
    stream = None if what == "busy" else await waiting(one)
    if what == "more before":
        one.put(b"old ")
    elif what == "over":
        one.end("shutdown")
    one.put(piece.frames)
    one.hurry(piece)
    if stream is not None:
        await stream

    before, after = (b"old " * (what == "more before"), b"event: bye" * (what == "over"))
    assert tap.pushed == b""
    assert one.take(HERE).startswith(before + b"news" + after)


async def connect(hall: Hall, version: str = "1.1") -> socket.socket:
    """Follow as the owner, with a connection that holds little and is not read from."""
    token = await make_token(hall.house.store, hall.owner_account)
    at, loop = urlsplit(hall.url), asyncio.get_running_loop()
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.setblocking(False)
    await loop.sock_connect(one, (at.hostname, at.port))
    head = f"GET /api/feed HTTP/{version}\r\nHost: {at.netloc}\r\nAuthorization: Bearer {token}\r\n"
    await loop.sock_sendall(one, f"{head}\r\n".encode())
    return one


async def read_until(one: socket.socket, what: bytes) -> bytes:
    """Read the body of an answer as far as something stands in it."""
    loop, client, body = asyncio.get_running_loop(), h11.Connection(h11.CLIENT), b""
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "here")]))
    client.send(h11.EndOfMessage())
    async with asyncio.timeout(HANG_SECONDS):
        while what not in body:
            event = client.next_event()
            if event is h11.NEED_DATA:
                client.receive_data(await loop.sock_recv(one, 1 << 16))
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
    return body


async def test_somebody_slow_hears_everything_in_order(hall: Hall) -> None:
    """What their connection does not take waits, and comes after what it took."""
    one = await connect(hall)
    await hall.house.until(lambda: len(hall.feed.followers) == 1, "somebody follows")
    (slow,) = hall.feed.followers
    hello = SharedFrame(b": hello\n\n")
    slow.put(hello.frames)
    slow.hurry(hello)
    await hall.house.until(lambda: not slow.waiting, "the stream is under way")
    told = waited = 0
    while waited < 5:
        piece = SharedFrame(b"told: %d %b\n\n" % (told, b"x" * 50_000))
        slow.put(piece.frames)
        slow.hurry(piece)
        await asyncio.sleep(0)
        told, waited = told + 1, waited + (slow.waiting > 0)
    assert slow.waiting < BACKLOG
    last = SharedFrame(b"the end\n\n")
    slow.put(last.frames)
    slow.hurry(last)

    body = await read_until(one, b"the end")
    one.close()

    lines = [line.split()[1] for line in body.split(b"\n") if line.startswith(b"told: ")]
    assert lines == [b"%d" % n for n in range(told)]
    assert told > 5, "nothing went at once"
    await hall.house.until(lambda: not hall.feed.followers, "they are gone")


async def test_old_callers_hear_the_same(hall: Hall) -> None:
    """Who asks with HTTP 1.0 gets no chunks, and misses nothing."""
    one = await connect(hall, "1.0")
    snapshot = await read_until(one, b"event: snapshot")
    await hall.house.guest("Alice").says("hello")
    told = await read_until_plain(one, b"turn.done")
    one.close()

    assert b"event: snapshot" in snapshot
    assert b"\r\n" not in told
    assert told.count(b"event: event\n") >= 5


async def read_until_plain(one: socket.socket, what: bytes) -> bytes:
    """Read what comes, as it comes, until something stands in it."""
    loop, read = asyncio.get_running_loop(), b""
    async with asyncio.timeout(HANG_SECONDS):
        while what not in read:
            read += await loop.sock_recv(one, 1 << 16)
    return read


async def test_somebody_who_takes_nothing_is_cut_off(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """After a while their connection ends, though not all was sent, and nobody is alarmed."""
    one = await connect(hall)
    await hall.house.until(lambda: len(hall.feed.followers) == 1, "somebody follows")
    (stuck,) = hall.feed.followers
    monkeypatch.setattr("threadline.web.feed.sse_stream.STUCK", timedelta(milliseconds=50))
    piece = SharedFrame(b": " + b"x" * 500_000 + b"\n\n")

    def press() -> bool:
        if not stuck.waiting:
            stuck.put(piece.frames)
            stuck.hurry(piece)
        return not hall.feed.followers

    await hall.house.until(press, "they are cut off")

    loop, read = asyncio.get_running_loop(), b""
    with one:
        while more := await loop.sock_recv(one, 1 << 16):
            read = read[-10:] + more
    assert not read.endswith(b"\n\n\r\n"), "what nobody took was held until they did"
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
