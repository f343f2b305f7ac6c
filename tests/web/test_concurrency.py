"""Many slow requests at once: the slowest are dropped, and health checks go on."""

import asyncio
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Mount
from starlette.types import Message, Receive, Scope, Send

from tests.databases import FAST, on
from tests.web.browser import NO_SCREENS, make_token, public, settings
from tests.web.test_server import FakeGateway, Odd
from threadline.core.account import TokenScope
from threadline.core.platform import KNOWN_CALLER
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS
from threadline.web.app import WebApp
from threadline.web.concurrency import Concurrency
from threadline.web.connections import HEADERS_WITHIN, limited
from threadline.web.request_limits import RequestGuard
from threadline.web.server import make_app, serve
from threadline.web.trusted_hosts import Hosts

SOCKETS, CONNECTIONS, STRANGERS = 400, 300, 100
Opened = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def begin(url: str, path: str, *headers: str) -> Opened:
    """Open a connection, and send the beginning of a request whose body does not end."""
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    head = [f"POST {path} HTTP/1.1", f"Host: {where.netloc}", "Content-Length: 1000"]
    head += ["Content-Type: application/json", *headers, "", "{"]
    writer.write("\r\n".join(head).encode())
    return reader, writer


async def status(reader: asyncio.StreamReader) -> bytes:
    """Read the status of an answer; nothing where the connection was ended."""
    async with asyncio.timeout(HANG_SECONDS):
        try:
            return (await reader.readline())[9:12]
        except ConnectionError:
            return b""


@on(FAST)
@pytest.mark.parametrize("path", ["/platforms/odd/reads", "/api/login/password"])
async def test_health_checks_go_on_beside_many_slow_bodies(store: Store, path: str) -> None:
    """More requests that never end than connections: the oldest are dropped, health is answered.

    5,000 such requests of one caller took all connections, and no health check came through.
    """
    gateway = FakeGateway(Odd("odd"))
    site = WebApp(gateway, store, settings(), screens=NO_SCREENS)
    app = make_app(gateway, site=site, strangers=STRANGERS)
    connection = limited(CONNECTIONS, HEADERS_WITHIN)
    async with (
        serve(app, "127.0.0.1", 0, connection=connection) as url,
        httpx.AsyncClient(base_url=url, timeout=HANG_SECONDS, trust_env=False) as client,
    ):
        await client.get("/api/nothing")  # the first request loads the API
        opened = [await begin(url, path) for _ in range(SOCKETS)]
        health = [(await client.get(one)).status_code for one in ("/healthz", "/readyz")]
        first = await status(opened[0][0])
        last = asyncio.create_task(status(opened[-1][0]))
        await client.get("/healthz")

        assert health == [200, 200]
        assert first in {b"408", b""}
        assert not last.done()
        for _, writer in opened:
            writer.close()
        await last
    site.close()


