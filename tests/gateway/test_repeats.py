"""Crashes while a reply is sent: nothing is given up early, and no repeat is unmarked."""

import asyncio
import itertools
import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

import pytest
from msgspec.structs import replace

from tests.databases import OpenStore
from tests.faulty_database import faulty
from tests.gateway.outbox_setup import Billboard, all_carried, carrying, soon
from tests.gateway.test_live_replies import goes_on, serving
from tests.gateway.worker_setup import tell, unhurried
from tests.store.delivery_setup import begin, finish
from threadline.core.delivery import (
    MAX_REPEATS,
    REPEAT_MARKER,
    Delivery,
    DeliveryId,
    DeliveryState,
    SendOutcome,
)
from threadline.core.message import Role, say
from threadline.core.platform import Capabilities, Outgoing, ReadBlob, SendFailed
from threadline.gateway.live_replies import Certainty, LiveReplies
from threadline.gateway.outbox import Outbox
from threadline.gateway.turn_pubsub import Delta, TurnBegun, TurnPubSub
from threadline.store import Store
from threadline.store.deliveries.payload import DeliveryPayload
from threadline.store.turn_queue.claim import TurnClaim
from threadline.store.turns.live_reply import open_stream
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import Hangs, Says, ScriptedAgent, Streams

UNDER_WAY = {DeliveryState.PENDING, DeliveryState.SENDING}
PLAIN = Capabilities(text_limit=64)
KEYED = Capabilities(text_limit=64, idempotent=True)
GROWS = Capabilities(text_limit=64, edits=True)
GROWS_KEYED = Capabilities(text_limit=64, edits=True, idempotent=True)
STORY = " ".join(f"w{n:02}" for n in range(40))
"""Three messages."""
_WORD = re.compile(r"w\d\d")


class When(StrEnum):
    """When the process stops, seen from the platform."""

    BEFORE = "before it was shown"
    AFTER = "after it was shown"


