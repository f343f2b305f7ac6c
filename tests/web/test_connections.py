"""Connections that ask for nothing, over real sockets."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import httpx

from tests.web.test_server import FakeGateway
from threadline.testing.deadline import HANG_SECONDS
from threadline.web.connections import limited
from threadline.web.server import make_app, serve

MOST = 20
SOON = timedelta(milliseconds=300)
LATE = timedelta(minutes=5)


@asynccontextmanager
async def served(within: timedelta) -> AsyncIterator[tuple[str, int]]:
    """Serve with few connections; gives where."""
    connection = limited(MOST, within)
    async with serve(make_app(FakeGateway()), "127.0.0.1", 0, connection=connection) as url:
        found = urlsplit(url)
        yield found.hostname or "", found.port or 0


async def is_ended(reader: asyncio.StreamReader) -> bool:
    """Wait for the end of a connection."""
    async with asyncio.timeout(HANG_SECONDS):
        try:
            return await reader.read() == b""
        except ConnectionError:
            return True


async def ask(host: str, port: int) -> bytes:
    """Send a whole request as soon as the connection is there, and read the answer."""
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    async with asyncio.timeout(HANG_SECONDS):
        answer = await reader.readuntil(b"alive")
    writer.close()
    return answer


async def test_whoever_asks_for_nothing_is_hung_up_on() -> None:
    """Also who sends headers that have no end; a request after that is answered as ever."""
    async with served(SOON) as (host, port):
        silent, silent_writer = await asyncio.open_connection(host, port)
        slow, slow_writer = await asyncio.open_connection(host, port)
        slow_writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")

        assert await is_ended(silent)
        assert await is_ended(slow)

        for writer in (silent_writer, slow_writer):
            writer.close()
        assert b"200 OK" in await ask(host, port)


async def test_headers_of_a_later_request_come_in_time_too() -> None:
    """A connection that was answered once is not kept open by half a request."""
    async with served(SOON) as (host, port):
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        async with asyncio.timeout(HANG_SECONDS):
            await reader.readuntil(b"alive")
        writer.write(b"GET /healthz HTTP/1.1\r\n")

        async with asyncio.timeout(HANG_SECONDS):
            rest = await reader.read()

        assert b"HTTP/1.1" not in rest
        writer.close()


async def test_silent_connections_stand_in_nobodys_way() -> None:
    """More of them than may be open: the oldest go, and who asks for something is answered."""
    async with served(LATE) as (host, port):
        opened = [await asyncio.open_connection(host, port) for _ in range(2 * MOST)]

        async with httpx.AsyncClient(timeout=HANG_SECONDS) as client:
            answer = await client.get(f"http://{host}:{port}/healthz")

        assert answer.status_code == 200
        assert await is_ended(opened[0][0])
        for _, writer in opened:
            writer.close()
