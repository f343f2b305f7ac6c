import asyncio
import json
import random
from base64 import b64encode
from collections.abc import Iterator, MutableMapping
from datetime import UTC, datetime, timedelta

import pytest

from tests.platforms.webhook_caller import (
    HELLO,
    ROOT,
    SECRET,
    URL,
    Caller,
    is_problem,
    opened,
    post_bare,
    settings,
)
from threadline.platforms.webhook import Webhook, sign
from threadline.platforms.webhook.body_memory import UNVERIFIED, BodyMemory
from threadline.platforms.webhook.endpoint import WebhookEndpoint
from threadline.platforms.webhook.signature import SIGNATURE, TIMESTAMP
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.fake_gate import RecordingGate


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {TIMESTAMP: "1"},
        {SIGNATURE: "sha256=00"},
        {TIMESTAMP: "now", SIGNATURE: "sha256=00"},
        {TIMESTAMP: "9" * 5000, SIGNATURE: "sha256=00"},
        {TIMESTAMP: "-1", SIGNATURE: "sha256=00"},
        {TIMESTAMP: "²", SIGNATURE: "sha256=00"},
        {TIMESTAMP: str(int(datetime.now(UTC).timestamp())), SIGNATURE: "sha256=é"},
    ],
)
async def test_who_does_not_sign_is_refused(headers: dict[str, str]) -> None:
    """Nothing is taken from anybody who does not know the secret."""
    raw = {name: value.encode("latin-1") for name, value in headers.items()}
    async with opened() as (webhook, gate):
        response = await Caller(webhook).request("POST", URL, b"{}", raw)  # type: ignore[arg-type]

    assert response.status_code == 401
    assert is_problem(response)
    assert SECRET not in response.text
    assert not gate.seen


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {SIGNATURE: f"sha256={'0' * 64}"},
        {TIMESTAMP: "NOW"},
        {TIMESTAMP: "NOW", SIGNATURE: "0" * 64},
        {TIMESTAMP: "NOW", SIGNATURE: f"sha256={'0' * 63}"},
        {TIMESTAMP: "NOW", SIGNATURE: f"sha256={'g' * 64}"},
        {TIMESTAMP: "1", SIGNATURE: f"sha256={'0' * 64}"},
        {"webhook-id": "1", "webhook-timestamp": "NOW"},
        {"webhook-id": "1", "webhook-timestamp": "NOW", "webhook-signature": "v1,AAAA"},
        {"webhook-id": "1", "webhook-timestamp": "NOW", "webhook-signature": "v2,AAAA"},
        {"webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": f"v1,{'A' * 43}="},
    ],
)
async def test_a_body_that_no_signature_can_make_right_is_not_read(headers: dict[str, str]) -> None:
    """The headers come first: 300 unsigned requests with large bodies took 234 MB of memory."""
    now = str(int(datetime.now(UTC).timestamp()))
    shown = {name: now if value == "NOW" else value for name, value in headers.items()}
    async with opened() as (webhook, gate):
        posting = Posting(webhook, shown)
        status = await posting.answer()

    assert (status, posting.read) == (401, 0)
    assert not gate.seen


async def test_a_body_that_says_it_is_too_large_is_not_read() -> None:
    """What a header promises is believed, if it is too much."""
    now = str(int(datetime.now(UTC).timestamp()))
    shown = {TIMESTAMP: now, SIGNATURE: f"sha256={'0' * 64}", "Content-Length": "1001"}
    async with opened(body_limit=1000) as (webhook, _):
        posting = Posting(webhook, shown)

        assert (await posting.answer(), posting.read) == (413, 0)