@dataclass
class Mortal(Billboard):
    """A platform on which the process stops at chosen calls."""

    deaths: dict[int, When] = field(default_factory=dict)
    """When to stop, by the number of the call."""
    keys: dict[str, str] = field(default_factory=dict)
    died: asyncio.Event = field(default_factory=asyncio.Event)

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Show a message once for each key, if keys count; stop before or after that."""
        when = self.deaths.get(len(self.attempts))
        if when is When.BEFORE:
            self.attempts.append(outgoing)
            await self._die()
        if self.capabilities.idempotent and outgoing.key in self.keys:
            self.attempts.append(outgoing)
            id: str | None = self.keys[outgoing.key]
        else:
            id = await super().send(outgoing, read_blob)
            self.keys[outgoing.key] = id or ""
        if when is When.AFTER:
            await self._die()
        return id

    async def _die(self) -> None:
        self.died.set()
        await asyncio.Event().wait()


def unmarked_repeats(texts: Iterable[str]) -> list[str]:
    """List words that were shown twice without a marked message in between."""
    first: dict[str, int] = {}
    marked, found = -1, []
    for at, text in enumerate(texts):
        if text.startswith(REPEAT_MARKER):
            marked = at
        twice = (word for word in _WORD.findall(text) if first.setdefault(word, at) != at)
        found += [word for word in twice if marked <= first[word]]
    return found


async def read(store: Store) -> Delivery:
    """Read the only delivery."""
    return await store.deliveries.get(DeliveryId(1))


async def reclaim(store: Store) -> None:
    """Take back what the stopped process was sending, as soon as it is noticed to be gone."""
    async with asyncio.timeout(HANG_SECONDS):
        while (await read(store)).state is DeliveryState.SENDING:
            await store.deliveries.recover()


async def send_on(store: Store, board: Mortal, clock: FakeClock) -> Delivery:
    """Send what is owed until the process stops, or the delivery has come to its end."""
    board.died.clear()
    async with carrying(store, board) as outbox, asyncio.timeout(HANG_SECONDS):
        delivery = await read(store)
        while not board.died.is_set() and delivery.state in UNDER_WAY:
            clock.advance(timedelta(seconds=5))
            await outbox.renew()
            outbox.wake()
            await asyncio.sleep(0.002)
            delivery = await read(store)
    return delivery


async def send_to_the_end(open_store: OpenStore, board: Mortal, clock: FakeClock) -> Delivery:
    """Send what is owed; start another process after every crash."""
    while True:
        store = await open_store(clock=clock)
        await reclaim(store)
        delivery = await send_on(store, board, clock)
        await store.close()
        if not board.died.is_set():
            return delivery


async def resend(open_store: OpenStore, board: Mortal, clock: FakeClock) -> Delivery:
    """Owe a failed delivery again, as its owner asks for it, and send it."""
    store = await open_store(clock=clock)
    await store.deliveries.resend(DeliveryId(1))
    delivery = await send_on(store, board, clock)
    await store.close()
    return delivery


def words(board: Mortal) -> list[str]:
    """List all words of the story that are shown."""
    return _WORD.findall(" ".join(board.texts))


def plans() -> list[tuple[When, ...]]:
    """List what can happen in one to six crashes; of many only a few."""
    few = [plan for n in (1, 2) for plan in itertools.product(When, repeat=n)]
    many = [
        plan
        for n in (3, MAX_REPEATS, MAX_REPEATS + 1)
        for plan in ((When.BEFORE,) * n, (When.AFTER,) * n, (When.AFTER, *[When.BEFORE] * (n - 1)))
    ]
    return [*few, *many]


@pytest.mark.parametrize("capabilities", [PLAIN, KEYED], ids=["plain", "keyed"])
@pytest.mark.parametrize("piece", [0, 1, 2])
@pytest.mark.parametrize("plan", plans(), ids=lambda plan: "-".join(when.name for when in plan))
async def test_a_crash_is_no_attempt(
    open_store: OpenStore, capabilities: Capabilities, piece: int, plan: tuple[When, ...]
) -> None:
    """Up to five crashes at one message deliver it, marked where it may be shown twice."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store, STORY)
    await store.close()
    board = Mortal(capabilities=capabilities)
    board.deaths = {piece + n: when for n, when in enumerate(plan)}

    delivery = await send_to_the_end(open_store, board, clock)

    if len(plan) > MAX_REPEATS:
        assert (delivery.state, delivery.is_doubtful) == (DeliveryState.FAILED, True)
        assert delivery.repeats == MAX_REPEATS
        delivery = await resend(open_store, board, clock)
    assert delivery.state is DeliveryState.SENT
    assert unmarked_repeats(board.texts) == []
    assert set(words(board)) == set(STORY.split())
    if capabilities.idempotent:
        assert words(board) == STORY.split()
        assert not any(REPEAT_MARKER in text for text in board.texts)


@pytest.mark.parametrize("capabilities", [PLAIN, KEYED], ids=["plain", "keyed"])
async def test_crashes_at_different_messages_are_counted_apart(
    open_store: OpenStore, capabilities: Capabilities
) -> None:
    """What the platform has taken is done with: the next message has all its repeats."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store, STORY)
    await store.close()
    board = Mortal(capabilities=capabilities)
    calls = [*range(MAX_REPEATS), *range(MAX_REPEATS + 1, 2 * MAX_REPEATS + 1)]
    board.deaths = dict.fromkeys(calls, When.AFTER)

    delivery = await send_to_the_end(open_store, board, clock)

    assert delivery.state is DeliveryState.SENT
    assert unmarked_repeats(board.texts) == []


async def test_a_platform_that_does_not_answer_after_a_crash_is_tried_once_more(
    open_store: OpenStore,
) -> None:
    """The crash was no attempt: the first timeout is followed by one more attempt, marked."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store, "w00")
    await store.close()
    board = Mortal(deaths={0: When.AFTER}, raises_after=True)
    board.failures = deque([None, TimeoutError(), TimeoutError()])

    delivery = await send_to_the_end(open_store, board, clock)

    assert (delivery.state, len(board.attempts)) == (DeliveryState.FAILED, 3)
    assert unmarked_repeats(board.texts) == []


FLOOD = SendFailed("429", outcome=SendOutcome.REJECTED, retry_after=timedelta(seconds=1))


