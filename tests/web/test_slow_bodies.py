"""Bodies that come or go slowly, over real sockets: a file takes its time, and no dawdler does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import Message, Receive, Scope, Send

from tests.databases import FAST, on
from tests.web.browser import HERE, make_token, settings
from tests.web.test_server import FakeGateway
from threadline.core.account import TokenScope
from threadline.core.message import MediaKind
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS
from threadline.web.connections import HttpConnection
from threadline.web.content_disposition import PIECE
from threadline.web.request_limits import ANSWER_PIECE, RequestGuard
from threadline.web.resources.app import make_api
from threadline.web.server import serve
from threadline.web.upload_tokens import write_ticket

SHORT, LONG = timedelta(milliseconds=300), timedelta(minutes=5)
PAUSE = 0.01
"""Seconds between two bytes."""


async def open_api(store: Store) -> FastAPI:
    """Make the API, and ask it once: its first answer takes longer than all others."""
    api = make_api(FakeGateway(), store, settings())
    transport = httpx.ASGITransport(app=api)
    async with httpx.AsyncClient(transport=transport, base_url=HERE, trust_env=False) as client:
        await client.get("/nothing")
    return api


@asynccontextmanager
async def calling(
    store: Store,
    path: str,
    kind: str,
    *,
    request_time: timedelta,
    body_time: timedelta,
    stranger_time: timedelta = LONG,
    is_known: bool = True,
    length: int = 9000,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Begin a request with a body of which nothing has come yet."""
    scopes = (TokenScope.READ, TokenScope.WRITE)
    shown = await make_token(store, *scopes) if is_known else {}
    api = await open_api(store)
    guard = Middleware(
        RequestGuard, request_time=request_time, body_time=body_time, stranger_time=stranger_time
    )
    app = Starlette(routes=[Mount("/api", app=api)], middleware=[guard])
    async with serve(app, "127.0.0.1", 0) as url:
        where = urlsplit(url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        head = [f"POST {path} HTTP/1.1", f"Host: {where.netloc}", f"Content-Type: {kind}"]
        head += [
            *(f"{name}: {value}" for name, value in shown.items()),
            f"Content-Length: {length}",
        ]
        writer.write("\r\n".join([*head, "", ""]).encode())
        try:
            yield reader, writer
        finally:
            writer.close()
            api.state.feed.close()


async def dribble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Send a byte at a time until an answer comes; read that to the end of the connection."""
    async with asyncio.timeout(HANG_SECONDS):
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
        async with asyncio.timeout(HANG_SECONDS):
            answer = await reader.read()

    assert answer.startswith(b"HTTP/1.1 408 ")


@on(FAST)
@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/login/password", b"408"),
        ("/api/sessions", b"401"),  # refused before its body is read
        ("/api/login/passkey", b"409"),
    ],
)
async def test_the_whole_body_of_an_unknown_caller_has_a_deadline(
    store: Store, path: str, status: bytes
) -> None:
    """Each byte comes in time, and a caller without a login has only a short time for all."""
    async with calling(
        store,
        path,
        "application/json",
        request_time=LONG,
        body_time=LONG,
        stranger_time=SHORT,
        is_known=False,
    ) as (reader, writer):
        answer = await dribble(reader, writer)

    assert answer.startswith(b"HTTP/1.1 " + status)


@on(FAST)
async def test_a_file_on_a_slow_line_arrives(store: Store) -> None:
    """On the line of a phone a file took longer than a request may, and was refused."""
    pieces, span = 8, timedelta(seconds=4)
    async with calling(
        store,
        "/api/attachments",
        "text/plain",
        request_time=span,
        body_time=span,
        stranger_time=SHORT,
        length=pieces * PIECE,
    ) as (reader, writer):
        for _ in range(pieces):
            writer.write(b"x" * PIECE)
            await writer.drain()
            await asyncio.sleep(span.total_seconds() / 7)
        async with asyncio.timeout(HANG_SECONDS):
            head = await reader.readuntil(b"\r\n")

    assert head.startswith(b"HTTP/1.1 201 ")


@on(FAST)
async def test_a_file_is_sent_on_a_slow_line(store: Store) -> None:
    """It ended in the middle; now each piece may take as long as a request."""
    file = await store.attachments.put(b"x" * 6 * PIECE, "text/plain", MediaKind.FILE)
    owner = await store.owner_account()
    ticket = write_ticket(await store.seal(), file, owner.key, store.now())
    shown = await make_token(store, TokenScope.READ)
    api = await open_api(store)
    span = timedelta(seconds=2)
    app = RequestGuard(Starlette(routes=[Mount("/api", app=api)]), request_time=span)
    sent: list[Message] = []

    async def send(message: Message) -> None:
        await asyncio.sleep(span.total_seconds() / 5)
        sent.append(message)

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    headers = [(name.lower().encode(), value.encode()) for name, value in shown.items()]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": f"/api/attachments/{file.blob}",
        "root_path": "",
        "query_string": f"ticket={ticket}".encode(),
        "headers": [(b"host", b"localhost"), *headers],
    }
    await app(scope, receive, send)
    api.state.feed.close()

    assert sent[0]["status"] == 200
    assert sum(len(one.get("body", b"")) for one in sent) == 6 * PIECE
    assert not sent[-1]["more_body"]


async def test_who_takes_nothing_is_let_go() -> None:
    """An answer that nobody takes ends, and with it the connection, which nobody would end well."""

    class Watched(HttpConnection):
        lost = asyncio.Event()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self.lost.set()

    async def pour(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while True:
            await send({"type": "http.response.body", "body": b"x" * PIECE, "more_body": True})

    app = Starlette(
        routes=[Mount("/", app=pour)], middleware=[Middleware(RequestGuard, request_time=SHORT)]
    )
    async with serve(app, "127.0.0.1", 0, connection=Watched) as url:
        where = urlsplit(url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port, limit=1)
        writer.write(f"GET / HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
        await reader.readexactly(1)
        async with asyncio.timeout(HANG_SECONDS):
            await Watched.lost.wait()
        writer.close()


async def test_who_takes_nothing_of_a_later_answer_is_let_go() -> None:
    """Also a request that came together with the one before is ended, and so is its connection."""

    class Watched(HttpConnection):
        lost = asyncio.Event()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self.lost.set()

    async def pour(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while scope["path"] == "/endless":
            await send({"type": "http.response.body", "body": b"x" * PIECE, "more_body": True})
        await send({"type": "http.response.body", "body": b"x"})

    app = Starlette(
        routes=[Mount("/", app=pour)], middleware=[Middleware(RequestGuard, request_time=SHORT)]
    )
    async with serve(app, "127.0.0.1", 0, connection=Watched) as url:
        where = urlsplit(url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port, limit=1)
        first, second = (f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in ("/", "/endless"))
        writer.write((first + second).encode())
        await reader.readexactly(1)
        async with asyncio.timeout(HANG_SECONDS):
            await Watched.lost.wait()
        writer.close()


async def test_a_long_answer_waits_piece_by_piece() -> None:
    """Of an answer that nobody takes, only a piece is handed to the connection."""
    body = bytes(range(256)) * 1000
    sent: list[Message] = []
    is_taken = asyncio.Event()

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def send(message: Message) -> None:
        sent.append(message)
        if message.get("body"):
            await is_taken.wait()

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    scope = {"type": "http", "method": "GET", "scheme": "http", "path": "/", "headers": []}
    async with asyncio.TaskGroup() as group:
        group.create_task(RequestGuard(answer)(scope, receive, send))
        while len(sent) < 2:
            await asyncio.sleep(0)
        assert sent[1] == {
            "type": "http.response.body",
            "body": body[:ANSWER_PIECE],
            "more_body": True,
        }
        is_taken.set()

    assert b"".join(one.get("body", b"") for one in sent) == body
    assert [one.get("more_body", False) for one in sent[1:]] == [True, True, True, False]
