import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from msgspec.structs import replace
from pydantic import ValidationError

from tests.platforms.webhook_caller import (
    HELLO,
    SECRET,
    URL,
    Caller,
    WebhookStage,
    is_problem,
    opened,
    settings,
)
from threadline.core.address import Address, Kind
from threadline.core.inbound import InboundKind
from threadline.core.message import Message, MessageKey, Role, Text, plain_text
from threadline.core.platform import ReceiveStatus, TurnReply
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.platforms.webhook import Webhook, make
from threadline.testing.clock import A_MONDAY
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.fake_gate import RecordingGate
from threadline.testing.platform_contract import PlatformContract
from threadline.testing.platform_harness import PlatformHarness


class TestWebhook(PlatformContract):
    """A webhook with a callback keeps the contract of all platforms."""

    @asynccontextmanager
    async def make_stage(self) -> AsyncIterator[PlatformHarness]:
        stage = WebhookStage()
        try:
            yield stage
        finally:
            await stage.close()


def answer(text: str) -> TurnReply:
    """Make an answer of one line that an agent said."""
    line = Message(
        key=MessageKey(1),
        session_id=SessionId("20260302_090000_00000000"),
        seq=2,
        role=Role.ASSISTANT,
        parts=(Text(text=text),),
        at=A_MONDAY,
    )
    return TurnReply(state=TurnState.DONE, lines=[line])


async def test_a_message_waits_for_its_answer() -> None:
    """With `?wait` the answer comes back in the same request."""
    async with opened() as (webhook, gate):
        gate.answers[TurnId(1)] = answer("hello yourself")
        response = await Caller(webhook).post(HELLO, query="?wait=5")

    assert response.status_code == 200
    assert response.json()["answer"]["text"] == "hello yourself"
    assert gate.taken[0].address == Address(platform="hook", kind=Kind.DM, chat="order 66")
    assert gate.taken[0].is_trusted


async def test_a_failure_and_a_question_are_told_as_such() -> None:
    """A caller can tell them from an answer, with what had been said before."""
    async with opened() as (webhook, gate):
        caller = Caller(webhook)
        asks = replace(answer("wait"), state=TurnState.WAITING, question="May I?")
        gate.answers[TurnId(1)] = asks
        asked = (await caller.post(HELLO)).json()
        gate.answers[TurnId(1)] = TurnReply(state=TurnState.FAILED, error="It broke.")
        failed = (await caller.ask(asked["ask"])).json()

    assert (asked["state"], asked["question"], asked["answer"]["text"]) == (
        "waiting",
        "May I?",
        "wait",
    )
    assert (failed["state"], failed["error"], failed["answer"]["messages"]) == (
        "failed",
        "It broke.",
        [],
    )
    assert "error" not in asked
    assert "question" not in failed


async def test_an_answer_can_be_fetched_later() -> None:
    """Without an answer one is told where to ask, and asks there until it is there."""
    async with opened() as (webhook, gate):
        caller = Caller(webhook)
        first = await caller.post(HELLO)
        ask = first.json()["ask"]
        early = await caller.ask(ask)
        gate.answers[TurnId(1)] = answer("done")
        late = await caller.ask(f"{ask}?wait=5")

    assert (first.status_code, early.status_code, late.status_code) == (202, 202, 200)
    assert first.headers["location"] == ask
    assert late.json()["answer"]["text"] == "done"


async def test_the_same_message_answers_as_the_first_time() -> None:
    """A repeated post starts nothing new and is told the same."""
    async with opened() as (webhook, gate):
        gate.answers[TurnId(1)] = answer("once")
        caller = Caller(webhook)
        first, second = await caller.post(HELLO), await caller.post(HELLO)

    assert first.json() == second.json()
    assert len(gate.taken) == 1