@pytest.mark.parametrize("when", When)
@pytest.mark.parametrize("message", [0, 1])
@pytest.mark.parametrize("crashes", [1, 2, MAX_REPEATS, MAX_REPEATS + 1])
@pytest.mark.parametrize("capabilities", [GROWS, GROWS_KEYED], ids=["plain", "keyed"])
async def test_a_growing_answer_survives_crashes(
    open_store: OpenStore, capabilities: Capabilities, message: int, when: When, crashes: int
) -> None:
    """The first crash comes while the answer grows, the others while its rest is sent.

    Once in between the platform refuses a message: that ends no doubt either.
    """
    clock = FakeClock()
    store = await open_store(clock=clock)
    board, agent = Mortal(capabilities=capabilities), ScriptedAgent()
    board.deaths = {message: when}
    shown, rest = (STORY, "w40") if message else ("w00", f"{STORY[4:]} w40")
    agent.will(Streams(shown), Hangs())
    async with serving(store, agent, board):
        await tell(store, "a story")
        await soon(board.died.is_set, "the crash")
    await store.close()
    store, board.deaths = await open_store(clock=clock), {}
    claim = await claim_again(store)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, rest)])
    await store.close()
    refused = len(board.attempts)
    board.failures = deque([FLOOD])
    board.deaths = {refused + n: when for n in range(1, crashes)}

    delivery = await send_to_the_end(open_store, board, clock)

    assert delivery.state is DeliveryState.SENT
    assert unmarked_repeats(board.texts) == []
    assert set(words(board)) == {*STORY.split(), "w40"}
    assert "being answered." in " ".join(board.texts)
    if capabilities.idempotent:
        assert words(board) == [*STORY.split(), "w40"]


async def test_a_message_that_a_shorter_attempt_does_not_need_is_followed_by_a_mark(
    open_store: OpenStore,
) -> None:
    """The process stopped before it recorded the second message, which nobody can edit now."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board, live = Mortal(capabilities=GROWS, deaths={1: When.AFTER}), TurnPubSub()
    claim = await begin(store)
    async with carrying(store, board, live=live):
        await soon(lambda: bool(live._attending), "it listens")
        live.publish(claim.lease.session_id, TurnBegun(turn_id=claim.turn.id, lease=claim.lease))
        live.publish(claim.lease.session_id, Delta(turn_id=claim.turn.id, text=STORY))
        await soon(board.died.is_set, "the crash")
    await store.close()
    store = await open_store(clock=clock)
    again = await claim_again(store)
    await store.turns.finish(again.lease, [say(Role.ASSISTANT, "w50")])
    await store.close()

    delivery = await send_to_the_end(open_store, board, clock)

    assert delivery.state is DeliveryState.SENT
    final, lost, mark = board.texts
    assert (final, mark) == ("w50", f"{REPEAT_MARKER}\n…")
    assert lost in STORY


async def test_a_message_that_was_cancelled_on_its_way_is_in_doubt(store: Store) -> None:
    """A gateway that stops does not take it for one that was never sent."""
    board = Billboard(capabilities=GROWS, gate=asyncio.Event())
    streaming = LiveReplies(store.database, {board.name: board}, streams=True, pace=unhurried())
    claim = await begin(store)
    streaming.hear(TurnBegun(turn_id=claim.turn.id, lease=claim.lease))
    streaming.hear(Delta(turn_id=claim.turn.id, text="w00"))
    await soon(lambda: bool(board.attempts), "it is on its way")
    await streaming.stop()
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "w00")])

    (parcel,) = await store.deliveries.lease()
    stream = await streaming.settle(parcel.delivery)

    assert stream is not None
    assert stream.certainty is Certainty.DOUBTFUL


async def test_a_refused_message_of_a_growing_answer_is_no_repeat(open_store: OpenStore) -> None:
    """The platform refused it while the answer grew, and once more afterwards: nobody saw it."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board, agent = Billboard(capabilities=GROWS), ScriptedAgent()
    wait = timedelta(hours=1)
    flood = SendFailed("429", outcome=SendOutcome.REJECTED, retry_after=wait)
    board.failures = deque([None, flood, flood])
    agent.will(Streams(STORY), Hangs(), Streams(" w40"))
    async with serving(store, agent, board) as (_, outbox), asyncio.timeout(HANG_SECONDS):
        await tell(store, "a story")
        await soon(lambda: len(board.attempts) == 2, "the first refusal")
        await goes_on(agent)
        while (await read(store)).state is not DeliveryState.SENT:
            clock.advance(timedelta(minutes=5))
            outbox.wake()
            await asyncio.sleep(0.002)

    assert " ".join(board.texts) == f"{STORY} w40"


