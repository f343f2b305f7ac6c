import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NoReturn

import httpx
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from tests.platforms.webhook_caller import SECRET, settings
from threadline.core.errors import ConfigError
from threadline.core.gateway_status import PlatformHealth, PlatformState, TurnCapacity
from threadline.core.platform import Platform, Receive, Scope, Send
from threadline.platforms.simulated import Simulated
from threadline.platforms.webhook import Webhook, sign
from threadline.testing.clock import A_MONDAY
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.fake_gate import RecordingGate
from threadline.web.problems import TooOften
from threadline.web.request_limits import RequestGuard
from threadline.web.server import make_app, serve
from threadline.web.signature_log import Unsigned


@dataclass
class Health:
    """How the gateway is."""

    is_ready: bool = True
    running: int = 0
    places: TurnCapacity = TurnCapacity()
    platforms: Mapping[str, PlatformHealth] = field(default_factory=dict)
    error: str | None = None


class Meters:
    """A gateway's meters."""

    def __init__(self) -> None:
        self.turned_away: list[str] = []

    def text(self) -> bytes:
        return b"threadline_turns_total 7\n"

    def unsigned(self, platform: str) -> None:
        self.turned_away.append(platform)


class Odd(Simulated):
    """A platform over HTTP that breaks in its own way."""

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        match str(scope["path"]).rpartition("/")[2]:
            case "breaks":
                raise RuntimeError("secret details")
            case "reads":
                while (await receive())["more_body"]:
                    pass
            case _:
                await asyncio.Event().wait()


class FakeGateway:
    """As much of a gateway as the web server knows."""

    def __init__(self, *platforms: Platform) -> None:
        self.platforms = {platform.name: platform for platform in platforms}
        self.meters = Meters()
        self.now = Health()

    def health(self) -> Health:
        return self.now


@asynccontextmanager
async def server(gateway: FakeGateway) -> AsyncIterator[httpx.AsyncClient]:
    """Serve on a free port of this machine."""
    async with (
        serve(make_app(gateway, body_limit=100_000), "127.0.0.1", 0) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=HANG_SECONDS) as client,
    ):
        yield client


async def test_a_server_that_cannot_start_is_no_silence(caplog: pytest.LogCaptureFixture) -> None:
    """What breaks it before it is up is raised and logged; nobody waits for ever."""

    class Unable(Starlette):
        def __call__(self, *scope: object) -> NoReturn:
            raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        async with asyncio.timeout(HANG_SECONDS), serve(Unable(), "127.0.0.1", 0):
            pass

    assert "web server failed" in caplog.text


async def test_a_living_process_says_so() -> None:
    """Health needs no readiness: the loop answers."""
    gateway = FakeGateway()
    gateway.now = Health(is_ready=False)
    async with server(gateway) as client:
        response = await client.get("/healthz")

    assert (response.status_code, response.json()) == (200, {"status": "alive"})


async def test_readiness_names_every_platform() -> None:
    """Who is up, who is down and why; what is broken makes it a 503."""
    gateway = FakeGateway()
    down = PlatformHealth(state=PlatformState.DOWN, since=A_MONDAY, error="No route")
    async with server(gateway) as client:
        gateway.now = Health(
            running=3,
            places=TurnCapacity(total=32, taken=3, silent=2),
            platforms={"telegram": down},
        )
        ready = await client.get("/readyz")
        gateway.now = Health(is_ready=False, error="The outbox broke")
        broken = await client.get("/readyz")

    assert ready.status_code == 200
    assert ready.json() == {
        "status": "ready",
        "running": 3,
        "places": {"total": 32, "silent": 2},
        "platforms": {
            "telegram": {"state": "down", "since": A_MONDAY.isoformat(), "error": "No route"}
        },
    }
    assert (broken.status_code, broken.json()["error"]) == (503, "The outbox broke")


async def test_metrics_are_served() -> None:
    """Prometheus finds its text, with its media type."""
    async with server(FakeGateway()) as client:
        response = await client.get("/metrics")

    assert response.text == "threadline_turns_total 7\n"
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")