async def test_a_ticket_opens_one_turn_only() -> None:
    """Turns have numbers, but nobody reads another one by counting, nor in another profile."""
    async with opened() as (webhook, gate):
        gate.answers = {TurnId(n): answer("secret") for n in range(1, 5)}
        caller = Caller(webhook)
        ask = (await caller.post(HELLO)).json()["ask"]
        number, _, code = ask.rpartition("/")[2].partition("-")
        others = [
            f"{URL}/2-{code}",
            f"{URL}/2",
            f"{URL}/{number}-",
            f"{URL}/x",
            f"{URL}/{'9' * 30}-a",
        ]
        refused = [await caller.ask(other) for other in others]
        elsewhere = await Caller(webhook, profile="other").ask(ask)
        unsigned = await caller.request("GET", ask, b"", {})
        swapped = await caller.ask(ask, ticket="1-else")

    assert [response.status_code for response in refused] == [404] * len(others)
    assert elsewhere.status_code == 404
    assert (unsigned.status_code, swapped.status_code) == (401, 401)


async def test_what_was_signed_for_one_profile_is_refused_by_another() -> None:
    """The path is not signed, so a request that was overheard must not be played elsewhere."""
    async with opened() as (webhook, gate):
        played = [
            await Caller(webhook, profile="work").post(HELLO),
            await Caller(webhook).post({**HELLO, "profile": "work"}),
        ]
        meant = await Caller(webhook, profile="work").post({**HELLO, "profile": "work"})

    assert [response.status_code for response in played] == [403, 403]
    assert meant.status_code == 202
    assert [inbound.profile for inbound in gate.taken] == ["work"]


async def test_a_former_secret_still_opens() -> None:
    """While callers change over both secrets are taken, tickets of the old one too."""
    old = "the secret before this one"
    async with opened() as (webhook, gate):
        ask = (await Caller(webhook).post(HELLO)).json()["ask"]
    rotated = {"secret": "a new secret for tests", "former_secrets": [SECRET, old]}
    async with opened(gate, **rotated) as (webhook, _):
        gate.answers[TurnId(1)] = answer("still here")
        later = await Caller(webhook, secret=old).ask(ask)
        newest = await Caller(webhook, secret="a new secret for tests").post(HELLO)

    assert later.json()["answer"]["text"] == "still here"
    assert newest.status_code == 200


async def test_edits_deletions_and_threads_come_through() -> None:
    """A payload can say all that an inbound can."""
    async with opened(senders="checked") as (webhook, gate):
        caller = Caller(webhook, profile="work")
        hello = {**HELLO, "profile": "work"}
        await caller.post({**hello, "place": "group", "thread": "t", "reply_to": "m0"})
        await caller.post({**hello, "kind": "edit", "version": 2, "text": "hi"})
        deletion = await caller.post({**hello, "kind": "deletion", "text": ""})

    message, edit, gone = gate.taken
    assert (message.address.kind, message.address.thread) == (Kind.GROUP, "t")
    assert (message.profile, message.reply_to, message.is_trusted) == ("work", "m0", False)
    assert (edit.kind, edit.version, plain_text(edit.parts)) == (InboundKind.EDIT, 2, "hi")
    assert (gone.kind, gone.version) == (InboundKind.DELETION, 1)
    assert deletion.is_success


async def test_a_place_and_a_sender_are_described_in_full() -> None:
    """Names, topic, scope, parent and alternative ids reach the gateway; the rest is refused."""
    place = {
        "place": "thread",
        "thread": "t1",
        "chat_name": "Support",
        "topic": "Order 66",
        "scope": "shop",
        "parent": "helpdesk",
        "alt_chat": "internal-66",
    }
    described = {**HELLO, **place, "sender": {"id": "ann", "alt_id": "a-1", "name": "Ann"}}
    async with opened() as (webhook, gate):
        caller = Caller(webhook)
        taken = await caller.post(described)
        old = await caller.post({**HELLO, "message_id": "m2", "guild_id": "shop"})
        wrong = [
            await caller.post({**HELLO, "message_id": "m3", **given})
            for given in ({"topic": 7}, {"chat_name": "x" * 1001}, {"scope": "x" * 256})
        ]

    address, sender = gate.taken[0].address, gate.taken[0].sender
    assert (taken.status_code, old.status_code) == (202, 202)
    assert address == Address(
        platform="hook",
        kind=Kind.THREAD,
        chat="order 66",
        thread="t1",
        alt_chat="internal-66",
        parent="helpdesk",
        scope="shop",
        chat_name="Support",
        topic="Order 66",
    )
    assert (sender.id, sender.alt_id) == ("ann", "a-1")
    assert gate.taken[1].address.scope == "shop"
    assert [response.status_code for response in wrong] == [422] * 3