async def claim_again(store: Store) -> TurnClaim:
    """Claim the turn of the stopped process, as soon as it is noticed to be gone."""
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            await store.turns.interrupt_dead()
            await store.turns.recover()
            if (claim := await store.turns.claim()) is not None:
                return claim


async def test_what_was_in_doubt_is_marked_by_the_process_that_streamed_it(
    open_store: OpenStore,
) -> None:
    """It knows what it streamed; what it sent since may be shown and unanswered all the same."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    board, agent = Mortal(capabilities=GROWS, raises_after=True), ScriptedAgent()
    agent.will(Streams("w00"), Hangs(), Says(f"w00 {STORY}"))
    async with serving(store, agent, board) as (_, outbox), asyncio.timeout(HANG_SECONDS):
        await tell(store, "a story")
        await soon(lambda: len(board.attempts) == 1, "the first words")
        board.failures = deque([TimeoutError()])
        await goes_on(agent)
        while (await read(store)).state is not DeliveryState.SENT:
            clock.advance(timedelta(seconds=5))
            outbox.wake()
            await asyncio.sleep(0.002)

    assert unmarked_repeats(board.texts) == []


async def test_a_process_that_wakes_up_sends_nothing_that_another_one_has(
    open_store: OpenStore,
) -> None:
    """It was suspended between two messages; the other process has sent the rest since."""
    clock, uptime = FakeClock(), [0.0]
    store, other = await open_store(clock=clock), await open_store(clock=clock)
    await finish(store, STORY)
    board = Suspended(capabilities=PLAIN)
    pace = replace(unhurried(), clock=lambda: uptime[0])
    outbox = Outbox(store.database, {board.name: board}, live=TurnPubSub(), pace=pace)
    running = asyncio.create_task(outbox.run())
    await board.first.wait()
    clock.advance(store.rules.lease * 2)
    assert await other.deliveries.recover() == [DeliveryId(1)]
    delivery = await send_on(other, board, clock)
    assert delivery.state is DeliveryState.SENT
    shown = list(board.texts)

    uptime[0] += store.rules.lease.total_seconds() * 2
    board.may_go_on.set()
    await soon(lambda: not outbox._sending, "it has let go")
    running.cancel()
    await asyncio.wait({running})

    assert board.texts == shown
    assert unmarked_repeats(board.texts) == []


async def test_a_process_that_wakes_up_asks_before_its_first_message(
    open_store: OpenStore,
) -> None:
    """It was suspended when it had just taken a delivery, which another process sent since."""
    clock, uptime = FakeClock(), [0.0]
    board, other = Mortal(capabilities=PLAIN), await open_store(clock=clock)

    async def sleeps(taken: list[DeliveryPayload]) -> None:
        if taken:
            clock.advance(other.rules.lease * 2)
            await other.deliveries.recover()
            await send_on(other, board, clock)
            uptime[0] += other.rules.lease.total_seconds() * 2

    store, database = faulty(await open_store(clock=clock))
    database.after["_lease_deliveries"] = sleeps
    await finish(store, STORY)
    pace = replace(unhurried(), clock=lambda: uptime[0])
    outbox = Outbox(database, {board.name: board}, live=TurnPubSub(), pace=pace)
    running = asyncio.create_task(outbox.run())
    await soon(lambda: len(board.texts) >= 4, "the other process has sent it")
    await outbox.settle()
    running.cancel()
    await asyncio.wait({running})

    assert unmarked_repeats(board.texts) == []
    assert words(board) == STORY.split()


async def test_what_another_process_sent_is_not_known_to_the_one_that_streamed(
    open_store: OpenStore,
) -> None:
    """The turn ended elsewhere, and the process that sent the rest stopped while doing so."""
    clock = FakeClock()
    store, other = await open_store(clock=clock), await open_store(clock=clock)
    board, live = Mortal(capabilities=GROWS), TurnPubSub()
    claim = await begin(store)
    async with carrying(store, board, live=live) as outbox:
        await soon(lambda: bool(live._attending), "it listens")
        live.publish(claim.lease.session_id, TurnBegun(turn_id=claim.turn.id, lease=claim.lease))
        live.publish(claim.lease.session_id, Delta(turn_id=claim.turn.id, text="w00"))
        await soon(lambda: board.texts == ["w00"], "the first words")
        clock.advance(store.rules.lease * 2)
        again = await claim_again(other)
        assert (
            await other.database.write(open_stream, again.lease, owner=other.database.owner)
            is not None
        )
        await other.turns.finish(again.lease, [say(Role.ASSISTANT, STORY)])
        board.deaths = {2: When.AFTER}
        await send_on(other, board, clock)
        assert board.died.is_set()
        await other.close()
        await reclaim(store)

        while (await read(store)).state is not DeliveryState.SENT:
            clock.advance(timedelta(seconds=5))
            outbox.wake()
            await asyncio.sleep(0.002)

    assert unmarked_repeats(board.texts) == []


async def test_a_process_that_wakes_up_in_time_goes_on(open_store: OpenStore) -> None:
    """Its lease is over, but no other process has taken the delivery: it asks, and sends on."""
    clock, uptime = FakeClock(), [0.0]
    store = await open_store(clock=clock)
    await finish(store, STORY)
    board = Suspended(capabilities=PLAIN)
    pace = replace(unhurried(), clock=lambda: uptime[0])
    outbox = Outbox(store.database, {board.name: board}, live=TurnPubSub(), pace=pace)
    running = asyncio.create_task(outbox.run())
    await board.first.wait()
    clock.advance(store.rules.lease * 2)
    uptime[0] += store.rules.lease.total_seconds() * 2

    board.may_go_on.set()
    await all_carried(store, outbox)
    running.cancel()
    await asyncio.wait({running})

    assert words(board) == STORY.split()
    assert not any(REPEAT_MARKER in text for text in board.texts)


async def test_a_process_that_wakes_up_streams_nothing_more(open_store: OpenStore) -> None:
    """Its turn was interrupted meanwhile: it neither edits a message nor adds one."""
    clock, uptime = FakeClock(), [0.0]
    store, other = await open_store(clock=clock), await open_store(clock=clock)
    board = Mortal(capabilities=GROWS)
    pace = replace(unhurried(), clock=lambda: uptime[0])
    streaming = LiveReplies(store.database, {board.name: board}, streams=True, pace=pace)
    claim = await begin(store)
    streaming.hear(TurnBegun(turn_id=claim.turn.id, lease=claim.lease))
    (task,) = streaming._tasks
    streaming.hear(Delta(turn_id=claim.turn.id, text="w00"))
    await soon(lambda: board.texts == ["w00"], "the first words")
    clock.advance(store.rules.lease * 2)
    assert await other.turns.interrupt_dead() == [claim.turn.id]

    uptime[0] += store.rules.lease.total_seconds() * 2
    streaming.hear(Delta(turn_id=claim.turn.id, text=f" {STORY}"))
    await asyncio.wait({task}, timeout=HANG_SECONDS)

    assert (board.texts, len(board.attempts)) == (["w00"], 1)


class Suspended(Mortal):
    """A platform whose first message takes until the process may go on."""

    def __init__(self, capabilities: Capabilities) -> None:
        super().__init__(capabilities=capabilities)
        self.first, self.may_go_on = asyncio.Event(), asyncio.Event()

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Show the first message, and say so later."""
        is_first = not self.attempts
        id = await super().send(outgoing, read_blob)
        if is_first:
            self.first.set()
            await self.may_go_on.wait()
        return id
