"""Somebody who calls a webhook: signs, posts until it is taken, and receives callbacks."""

import asyncio
import json
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx

from threadline.core.address import Address, Kind
from threadline.platforms.webhook import Webhook, WebhookSettings, sign
from threadline.platforms.webhook.endpoint import WebhookEndpoint
from threadline.testing.fake_gate import RecordingGate
from threadline.testing.platform_harness import Fault, PlatformHarness

SECRET = "a secret for tests only"
CALLBACK = "https://callback.example/answers"
ROOT = "/platforms/hook"
URL = f"{ROOT}/messages"

HELLO: dict[str, object] = {
    "message_id": "m1",
    "session": "order 66",
    "text": "hello",
    "sender": {"id": "shop"},
}


def settings(**given: object) -> WebhookSettings:
    return WebhookSettings.model_validate({"secret": SECRET, **given})


class Caller:
    """An HTTP client without a network in between."""

    def __init__(
        self, webhook: Webhook, *, secret: str = SECRET, profile: str | None = None
    ) -> None:
        async def app(scope: dict[str, object], receive: object, send: object) -> None:
            if profile:
                scope["threadline.profile"] = profile
            await webhook.serve(scope, receive, send)  # type: ignore[arg-type]

        transport = httpx.ASGITransport(app=app, root_path=ROOT)  # type: ignore[arg-type]
        self._client = httpx.AsyncClient(transport=transport, base_url="http://hook.example")
        self._secret = secret

    async def post(
        self, body: bytes | Mapping[str, object], *, query: str = "", at: datetime | None = None
    ) -> httpx.Response:
        """Post a signed message."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = sign(self._secret, raw, at or datetime.now(UTC))
        return await self.request("POST", URL + query, raw, headers)

    async def ask(self, where: str, *, ticket: str | None = None) -> httpx.Response:
        """Ask again for an answer."""
        signed = ticket or where.partition("?")[0].rpartition("/")[2]
        return await self.request(
            "GET", where, b"", sign(self._secret, signed.encode(), datetime.now(UTC))
        )

    async def request(
        self, method: str, url: str, body: bytes, headers: Mapping[str, str]
    ) -> httpx.Response:
        """Send any request."""
        return await self._client.request(method, url, content=body, headers=dict(headers))


@dataclass
class Receiver(httpx.AsyncBaseTransport):
    """Who gets the callbacks, and shows each key once."""

    shown: dict[str, dict[str, object]] = field(default_factory=dict)
    requests: list[httpx.Request] = field(default_factory=list)
    coming: deque[httpx.Response | Exception] = field(default_factory=deque)
    """What is answered next instead of a thank-you; an error is raised after the showing."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.coming.popleft() if self.coming else httpx.Response(200, json={})
        if isinstance(answer, Exception) or answer.is_success:
            key = request.headers["Idempotency-Key"]
            self.shown.setdefault(key, json.loads(await request.aread()))
        if isinstance(answer, Exception):
            raise answer
        return answer