@pytest.mark.parametrize(
    ("prefix", "profile"), [("", "main"), ("/p/work", "work"), ("/p/default", "main")]
)
async def test_a_platform_is_found_below_its_name(prefix: str, profile: str) -> None:
    """A webhook is called under its name, and under a profile's prefix."""
    webhook, gate = Webhook("hook", settings()), RecordingGate()
    said = {"message_id": "1", "session": "s", "text": "hello", "profile": profile}
    body = json.dumps(said).encode()
    url = f"{prefix}/platforms/hook/messages"
    running = asyncio.create_task(webhook.run(gate))
    async with server(FakeGateway(webhook)) as client:
        now = webhook._clock()
        first = await client.post(url, content=body, headers=sign(SECRET, body, now))
        ask = first.json()["ask"]
        ticket = ask.rpartition("/")[2].encode()
        second = await client.get(ask, headers=sign(SECRET, ticket, now))
    running.cancel()
    await asyncio.wait({running})

    assert (first.status_code, second.status_code) == (202, 202)
    assert ask.startswith(f"{url}/1-")
    assert gate.taken[0].profile == profile


async def test_only_known_profiles_are_called() -> None:
    """A profile that the settings do not name is not there, however it is called."""
    webhook = Webhook("hook", settings())
    app = make_app(FakeGateway(webhook), profiles={"main", "work"})
    async with (
        serve(app, "127.0.0.1", 0) as url,
        httpx.AsyncClient(base_url=url, timeout=HANG_SECONDS) as client,
    ):
        found = {
            name: (await client.post(f"/p/{name}/platforms/hook/messages")).status_code
            for name in ("work", "default", "other", "a b")
        }

    assert found["other"] == found["a b"] == 404
    assert 404 not in (found["work"], found["default"])


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/platforms",
        "/platforms/telegram/messages",
        "/platforms/nobody/messages",
        "/p/UPPER CASE/platforms/odd/x",
        "/p/%2e%2e/platforms/odd/x",
    ],
)
async def test_what_is_not_there_is_a_problem(path: str) -> None:
    """Other paths, platforms without a door and odd profiles are not found."""
    async with server(FakeGateway(Simulated("telegram"), Odd("odd"))) as client:
        response = await client.get(path)

    assert response.status_code == 404
    assert response.headers["content-type"] == "application/problem+json"


async def test_a_problem_tells_all_that_it_knows() -> None:
    """Outside of the API what it is about and what to do were lost in one sentence, and when to
    come again was not told at all.
    """

    class Busy:
        """A site on which everything is asked too often."""

        def routes(self) -> list[BaseRoute]:
            return [Route("/busy", self.refuse)]

        def middleware(self) -> list[Middleware]:
            return []

        async def refuse(self, _: Request) -> Response:
            raise TooOften("Not now", after=timedelta(seconds=7))

    app = make_app(FakeGateway(), site=Busy())
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        busy, nobody = [await client.get(path) for path in ("/busy", "/platforms/nobody/x")]

    assert (busy.status_code, busy.headers["retry-after"]) == (429, "7")
    assert busy.json()["hint"] == "Wait for as long as Retry-After says"
    assert nobody.json() == {
        "type": "about:blank",
        "title": "NotFound",
        "status": 404,
        "detail": "There is no platform at this address",
        "id": "nobody",
    }


async def test_a_platform_that_breaks_harms_nobody() -> None:
    """Its failure is an answer without details, and the next request is served."""
    async with server(FakeGateway(Odd("odd"))) as client:
        broken = await client.get("/platforms/odd/breaks")
        wrong = await client.post("/healthz")
        alive = await client.get("/healthz")

    assert (broken.status_code, wrong.status_code, alive.status_code) == (500, 405, 200)
    assert wrong.headers["allow"] == "GET, HEAD"
    assert "secret" not in broken.text
    assert wrong.headers["allow"]


