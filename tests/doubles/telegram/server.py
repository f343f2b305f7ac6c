"""The server: the Bot API on the wire, with every way in which a wire can break."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.doubles.telegram.calls import Call, read_parameters
from tests.doubles.telegram.faults import SPEAKING, Limits, Mishap, Weather, is_among
from tests.doubles.telegram.methods import METHODS
from tests.doubles.telegram.refusals import Refusal, Wire
from tests.doubles.telegram.state import World
from tests.doubles.telegram.update_delivery import Receiving
from threadline.testing.breakable_proxy import BreakableConnection
from threadline.testing.loopback import listen


class CuttableLine(BreakableConnection):
    """A connection that can be cut by whoever knows its client."""

    lines: ClassVar[dict[Any, asyncio.Transport]] = {}

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Remember how to cut it."""
        super().connection_made(transport)
        self.lines[self.client] = transport

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self.lines.pop(self.client, None)
        super().connection_lost(exc)


class _Cut(Response):
    """An answer that never comes: the connection is cut instead."""

    def __init__(self, transport: asyncio.Transport | None) -> None:
        super().__init__()
        self._transport = transport

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._transport is not None:
            self._transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass


class Server:
    """Answers what a bot calls, and writes it down."""

    def __init__(self, world: World, token: str, limits: Limits | None) -> None:
        """Serve one bot, known by its token."""
        self._world = world
        self._token = token
        self._limits = limits
        self._lines: dict[Any, asyncio.Transport] = {}
        self.receiving = Receiving(world, self.act)
        self.weather = Weather()
        self.calls: list[Call] = []
        self.done: list[tuple[Call, object]] = []
        self._names = {name.lower(): name for name in (*METHODS, *self.receiving.methods)}

    @asynccontextmanager
    async def open(self, port: int) -> AsyncIterator[str]:
        """Be reachable on this machine; gives the URL."""
        app = Starlette(
            routes=[
                Route("/bot{token}/{method}", self._answer, methods=["GET", "POST"]),
                Route("/file/bot{token}/{path:path}", self._give, methods=["GET"]),
                Route("/{path:path}", _miss, methods=["GET", "POST"]),
            ],
            exception_handlers={Refusal: _refuse, ClientDisconnect: _miss},
        )
        line = type("OwnLine", (CuttableLine,), {"lines": self._lines})
        async with listen(app, port, connection=line) as url:
            try:
                yield url
            finally:
                await self.receiving.close()

    def act(self, call: Call) -> object:
        """Do what a call asks for, unless too much was said already."""
        if self._limits and is_among(call.method, SPEAKING):
            self._limits.spend(self._world.open_chat(call), self._world.now())
        answer = METHODS[call.method](self._world, call)
        self.done.append((call, answer))
        return answer

    async def _answer(self, request: Request) -> Response:
        """Answer one call, if the wire lets it."""
        self._check_token(request)
        name = self._names.get(request.path_params["method"].lower())
        if name is None:
            raise Refusal(404, "method not found")
        call = await self._read(request, name)
        planned = self.weather.meet(name)
        if planned and planned.refusal:
            raise planned.refusal
        if planned and planned.mishap is Mishap.HANG:
            await self._world.bell.until(lambda: self.receiving.is_closed, 3600)
        if planned and planned.mishap in (Mishap.HANG, Mishap.DROPPED):
            return self._cut(request)
        if name in self.receiving.methods:
            answer = await self.receiving.answer(call)
        else:
            answer = _write({"ok": True, "result": self.act(call)})
        if planned and planned.mishap is Mishap.SILENCED:
            return self._cut(request)
        if planned and planned.mishap is Mishap.MANGLED:
            answer = b"<html><body>502 Bad Gateway</body></html>"
        return Response(answer, media_type="application/json")

    async def _read(self, request: Request, name: str) -> Call:
        parameters, files = read_parameters(
            request.headers.get("content-type", ""), request.url.query, await request.body()
        )
        call = Call(method=name, parameters=parameters, files=files, at=self._world.now())
        self.calls.append(call)
        self._world.bell.ring()
        return call

    async def _give(self, request: Request) -> Response:
        """Give a file."""
        self._check_token(request)
        planned = self.weather.meet("file")
        if planned and planned.refusal:
            raise planned.refusal
        stored = self._world.shelf.fetch(request.path_params["path"])
        if stored is None:
            raise Refusal(404)
        if planned:
            return self._cut(request)
        return Response(stored.data, media_type="application/octet-stream")

    def _check_token(self, request: Request) -> None:
        if request.path_params["token"] != self._token:
            raise Refusal(401)

    def _cut(self, request: Request) -> Response:
        client = request.scope.get("client")
        return _Cut(self._lines.get(tuple(client) if client else None))


def _write(told: Wire) -> bytes:
    return json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")


async def _refuse(_: Request, error: Exception) -> Response:
    refusal = error if isinstance(error, Refusal) else Refusal(500)
    headers = {}
    if "retry_after" in refusal.parameters:
        headers["retry-after"] = str(refusal.parameters["retry_after"])
    return Response(_write(refusal.wire()), refusal.code, headers, media_type="application/json")


async def _miss(request: Request, _: Exception | None = None) -> Response:
    return await _refuse(request, Refusal(404))