class Posting:
    """A request to a webhook whose body is sent bit by bit."""

    def __init__(
        self, webhook: Webhook | WebhookEndpoint, headers: dict[str, str] | None = None
    ) -> None:
        now = str(int(datetime.now(UTC).timestamp()))
        shown = {TIMESTAMP: now, SIGNATURE: f"sha256={'0' * 64}"} if headers is None else headers
        self.read = 0
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._scope: dict[str, object] = {
            "type": "http",
            "method": "POST",
            "path": URL,
            "root_path": ROOT,
            "query_string": b"",
            "headers": [(name.lower().encode(), value.encode()) for name, value in shown.items()],
        }
        self.task = asyncio.create_task(self._post(webhook))

    async def send(self, size: int) -> None:
        """Send a piece of the body, and wait until it was read."""
        before = self.read
        self._pieces.put_nowait(b" " * size)
        while self.read < before + size and not self.task.done():
            await asyncio.sleep(0)

    async def answer(self) -> int:
        """Wait for the status of the answer."""
        async with asyncio.timeout(HANG_SECONDS):
            return await self.task

    async def _post(self, webhook: Webhook | WebhookEndpoint) -> int:
        statuses: list[int] = []

        async def receive() -> MutableMapping[str, object]:
            piece = await self._pieces.get()
            self.read += len(piece)
            return {"type": "http.request", "body": piece, "more_body": True}

        async def send(message: MutableMapping[str, object]) -> None:
            if isinstance(status := message.get("status"), int):
                statuses.append(status)

        await webhook.serve(self._scope, receive, send)
        return statuses[0]


async def test_unverified_bytes_have_a_limit_in_sum() -> None:
    """Over all webhooks: the oldest are dropped, and a sender with the secret is still served."""
    budget, gate = BodyMemory(10_000), RecordingGate()
    doors = [
        WebhookEndpoint(name, settings(), clock=lambda: datetime.now(UTC), budget=budget)
        for name in ("one", "two")
    ]
    with doors[0].open(gate), doors[1].open(gate):
        postings = []
        for n in range(20):
            postings.append(Posting(doors[n % 2]))
            await postings[-1].send(1000)
            assert budget.used <= 10_000
        dropped = [await posting.answer() for posting in postings[:10]]
        signed = await post_bare(doors[0], json.dumps(HELLO).encode())

        assert dropped == [503] * 10
        assert signed == 202
        assert sum(not posting.task.done() for posting in postings) >= 9
        for posting in postings:
            posting.task.cancel()
        await asyncio.gather(*(one.task for one in postings), return_exceptions=True)
    assert budget.used == 0
    assert {Webhook("one", settings())._doorway._budget} == {UNVERIFIED}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be", "utf-8-sig"])
async def test_a_body_in_another_encoding_is_refused(encoding: str) -> None:
    """JSON is read in UTF-8 only, so that no one on the way reads it differently."""
    async with opened() as (webhook, gate):
        response = await Caller(webhook).post(json.dumps(HELLO).encode(encoding))

    assert (response.status_code, response.json()["detail"]) == (400, "The body is not UTF-8")
    assert not gate.seen


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json; charset=UTF-8", 202),
        ('application/json; charset="utf8"', 202),
        ("application/json; charset=utf-16", 415),
        ("application/json;charset=latin1", 415),
    ],
)
async def test_another_charset_is_refused(kind: str, status: int) -> None:
    """A header that names another charset than UTF-8 is not passed over."""
    body = json.dumps(HELLO).encode()
    headers = {**sign(SECRET, body, datetime.now(UTC)), "Content-Type": kind}
    async with opened() as (webhook, _):
        response = await Caller(webhook).request("POST", URL, body, headers)

    assert response.status_code == status


@pytest.mark.parametrize("seconds", [-301, 301, -86_400, 10**9])
async def test_a_wrong_clock_is_refused(seconds: int) -> None:
    """What was signed more than five minutes ago, or in the future, is not taken."""
    async with opened() as (webhook, gate):
        at = datetime.now(UTC) + timedelta(seconds=seconds)
        response = await Caller(webhook).post(HELLO, at=at)

    assert response.status_code == 401
    assert not gate.seen