@pytest.mark.parametrize(
    ("reception", "said", "status"),
    [
        (ReceiveStatus.COMMAND, "A new conversation.", 200),
        (ReceiveStatus.REFUSED, None, 403),
        (ReceiveStatus.LIMITED, "Slowly!", 429),
        (ReceiveStatus.BUSY, "Too much", 429),
    ],
)
async def test_how_it_was_received_is_told(
    reception: ReceiveStatus, said: str | None, status: int
) -> None:
    """A command is answered at once, a refusal and a limit have their own status."""
    gate = RecordingGate()
    gate.reception, gate.said, gate.retry_after = reception, said, timedelta(seconds=6.5)
    async with opened(gate) as (webhook, _):
        response = await Caller(webhook).post(HELLO)

    assert response.status_code == status
    assert said is None or said in response.text
    assert is_problem(response) == (status >= 400)
    assert response.headers.get("retry-after") == ("7" if status == 429 else None)


class Patient(RecordingGate):
    """A gate behind which an answer never comes."""

    async def answer_to(self, turn_id: TurnId, within: timedelta) -> None:
        assert within > timedelta(0)
        await asyncio.Event().wait()


async def test_nobody_waits_behind_a_closed_door() -> None:
    """When the gateway stops, whoever waits is told at once where to ask later."""
    gate = Patient()
    async with opened(gate) as (webhook, _):
        asking = asyncio.create_task(Caller(webhook).post(HELLO, query="?wait=120"))
        await gate.until(taken=1)
        async with asyncio.timeout(HANG_SECONDS):
            while not webhook._doorway._asking:
                await asyncio.sleep(0)
    response = await asyncio.wait_for(asking, HANG_SECONDS)

    assert response.status_code == 202
    assert response.json()["ask"]


async def test_before_it_runs_a_request_is_put_off() -> None:
    """Nothing is taken without a gate: the caller is asked to come again."""
    webhook = Webhook("hook", settings())
    response = await Caller(webhook).post(HELLO)

    assert response.status_code == 503
    assert response.headers["retry-after"]
    assert is_problem(response)


async def test_a_store_that_fails_is_told_as_such() -> None:
    """When nothing could be kept, the caller keeps the message and brings it again."""
    gate = RecordingGate()
    gate.break_down()
    async with opened(gate) as (webhook, _):
        caller = Caller(webhook)
        first, second = await caller.post(HELLO), await caller.post(HELLO)

    assert (first.status_code, second.status_code) == (503, 202)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", URL, 405),
        ("PUT", f"{URL}/1", 405),
        ("GET", "/platforms/hook/", 404),
        ("POST", "/", 404),
        ("POST", "/platforms/hook/other/messages", 404),
    ],
)
async def test_other_paths_and_methods_are_problems(method: str, path: str, status: int) -> None:
    """Whatever else is asked for is answered in the same way."""
    async with opened() as (webhook, _):
        response = await Caller(webhook).request(method, path, b"", {})

    assert response.status_code == status
    assert is_problem(response)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "secret"),
        ({"secret": "short"}, "secret"),
        ({"secret": SECRET, "former_secrets": ["short"]}, "former_secrets"),
        ({"secret": SECRET, "callback": "ftp://callback.example/"}, "callback"),
        ({"secret": SECRET, "sneders": "checked"}, "sneders"),
        ({"secret": SECRET, "senders": "all"}, "senders"),
        ({"secret": SECRET, "body_limit": 10**9}, "body_limit"),
    ],
)
def test_wrong_settings_are_named_without_their_values(
    given: dict[str, object], field: str
) -> None:
    """What is wrong is named by its key; no secret stands in the message."""
    with pytest.raises(ValidationError) as failed:
        make("hook", given)

    assert failed.value.errors()[0]["loc"][0] == field
    assert "short" not in str(failed.value)
    assert SECRET not in str(failed.value)
