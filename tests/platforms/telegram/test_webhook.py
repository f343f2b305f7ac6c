import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.doubles.telegram.sample_contents import DM
from tests.doubles.telegram.samples import PICTURE
from tests.platforms.telegram.bot_setup import TelegramStage, make_telegram, running, stage
from tests.platforms.telegram.raw_updates import line, update
from threadline.core.inbound import InboundKind
from threadline.core.message import Attachment, plain_text
from threadline.core.platform import Endpoint
from threadline.platforms.telegram import Telegram
from threadline.platforms.telegram.webhook import BODY_LIMIT
from threadline.testing.fake_gate import RecordingGate
from threadline.web.server import serve

SECRET = "a-secret-of-telegram-and-us"
PATH = "/platforms/telegram"
HELLO = update(line("hello"))
HEADER = "X-Telegram-Bot-Api-Secret-Token"


class Caller:
    """Whoever calls the platform over HTTP, without a network in between."""

    def __init__(self, telegram: Telegram, **scope: object) -> None:
        async def app(told: dict[str, object], receive: object, send: object) -> None:
            told.update(scope)
            await telegram.serve(told, receive, send)  # type: ignore[arg-type]

        transport = httpx.ASGITransport(app=app, root_path=PATH)  # type: ignore[arg-type]
        self._client = httpx.AsyncClient(transport=transport, base_url="http://bot.example")

    async def post(
        self,
        body: bytes | dict[str, object],
        *,
        secret: str | None = SECRET,
        path: str = "/updates",
    ) -> httpx.Response:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if secret is None else {HEADER.encode(): secret.encode()}
        return await self._client.post(PATH + path, content=raw, headers=headers)

    async def get(self) -> httpx.Response:
        return await self._client.get(f"{PATH}/updates", headers={HEADER: SECRET})


def hooked(set_up: TelegramStage, url: str = "http://127.0.0.1:1") -> Telegram:
    return make_telegram(
        set_up.api,
        mode="webhook",
        webhook_url=f"{url}{PATH}/updates",
        webhook_secret=SECRET,
    )


@asynccontextmanager
async def listening(
    set_up: TelegramStage, gate: RecordingGate
) -> AsyncIterator[tuple[Telegram, asyncio.Task[None]]]:
    """Let the platform listen, as far as it can be called by hand."""
    telegram = hooked(set_up)
    async with running(telegram, gate) as task:
        await set_up.api.until(lambda: set_up.api.called("setWebhook"))
        yield telegram, task


@asynccontextmanager
async def called(gate: RecordingGate) -> AsyncIterator[TelegramStage]:
    """Let the double itself call the platform, over a real server."""
    doors: dict[str, Telegram] = {}

    async def visit(scope: object, receive: object, send: object) -> None:
        await doors["telegram"].serve(scope, receive, send)  # type: ignore[arg-type]

    app = Starlette(routes=[Mount(PATH, app=visit)])
    async with stage() as set_up, serve(app, "127.0.0.1", 0) as url:
        doors["telegram"] = hooked(set_up, url)
        async with running(doors["telegram"], gate):
            yield set_up


async def test_telegram_calls_and_is_answered() -> None:
    """What people say is brought by calls, in order, and confirmed when it is taken."""
    gate = RecordingGate()
    async with called(gate) as set_up:
        for n in range(5):
            await set_up.write(str(n))
        await gate.until(taken=5)
        await set_up.api.until(lambda: not set_up.api.waiting)

    assert [plain_text(one.parts) for one in gate.taken] == ["0", "1", "2", "3", "4"]
    (told,) = set_up.api.called("setWebhook")
    assert told.parameters["secret_token"] == SECRET
    assert "callback_query" in told.parameters["allowed_updates"]


async def test_a_store_that_fails_is_told_and_telegram_brings_it_again() -> None:
    """Only what is on disk is confirmed."""
    gate = RecordingGate()
    gate.break_down(times=2)
    async with called(gate) as set_up:
        await set_up.write("patience")
        await gate.until(taken=1)
        await set_up.api.until(lambda: not set_up.api.waiting)

    assert len(gate.seen) == 3


async def test_what_was_said_while_we_were_down_is_brought() -> None:
    """Telegram repeats its calls until somebody answers."""
    gate = RecordingGate()
    async with stage() as set_up:
        async with listening(set_up, RecordingGate()):
            pass
        await set_up.write("are you there?")
        async with set_up.platform._line.open() as bot:
            await bot.delete_webhook()
        async with running(set_up.platform, gate):
            await gate.until(taken=1)

    assert plain_text(gate.taken[0].parts) == "are you there?"


async def test_garbage_is_confirmed_with_a_log_line(caplog: pytest.LogCaptureFixture) -> None:
    """Telegram would repeat it for ever."""
    async with stage() as set_up:
        gate = RecordingGate()
        async with listening(set_up, gate) as (telegram, task):
            caller = Caller(telegram)
            bodies = [
                b"",
                b"{]",
                b"\xff\xfe",
                b"[" * 100_000,
                b"9" * 10_000,
                b"null",
                b'"\\ud800"',
                b"x" * (BODY_LIMIT + 1),
                b'{"update_id": 3, "message": {"secret": "words"}}',
            ]
            for n, body in enumerate(bodies, 1):
                response = await caller.post(body)
                assert response.status_code == 200, body[:20]
                assert len(caplog.records) == n, body[:20]
            assert (await caller.post(HELLO)).status_code == 200
            assert not task.done()

    assert len(gate.taken) == 1
    assert "secret" not in caplog.text