class WebhookStage(PlatformHarness):
    """A program that calls a webhook, and tries again until it is told that all is well."""

    def __init__(self) -> None:
        self.receiver = Receiver()
        webhook = Webhook("hook", settings(callback=CALLBACK), transport=self.receiver)
        self.platform = webhook
        self.address = Address(platform="hook", kind=Kind.DM, chat="order 66")
        self.thread = Address(platform="hook", kind=Kind.DM, chat="order 66", thread="t1")
        self._caller = Caller(webhook)
        self._waiting: deque[bytes] = deque()
        self._last = b""
        self._count = 0
        self._versions: dict[str, int] = {}
        self._news = asyncio.Event()
        self._posting = asyncio.create_task(self._post_for_ever())

    async def close(self) -> None:
        self._posting.cancel()
        with suppress(asyncio.CancelledError):
            await self._posting

    async def write(
        self,
        text: str,
        *,
        file: tuple[str, str, bytes] | None = None,
        in_thread: bool = False,
    ) -> str:
        self._count += 1
        extra: dict[str, object] = {"thread": "t1"} if in_thread else {}
        if file:
            name, media_type, data = file
            extra["attachments"] = [
                {"name": name, "media_type": media_type, "data": b64encode(data).decode()}
            ]
        self._tell(f"m{self._count}", text=text, **extra)
        return f"m{self._count}"

    async def edit(self, message_id: str, text: str) -> None:
        self._tell(message_id, kind="edit", version=self._next_version(message_id), text=text)

    async def delete(self, message_id: str) -> None:
        self._tell(message_id, kind="deletion", version=self._next_version(message_id))

    async def repeat(self) -> None:
        self._queue(self._last)

    async def talk_nonsense(self) -> None:
        for body in (b"", b"\xff", b"[" * 100_000, b"null", b'{"message_id": 1e999}'):
            assert (await self._caller.post(body)).is_client_error

    async def disconnect(self) -> None:
        """Nothing to break: every request is a connection of its own."""

    async def suffer(self, mishap: Fault) -> None:
        match mishap:
            case Fault.FLOOD:
                self.receiver.coming.append(httpx.Response(429, headers={"Retry-After": "2"}))
            case Fault.BROKEN:
                self.receiver.coming.append(httpx.Response(502))
            case Fault.SILENT:
                self.receiver.coming.append(httpx.ReadTimeout("nothing was heard"))
            case Fault.DEAD:
                self.receiver.coming.append(httpx.Response(410))

    async def is_acknowledged(self) -> bool:
        return not self._waiting

    async def seen(self, *, in_thread: bool = False) -> Sequence[str]:
        thread = "t1" if in_thread else None
        return [str(m["text"]) for m in self.receiver.shown.values() if m.get("thread") == thread]

    async def files(self) -> Sequence[bytes]:
        found: list[bytes] = []
        for message in self.receiver.shown.values():
            files = message["attachments"]
            assert isinstance(files, list)
            found += [b64decode(file["data"]) for file in files]
        return found

    def _next_version(self, message_id: str) -> int:
        self._versions[message_id] = self._versions.get(message_id, 0) + 1
        return self._versions[message_id]

    def _tell(self, message_id: str, **extra: object) -> None:
        sender = {"id": "shop", "name": "The shop"}
        said = {"message_id": message_id, "session": "order 66", "sender": sender, **extra}
        self._queue(json.dumps(said).encode())

    def _queue(self, body: bytes) -> None:
        self._last = body
        self._waiting.append(body)
        self._news.set()

    async def _post_for_ever(self) -> None:
        while True:
            while self._waiting:
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.5):
                        answer = await self._caller.post(self._waiting[0])
                    if answer.is_success:
                        self._waiting.popleft()
                        continue
                await asyncio.sleep(0.01)
            self._news.clear()
            await self._news.wait()


@asynccontextmanager
async def opened(
    gate: RecordingGate | None = None, **given: object
) -> AsyncIterator[tuple[Webhook, RecordingGate]]:
    """Open a webhook with a gate behind it."""
    webhook, gate = Webhook("hook", settings(**given)), gate or RecordingGate()
    with webhook._doorway.open(gate):
        yield webhook, gate


def is_problem(response: httpx.Response) -> bool:
    """Tell whether it says in our way what is wrong."""
    return (
        response.headers["content-type"] == "application/problem+json"
        and response.json()["status"] == response.status_code
        and bool(response.json()["detail"])
    )


async def post_bare(webhook: Webhook | WebhookEndpoint, body: bytes) -> int:
    """Post a signed body without a client, for those who post thousands; answer the status."""
    signed = sign(SECRET, body, datetime.now(UTC)).items()
    scope: dict[str, object] = {
        "type": "http",
        "method": "POST",
        "path": URL,
        "root_path": ROOT,
        "query_string": b"",
        "headers": [(name.lower().encode(), value.encode()) for name, value in signed],
    }
    sent: list[MutableMapping[str, object]] = []

    async def receive() -> MutableMapping[str, object]:
        return {"type": "http.request", "body": body}

    async def send(message: MutableMapping[str, object]) -> None:
        sent.append(message)

    await webhook.serve(scope, receive, send)
    status = sent[0]["status"]
    assert isinstance(status, int)
    return status