async def test_a_signature_fits_one_body_only() -> None:
    """A signature that was seen cannot be put on other words, nor on another time."""
    now = datetime.now(UTC)
    headers = sign(SECRET, json.dumps(HELLO).encode(), now)
    other = json.dumps({**HELLO, "text": "transfer everything"}).encode()
    later = {**headers, TIMESTAMP: str(int(now.timestamp()) + 1)}
    bare = {**headers, SIGNATURE: headers[SIGNATURE].removeprefix("sha256=")}
    async with opened() as (webhook, gate):
        caller = Caller(webhook)
        responses = [
            await caller.request("POST", URL, other, headers),
            await caller.request("POST", URL, json.dumps(HELLO).encode(), later),
            await caller.request("POST", URL, json.dumps(HELLO).encode(), bare),
            await Caller(webhook, secret="a guess of a secret").post(HELLO),
        ]

    assert [response.status_code for response in responses] == [401] * 4
    assert not gate.seen


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"message_id": None}, "message_id is missing"),
        ({"message_id": ""}, "message_id is missing"),
        ({"message_id": 7}, "message_id cannot be 7"),
        ({"message_id": "x" * 256}, "message_id"),
        ({"session": "a\0b"}, "session"),
        ({"session": ["a"]}, "session"),
        ({"text": "\ud800"}, "text"),
        ({"text": ""}, "says nothing"),
        ({"text": 1}, "text"),
        ({"kind": "wedding"}, "kind"),
        ({"kind": "edit", "version": -1}, "version"),
        ({"version": 1.5}, "version"),
        ({"version": 10**30}, "version"),
        ({"version": True}, "version"),
        ({"sender": "Ann"}, "sender is no object"),
        ({"sender": {"id": "a", "admin": True}}, "unknown field 'admin'"),
        ({"place": "moon"}, "place"),
        ({"thread": {}}, "thread"),
        ({"is_trusted": True}, "unknown field 'is_trusted'"),
        ({"attachments": {}}, "attachments"),
        ({"attachments": [{"data": "ä"}]}, "base64"),
        ({"attachments": [{"data": "a"}]}, "base64"),
        ({"attachments": [{"data": ""}] * 11}, "at most 10 files"),
        ({"observed": "yes"}, "observed"),
    ],
)
async def test_a_wrong_field_is_named(change: dict[str, object], words: str) -> None:
    """Whoever sends something wrong learns which field it is, and nothing is taken."""
    async with opened() as (webhook, gate):
        response = await Caller(webhook).post({**HELLO, **change})

    assert response.status_code == 422
    assert is_problem(response)
    assert words in response.json()["detail"]
    assert not gate.seen


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{" * 5000,
        b"[" * 900_000,
        b'{"a":' * 100_000,
        b'{"message_id": ' + b"9" * 900_000 + b"}",
        b'{"message_id": NaN}',
        b'{"text": "\\u0000"}',
    ],
)
async def test_a_body_that_is_no_message_is_refused(body: bytes) -> None:
    """No JSON, deep nesting and giant numbers are the caller's mistake, never ours."""
    async with opened() as (webhook, gate):
        response = await Caller(webhook).post(body)

    assert response.status_code == 422
    assert is_problem(response)
    assert not gate.seen


async def test_a_body_that_is_too_large_is_refused() -> None:
    """Past the limit nothing more is read, whatever the header promised."""
    async with opened(body_limit=1000) as (webhook, gate):
        response = await Caller(webhook).post({**HELLO, "text": "x" * 1000})

    assert response.status_code == 413
    assert is_problem(response)
    assert not gate.seen


@pytest.mark.parametrize("wait", ["121", "-1", "1.5", "", "²", "9999999", "soon"])
async def test_nobody_waits_for_ever(wait: str) -> None:
    """One waits 0 to 120 whole seconds."""
    async with opened() as (webhook, gate):
        response = await Caller(webhook).post(HELLO, query=f"?wait={wait}")

    assert response.status_code == 422
    assert not gate.seen


def broken_bodies(count: int) -> Iterator[bytes]:
    """Damage a message that says all that one can say, in its bytes and in its fields by turns."""
    dice = random.Random(4)
    file = {"name": "a.png", "media_type": "image/png", "data": b64encode(b"abc").decode()}
    whole = {**HELLO, "kind": "edit", "version": 3, "thread": "t", "attachments": [file]}
    values: list[object] = [None, True, -1, 10**40, 1e308, "", "\0", "\ud800", "x" * 300, [], {}]
    for n in range(count):
        if n % 2:
            body = bytearray(json.dumps(whole).encode())
            for _ in range(dice.randint(1, 4)):
                body[dice.randrange(len(body))] = dice.randrange(256)
            yield bytes(body)
        else:
            change = {dice.choice([*whole, "odd"]): dice.choice(values) for _ in range(2)}
            yield json.dumps({**whole, **change}).encode()


async def test_ten_thousand_broken_bodies_do_no_harm() -> None:
    """Whatever is changed in a signed body, it is taken or refused: the fault is never ours."""
    async with opened() as (webhook, gate):
        statuses = {await post_bare(webhook, body) for body in broken_bodies(10_000)}
        last = await Caller(webhook).post(HELLO)

    assert statuses == {202, 400, 422}
    assert last.status_code == 202
    assert gate.taken
