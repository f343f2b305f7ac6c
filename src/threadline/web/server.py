"""The web server: health, metrics, platforms that are called over HTTP, and the site."""

import asyncio
import socket
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Protocol, cast

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import Receive, Scope, Send

from threadline.core.errors import ConfigError, Invalid, NotFound, StorageError, ThreadlineError
from threadline.core.gateway_status import PlatformHealth
from threadline.core.platform import Endpoint
from threadline.core.platform import Receive as EndpointReceive
from threadline.core.platform import Send as EndpointSend
from threadline.core.route import canonical_profile
from threadline.core.validation import checked_name
from threadline.gateway.background_tasks import log_failure
from threadline.web.concurrency import STRANGERS_MOST, Concurrency
from threadline.web.connections import HttpConnection, allow_files
from threadline.web.gateway_protocol import GatewayPort, HealthReport
from threadline.web.problems import allowed_methods, problem_response
from threadline.web.request_limits import BODY_LIMIT, RequestGuard
from threadline.web.signature_log import Unsigned
from threadline.web.trusted_hosts import is_neighbour

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The media type that Prometheus reads."""
GRACE = timedelta(seconds=5)
"""How long requests may go on after the server was told to stop."""


class Part(Protocol):
    """What else an application shows, and what stands before all of it."""

    def routes(self) -> list[BaseRoute]:
        """Answer what is found where."""
        ...

    def middleware(self) -> list[Middleware]:
        """Answer what every request passes."""
        ...


def make_app(
    gateway: GatewayPort,
    *,
    body_limit: int = BODY_LIMIT,
    profiles: Collection[str] | None = None,
    site: Part | None = None,
    strangers: int = STRANGERS_MOST,
) -> Starlette:
    """Make the application that serves one gateway, for some profiles or for any."""
    rooms = Mounts(gateway, profiles)
    app = Starlette(
        routes=[
            Route("/healthz", rooms.tell_alive),
            Route("/readyz", rooms.tell_ready),
            Route("/metrics", rooms.tell_metrics),
            Mount("/platforms/{platform}", app=rooms.visit),
            Mount("/p/{profile}/platforms/{platform}", app=rooms.visit),
            *(() if site is None else site.routes()),
        ],
        middleware=[
            Middleware(RequestGuard, body_limit=body_limit),
            *(() if site is None else site.middleware()),
            Middleware(Concurrency, most=strangers),
        ],
        exception_handlers={HTTPException: _tell_stray, ThreadlineError: _tell_problem},
    )
    # It would lead to whatever name a request gives us, and any name may call a platform.
    app.router.redirect_slashes = False
    return app


class Mounts:
    """What is found under each path."""

    def __init__(self, gateway: GatewayPort, profiles: Collection[str] | None = None) -> None:
        """Show one gateway, for some profiles or for any."""
        self._gateway = gateway
        self._profiles = profiles
        self._unsigned = Unsigned(self._count_unsigned)

    def _count_unsigned(self, platform: str) -> None:
        self._gateway.meters.unsigned(platform)  # the gateway behind it may change

    async def tell_alive(self, _: Request) -> Response:
        """Say that the process lives and its loop answers."""
        return JSONResponse({"status": "alive"})

    async def tell_ready(self, request: Request) -> Response:
        """Say whether messages are taken in and answered; to neighbours, how each platform is."""
        health = self._gateway.health()
        told: dict[str, object] = {"status": "ready" if health.is_ready else "not ready"}
        if is_neighbour(request.scope):
            told |= _details(health)
        return JSONResponse(told, status_code=200 if health.is_ready else 503)

    async def tell_metrics(self, request: Request) -> Response:
        """Give everything that is counted, to neighbours."""
        if not is_neighbour(request.scope):
            raise NotFound("There is nothing here")
        return PlainTextResponse(self._gateway.meters.text(), media_type=METRICS_TYPE)

    async def visit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request to the platform that it is for."""
        params = scope["path_params"]
        platform = self._gateway.platforms.get(params["platform"])
        if not isinstance(platform, Endpoint):
            raise NotFound("There is no platform at this address", id=params["platform"][:60])
        if "profile" in params:
            scope["threadline.profile"] = self._profile(params["profile"])
        answer = self._unsigned.watch(platform.name, send)
        await platform.serve(scope, cast("EndpointReceive", receive), cast("EndpointSend", answer))

    def _profile(self, written: str) -> str:
        try:
            profile = checked_name(canonical_profile(written), "profile")
        except Invalid as error:
            raise NotFound("There is no such profile", id=written[:60]) from error
        if self._profiles is not None and profile not in self._profiles:
            raise NotFound("There is no such profile", id=written[:60])
        return profile