async def test_every_answer_has_safe_headers() -> None:
    """Nothing is cached, framed, guessed or run, in good answers and in bad ones."""
    async with server(FakeGateway(Odd("odd"))) as client:
        responses = [
            await client.get(path) for path in ("/healthz", "/nowhere", "/platforms/odd/breaks")
        ]

    for response in responses:
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["content-security-policy"].startswith("default-src 'none'")
        assert response.headers["cache-control"] == "no-store"
        assert "server" not in response.headers


@pytest.mark.parametrize("is_told", [True, False])
async def test_a_large_request_is_refused(is_told: bool) -> None:
    """Whether its length is told beforehand or found out, too much is too much."""

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(11):
            yield b"x" * 10_000

    content = b"x" * 110_000 if is_told else pieces()
    async with server(FakeGateway(Odd("odd"))) as client:
        response = await client.post("/platforms/odd/reads", content=content)

    assert response.status_code == 413


async def test_a_request_that_takes_too_long_is_ended() -> None:
    """Nobody holds a connection for ever."""
    app = make_app(FakeGateway(Odd("odd")))
    guarded = RequestGuard(app, request_time=Odd("odd").capabilities.edit_every / 20)
    transport = httpx.ASGITransport(app=guarded)
    async with httpx.AsyncClient(transport=transport, base_url="http://local") as client:
        response = await client.get("/platforms/odd/hangs")

    assert response.status_code == 408


async def test_a_port_that_is_taken_is_named() -> None:
    """Whoever starts a second server learns which port is in use."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} "):
            async with serve(make_app(FakeGateway()), "127.0.0.1", port):
                pass


async def test_a_request_under_way_may_end() -> None:
    """When the server stops, what was begun is answered."""
    webhook, gate = Webhook("hook", settings()), RecordingGate()
    gate.close()
    body = json.dumps({"message_id": "1", "session": "s", "text": "hello"}).encode()
    running = asyncio.create_task(webhook.run(gate))
    async with httpx.AsyncClient(trust_env=False, timeout=HANG_SECONDS) as client:
        async with serve(make_app(FakeGateway(webhook)), "127.0.0.1", 0) as url:
            headers = sign(SECRET, body, webhook._clock())
            asking = asyncio.create_task(
                client.post(f"{url}/platforms/hook/messages", content=body, headers=headers)
            )
            await gate.until(seen=1)
            asyncio.get_running_loop().call_later(0.05, gate.open)
        response = await asking
    running.cancel()
    await asyncio.wait({running})

    assert response.status_code == 202


async def test_unsigned_requests_are_counted_and_told_now_and_then(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Each is counted; the log tells of the first, and after a minute how many there were."""
    webhook, gateway = Webhook("hook", settings()), FakeGateway()
    gateway.platforms = {"hook": webhook}
    async with server(gateway) as client:
        for _ in range(3):
            headers = sign("another secret of theirs", b"{}", webhook._clock())
            response = await client.post("/platforms/hook/messages", content=b"{}", headers=headers)
            assert response.status_code == 401

    assert gateway.meters.turned_away == ["hook"] * 3
    (line,) = [one for one in caplog.records if one.name == "threadline.web"]
    assert (line.levelname, line.getMessage()) == (
        "WARNING",
        "A request to hook was not rightly signed",
    )


async def test_the_log_tells_again_after_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    """With how many were left out meanwhile; each platform counts for itself."""
    moments = iter([0.0, 10.0, 20.0, 30.0, 61.0])
    unsigned = Unsigned(lambda _: None, lambda: next(moments))

    async def nowhere(_: object) -> None:
        """Answer nobody."""

    for name in ("one", "one", "one", "two", "one"):
        await unsigned.watch(name, nowhere)({"type": "http.response.start", "status": 401})
        await unsigned.watch(name, nowhere)({"type": "http.response.start", "status": 200})

    assert [one.getMessage() for one in caplog.records] == [
        "A request to one was not rightly signed",
        "A request to two was not rightly signed",
        "A request to one was not rightly signed, as were 2 before it",
    ]