class Under:
    """Requests whose bodies never end, each with its answer."""

    def __init__(self, *, per_address: int, most: int) -> None:
        middleware = [
            Middleware(RequestGuard),
            Middleware(Hosts, server=public().server),
            Middleware(Concurrency, per_address=per_address, most=most),
        ]
        self._app = Starlette(routes=[Mount("/platforms", app=self._read)], middleware=middleware)
        self._tasks: list[asyncio.Task[int | None]] = []

    async def begin(self, address: str, *, is_known: bool = False, has_body: bool = True) -> None:
        """Begin a request that a trusted proxy reports from an address, until it is handled."""
        begun = asyncio.Event()
        self._tasks.append(asyncio.create_task(self._ask(address, is_known, has_body, begun)))
        await begun.wait()

    async def dropped(self, count: int) -> list[int]:
        """Wait until some requests were dropped; answer which ones."""
        async with asyncio.timeout(HANG_SECONDS):
            while sum(task.done() for task in self._tasks) < count:
                await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
                await asyncio.sleep(0)
        assert {task.result() for task in self._tasks if task.done()} <= {408}
        return [number for number, task in enumerate(self._tasks) if task.done()]

    async def close(self) -> None:
        """End all requests."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _ask(
        self, address: str, is_known: bool, has_body: bool, begun: asyncio.Event
    ) -> int | None:
        sent: list[Message] = []
        has_read = False

        async def receive() -> Message:
            nonlocal has_read
            if has_body and not has_read:
                has_read = True
                return {"type": "http.request", "body": b"{}", "more_body": False}
            begun.set()
            await asyncio.Event().wait()
            raise AssertionError

        async def send(message: Message) -> None:
            sent.append(message)

        scope: Scope = {
            "type": "http",
            "method": "POST",
            "path": "/platforms/x",
            "root_path": "",
            "query_string": b"",
            "scheme": "https",
            "client": ("10.0.0.1", 1),
            "headers": [(b"x-forwarded-for", address.encode())],
        }
        if is_known:
            scope[KNOWN_CALLER] = True
        await self._app(scope, receive, send)
        return sent[0]["status"] if sent else None

    async def _read(self, scope: Scope, receive: Receive, send: Send) -> None:
        while True:
            await receive()


async def test_each_address_has_a_limit_of_its_own() -> None:
    """Behind one proxy, the requests of one address are dropped, and no one else's."""
    under = Under(per_address=2, most=100)
    await under.begin("198.51.100.1", has_body=False)
    for _ in range(3):
        await under.begin("192.0.2.7", has_body=False)
    await under.begin("198.51.100.1", has_body=False)

    assert await under.dropped(1) == [1]
    await under.close()


async def test_the_slowest_of_all_is_dropped_first() -> None:
    """That is the oldest one whose body has not come, before those that are being handled."""
    under = Under(per_address=100, most=3)
    await under.begin("192.0.2.1")
    await under.begin("192.0.2.2", has_body=False)
    await under.begin("192.0.2.3", has_body=False)
    await under.begin("192.0.2.4")
    first = await under.dropped(1)
    await under.begin("192.0.2.5")
    await under.begin("192.0.2.6")

    assert (first, await under.dropped(3)) == ([1], [0, 1, 2])
    await under.close()


async def test_known_callers_are_not_counted() -> None:
    """Whoever has shown a right secret is not dropped, and takes no place of others."""
    under = Under(per_address=1, most=2)
    for _ in range(5):
        await under.begin("192.0.2.1", is_known=True)
    await under.begin("192.0.2.1", has_body=False)
    await under.begin("192.0.2.1", has_body=False)

    assert await under.dropped(1) == [5]
    await under.close()


@on(FAST)
async def test_a_login_makes_a_caller_known(store: Store) -> None:
    """Followers of the feed and uploads with a token stay, however many strangers come."""
    gateway = FakeGateway(Odd("odd"))
    site = WebApp(gateway, store, settings(), screens=NO_SCREENS)
    token = await make_token(store, TokenScope.READ, TokenScope.WRITE)
    shown = f"Authorization: {token['Authorization']}"
    async with (
        serve(make_app(gateway, site=site, strangers=3), "127.0.0.1", 0) as url,
        httpx.AsyncClient(base_url=url, timeout=HANG_SECONDS, trust_env=False) as client,
    ):
        await client.get("/api/nothing")
        async with client.stream("GET", "/api/feed", headers=token) as feed:
            follower = feed.aiter_bytes()
            await anext(follower)
            upload, upload_writer = await begin(url, "/api/attachments", shown)
            await client.get("/api/me", headers=token)
            strangers = [await begin(url, "/platforms/odd/reads") for _ in range(8)]
            dropped = [await status(reader) for reader, _ in strangers[:5]]
            upload_writer.write(b" " * 999)
            uploaded = await status(upload)

            assert feed.status_code == 200
            assert dropped == [b"408"] * 5
            assert uploaded == b"201"
            for writer in (upload_writer, *(one for _, one in strangers)):
                writer.close()
        site.close()