@asynccontextmanager
async def serve(
    app: Starlette, host: str, port: int, *, connection: type[HttpConnection] = HttpConnection
) -> AsyncIterator[str]:
    """Listen for as long as this lasts; gives the URL under which it is found.

    Port 0 takes any free one. At the end no new request is taken, and those under way may end.
    """
    allow_files(connection.most)
    with _bind(host, port) as listening:
        server = _Server(_config(app, connection))
        task = asyncio.create_task(server.serve(sockets=[listening]), name="web server")
        task.add_done_callback(log_failure)
        try:
            await _until_up(server, task)
            yield _url(host, listening)
        finally:
            server.should_exit = True
            await asyncio.wait({task}, timeout=2 * GRACE.total_seconds())
            task.cancel()


async def _until_up(server: "_Server", task: asyncio.Task[None]) -> None:
    """Wait until a server is up; raise what ended it before that."""
    up = asyncio.create_task(server.is_up.wait())
    try:
        await asyncio.wait({task, up}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        up.cancel()
    if not server.is_up.is_set():
        task.result()
        raise StorageError("The web server ended before it was up", hint="Look at the log")


class _Server(uvicorn.Server):
    """A server that says when it is up, and leaves the signals to whoever started the process."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: Starlette, connection: type[HttpConnection]) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        access_log=False,  # it would write down the queries
        date_header=True,
        http=connection,
        lifespan="off",
        log_config=None,
        log_level="error",  # what is no HTTP is a warning to it, which anybody could repeat
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=int(GRACE.total_seconds()),
        timeout_keep_alive=10,
        ws="none",
    )


@contextmanager
def _bind(host: str, port: int) -> Iterator[socket.socket]:
    """Take hold of a port, or say why that cannot be done."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"{host!r} is not an address to listen on: {error.strerror}") from error
    with listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(address)
        except OSError as error:
            raise ConfigError(
                f"Cannot listen on port {port} of {host}: {error.strerror}",
                hint="Is another server running? Choose another one with --port",
            ) from error
        yield listening


def _url(host: str, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _details(health: HealthReport) -> dict[str, object]:
    platforms = {name: _told(one) for name, one in sorted(health.platforms.items())}
    places = {"total": health.places.total, "silent": health.places.silent}
    told: dict[str, object] = {
        "running": health.running,
        "places": places,
        "platforms": platforms,
    }
    return {**told, "error": health.error} if health.error else told


def _told(health: PlatformHealth) -> dict[str, object]:
    told: dict[str, object] = {"state": health.state.value, "since": health.since.isoformat()}
    return {**told, "error": health.error} if health.error else told


async def _tell_problem(_: Request, error: Exception) -> Response:
    """Tell an error of our family."""
    return problem_response(error if isinstance(error, ThreadlineError) else ThreadlineError())


async def _tell_stray(request: Request, error: Exception) -> Response:
    """Tell in our words what Starlette found: no such path, or not with this method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    if status == 404:
        return problem_response(NotFound("There is nothing here"))
    if status == 405:
        headers = allowed_methods(request.app.routes, request.scope)
    return problem_response(Invalid("Method not allowed"), status, headers=headers)
