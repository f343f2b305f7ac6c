"""Bodies that come too slowly, over real sockets: whoever sends them is told so, and cut off."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount

from tests.databases import FAST, on
from tests.web.browser import make_token, settings
from tests.web.test_server import FakeGateway
from threadline.core.account import TokenScope
from threadline.sessions.store import Store
from threadline.web.api.app import make_api
from threadline.web.guard import Guard
from threadline.web.server import serve

SHORT, LONG = timedelta(milliseconds=300), timedelta(minutes=5)
PAUSE = 0.01
"""Seconds between two bytes."""


@asynccontextmanager
async def calling(
    store: Store, path: str, kind: str, *, request_time: timedelta, body_time: timedelta
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Begin a request with a body of which nothing has come yet."""
    shown = await make_token(store, TokenScope.READ, TokenScope.WRITE)
    api = make_api(FakeGateway(), store, settings())
    guard = Middleware(Guard, request_time=request_time, body_time=body_time)
    app = Starlette(routes=[Mount("/api", app=api)], middleware=[guard])
    async with serve(app, "127.0.0.1", 0) as url:
        where = urlsplit(url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        head = [f"POST {path} HTTP/1.1", f"Host: {where.netloc}", f"Content-Type: {kind}"]
        head += [*(f"{name}: {value}" for name, value in shown.items()), "Content-Length: 9000"]
        writer.write("\r\n".join([*head, "", ""]).encode())
        try:
            yield reader, writer
        finally:
            writer.close()
            api.state.feed.close()


async def dribble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Send a byte at a time until an answer comes; read that to the end of the connection."""
    async with asyncio.timeout(20):
        while True:
            writer.write(b" ")
            try:
                async with asyncio.timeout(PAUSE):
                    begun = await reader.readexactly(1)
            except TimeoutError:
                continue
            return begun + await reader.read()


@on(FAST)
@pytest.mark.parametrize(
    ("path", "kind"),
    [("/api/sessions", "application/json"), ("/api/attachments", "text/plain")],
)
async def test_a_body_that_dribbles_is_cut_off(store: Store, path: str, kind: str) -> None:
    """Each byte comes in time, and all of them together would take for ever."""
    async with calling(store, path, kind, request_time=SHORT, body_time=LONG) as (reader, writer):
        answer = await dribble(reader, writer)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"application/problem+json" in answer
    assert b"took too long" in answer


@on(FAST)
@pytest.mark.parametrize(
    ("path", "kind"),
    [("/api/sessions", "application/json"), ("/api/attachments", "text/plain")],
)
async def test_a_body_that_stops_is_cut_off(store: Store, path: str, kind: str) -> None:
    """Nothing more comes, and nobody waits for long."""
    async with calling(store, path, kind, request_time=LONG, body_time=SHORT) as (reader, writer):
        writer.write(b"{")
        async with asyncio.timeout(20):
            answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 408 ")