@pytest.mark.parametrize("secret", [None, "", "wrong", SECRET + "x", SECRET[:-1], "é"])
async def test_nobody_else_can_call(secret: str | None) -> None:
    """Who does not know the secret is not heard, and no body of theirs is read."""
    async with stage() as set_up:
        gate = RecordingGate()
        async with listening(set_up, gate) as (telegram, _):
            response = await Caller(telegram).post(HELLO, secret=secret)

    assert response.status_code == 401
    assert not gate.seen
    assert SECRET not in response.text


async def test_other_doors_are_no_doors() -> None:
    """There is one address, for one method, and routing decides about profiles."""
    async with stage() as set_up, listening(set_up, RecordingGate()) as (telegram, _):
        caller = Caller(telegram)
        elsewhere = await caller.post(HELLO, path="/other")
        got = await caller.get()
        profile = await Caller(telegram, **{"threadline.profile": "work"}).post(HELLO)

    assert (elsewhere.status_code, got.status_code, profile.status_code) == (404, 405, 404)


async def test_who_polls_is_not_called() -> None:
    """A bot that asks for its news has no door at all."""
    async with stage() as set_up, running(set_up.platform, RecordingGate()):
        response = await Caller(set_up.platform).post(HELLO, secret="")

    assert isinstance(set_up.platform, Endpoint)
    assert response.status_code == 404


async def test_before_and_after_a_run_calls_are_put_off() -> None:
    """What cannot be kept now is to be brought again."""
    async with stage() as set_up:
        telegram = hooked(set_up)
        early = await Caller(telegram).post(HELLO)
        async with running(telegram, RecordingGate()):
            await set_up.api.until(lambda: set_up.api.called("setWebhook"))
        late = await Caller(telegram).post(HELLO)

    assert (early.status_code, late.status_code) == (503, 503)
    assert early.headers["Retry-After"]


def part(n: int) -> dict[str, object]:
    photo = [{"file_id": "a", "file_unique_id": "a", "width": 1, "height": 1, "file_size": 9**9}]
    return update(
        line(None, chat=DM, number=n, photo=photo, media_group_id="1", caption=str(n)), number=n
    )


async def test_parts_of_an_album_that_come_at_once_are_one_message() -> None:
    """All calls are answered when the whole is kept."""
    async with stage() as set_up:
        gate = RecordingGate()
        async with listening(set_up, gate) as (telegram, _):
            caller = Caller(telegram)
            answers = await asyncio.gather(*(caller.post(part(n)) for n in (3, 1, 2)))

    (inbound,) = gate.taken
    assert [one.status_code for one in answers] == [200] * 3
    assert inbound.message_id == "1"
    assert [line[0] for line in plain_text(inbound.parts).splitlines()[::2]] == ["1", "2", "3"]


async def test_an_album_that_cannot_be_kept_is_put_off_for_all() -> None:
    """Nobody is told that a part is kept which is not."""
    async with stage() as set_up:
        gate = RecordingGate()
        gate.break_down()
        async with listening(set_up, gate) as (telegram, _):
            caller = Caller(telegram)
            failed = await asyncio.gather(*(caller.post(part(n)) for n in (1, 2)))
            again = await asyncio.gather(*(caller.post(part(n)) for n in (1, 2)))

    assert [one.status_code for one in (*failed, *again)] == [503, 503, 200, 200]
    assert len(gate.taken) == 1


async def test_parts_that_wait_for_each_other_grow_into_one_message() -> None:
    """Telegram brings the next part when the one before is answered: the message changes."""
    gate = RecordingGate()
    pictures = [PICTURE + bytes([n]) for n in range(3)]
    async with called(gate) as set_up:
        album = await set_up.alice.sends_album(set_up.dm, "photo", *pictures, caption="look")
        await gate.until(taken=3)
        await set_up.api.until(lambda: not set_up.api.waiting)

    kinds = [one.kind for one in gate.taken]
    assert kinds == [InboundKind.MESSAGE, InboundKind.EDIT, InboundKind.EDIT]
    assert {one.message_id for one in gate.taken} == {str(album[0].id)}
    kept = [part for part in gate.taken[-1].parts if isinstance(part, Attachment)]
    assert [gate.blobs[file.blob] for file in kept] == pictures


async def test_an_album_under_way_is_put_off_when_we_stop() -> None:
    """Nothing is answered as if it were kept, and no task stays behind."""
    async with stage() as set_up:
        gate = RecordingGate()
        gate.close()
        async with listening(set_up, gate) as (telegram, _):
            call = asyncio.create_task(Caller(telegram).post(part(1)))
            await gate.until(seen=1)
        response = await call

    assert response.status_code == 503
