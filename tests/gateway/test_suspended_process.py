"""A process that was stopped for longer than its lease acts on nothing that it no longer owns."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.faulty_database import faulty
from tests.gateway.outbox_setup import Billboard, all_carried, carrying, soon
from tests.gateway.test_live_replies import GROWS, goes_on, serving
from tests.gateway.worker_setup import becomes, tell, unhurried
from threadline.core.address import Address
from threadline.core.delivery import REPEAT_MARKER
from threadline.core.errors import LeaseLost
from threadline.core.turn import TurnState
from threadline.gateway.delivery_sender import DeliverySender
from threadline.gateway.lease import LeaseProof
from threadline.gateway.turn_pubsub import Delta, Happening, TurnBegun, TurnPubSub
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.testing.scripted_agent import Hangs, Says, ScriptedAgent, Streams

ASLEEP = timedelta(minutes=5)


class Sleeper:
    """The clock of a machine on which the process can be stopped: both clocks go on."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self._uptime = 0.0
        self.pace = replace(unhurried(), clock=lambda: self._uptime)

    def sleeps(self) -> None:
        """Be stopped for longer than any lease; only others see the time pass."""
        self.clock.advance(ASLEEP)

    def wakes(self) -> None:
        """See how much time has passed."""
        self._uptime += ASLEEP.total_seconds()


def deaf(store: Store) -> Store:
    """Return the store of a stopped process: it hears of nothing that others do."""
    own, database = faulty(store)
    database.is_deaf = True
    return own


class Late(Billboard):
    """A platform to which an edit goes out too late to be kept back, if a test says so."""

    stops: asyncio.Event | None = None
    is_stopped = False

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        stops, self.stops = self.stops, None
        if stops is None:
            await super().edit(address, message_id, text)
            return
        self.is_stopped = True
        # The request leaves although the call is given up.
        with suppress(LeaseLost):
            await stops.wait()
        await super().edit(address, message_id, text)


@on(FAST, POSTGRES)
async def test_a_reply_that_another_process_sends_is_not_sent(open_store: OpenStore) -> None:
    """A process that was stopped before it sent a reply leaves it to the one that took it over."""
    sleeper = Sleeper()
    here, there = await open_store(clock=sleeper.clock), await open_store(clock=sleeper.clock)
    board = Billboard()
    async with Worker(there, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(there, "hello")
        await becomes(there, arrival.turn_id, TurnState.DONE)
    proof = LeaseProof(here.rules.lease, sleeper.pace.clock)
    parcel = (await here.deliveries.lease())[0]
    sleeper.sleeps()
    await there.deliveries.recover()
    sleeper.clock.advance(ASLEEP)
    assert len(await there.deliveries.lease()) == 1
    sleeper.wakes()

    with pytest.raises(LeaseLost):
        await DeliverySender(here.database, board, parcel, None, proof).carry()

    assert board.attempts == []


@on(FAST, POSTGRES)
async def test_an_answer_that_another_process_gives_does_not_grow_on(
    open_store: OpenStore,
) -> None:
    """After waking up, an agent that goes on is heard neither on its platform nor on screens."""
    sleeper = Sleeper()
    here = deaf(await open_store(clock=sleeper.clock))
    there = await open_store(clock=sleeper.clock)
    board, slow, heard = Billboard(capabilities=GROWS), ScriptedAgent(), list[str]()
    slow.will(Streams("Once upon"), Hangs(), Streams(" a time"))

    def hear(happening: Happening) -> None:
        if isinstance(happening, Delta):
            heard.append(happening.text)

    async with serving(here, slow, board, pace=sleeper.pace) as (worker, _):
        with worker.live.attend(hear):
            arrival = await tell(here, "a story")
            worker.wake()
            await soon(lambda: board.texts == ["Once upon"], "the first words")
            sleeper.sleeps()
            async with Worker(there, ScriptedAgent(), pace=unhurried()):
                await becomes(there, arrival.turn_id, TurnState.DONE)
            sleeper.wakes()
            await goes_on(slow)
            await soon(lambda: not worker.running, "it is let go")

    assert "".join(heard) == "Once upon"
    assert board.texts == ["Once upon"]


async def test_a_stream_asks_for_its_lease_before_it_shows_more(open_store: OpenStore) -> None:
    """Words that came before the process was stopped are not shown after it woke up."""
    sleeper, live = Sleeper(), TurnPubSub()
    here = deaf(await open_store(clock=sleeper.clock))
    there = await open_store(clock=sleeper.clock)
    board = Billboard(capabilities=GROWS)
    await tell(here, "a story")
    async with carrying(here, board, live=live, pace=sleeper.pace) as outbox:
        await asyncio.sleep(0)
        claim = await here.turns.claim()
        assert claim is not None
        id, session_id = claim.turn.id, claim.turn.session_id
        live.publish(session_id, TurnBegun(turn_id=id, lease=claim.lease))
        live.publish(session_id, Delta(turn_id=id, text="Once upon"))
        await soon(lambda: board.texts == ["Once upon"], "the first words")
        sleeper.sleeps()
        await there.turns.interrupt_dead()
        sleeper.wakes()
        live.publish(session_id, Delta(turn_id=id, text=" a time"))
        await soon(lambda: not outbox._streaming._turns, "it is let go")

    assert board.texts == ["Once upon"]


async def test_a_process_that_nobody_replaced_goes_on(open_store: OpenStore) -> None:
    """After waking up alone, it renews its leases and finishes what it had begun."""
    sleeper = Sleeper()
    store = await open_store(clock=sleeper.clock)
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board, pace=sleeper.pace) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        sleeper.sleeps()
        sleeper.wakes()
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.texts == ["Once upon a time"]
    assert len(agent.requests) == 1


async def test_the_first_beat_after_waking_up_renews_all_leases(open_store: OpenStore) -> None:
    """The silent are not forgotten, though the clock of the event loop has stood still."""
    sleeper = Sleeper()
    store = await open_store(clock=sleeper.clock)
    agent = ScriptedAgent()
    agent.will(Hangs())
    pace = replace(sleeper.pace, renew=None)
    async with Worker(store, agent, pace=pace) as worker:
        arrival = await tell(store, "think")
        assert arrival.turn_id is not None
        await soon(lambda: bool(agent.parked), "the turn hangs")
        await worker.beat()
        sleeper.sleeps()
        sleeper.wakes()
        await worker.beat()

        assert (await store.turns.get(arrival.turn_id)).lease_until == sleeper.clock() + (
            store.rules.lease
        )
        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.DONE)


@on(FAST, POSTGRES)
async def test_a_call_that_waits_for_its_connection_sends_nothing_more(
    open_store: OpenStore,
) -> None:
    """A process that was stopped while it connected to a platform sends nothing after it woke."""
    sleeper = Sleeper()
    here, there = await open_store(clock=sleeper.clock), await open_store(clock=sleeper.clock)
    board = Billboard(gate=asyncio.Event())
    assert board.gate is not None
    async with Worker(there, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(there, "hello")
        await becomes(there, arrival.turn_id, TurnState.DONE)
    proof = LeaseProof(here.rules.lease, sleeper.pace.clock)
    parcel = (await here.deliveries.lease())[0]
    carrying_on = asyncio.create_task(
        DeliverySender(here.database, board, parcel, None, proof).carry()
    )
    await soon(lambda: bool(board.attempts), "the platform is called")
    sleeper.sleeps()
    await there.deliveries.recover()
    sleeper.wakes()
    board.gate.set()

    with pytest.raises(LeaseLost):
        await carrying_on
    assert board.texts == []


async def test_a_call_of_a_process_that_nobody_replaced_goes_on(open_store: OpenStore) -> None:
    """A process that was stopped while it sent a reply, and was alone, sends it once."""
    sleeper = Sleeper()
    store = await open_store(clock=sleeper.clock)
    board = Billboard(gate=asyncio.Event())
    assert board.gate is not None
    async with serving(store, ScriptedAgent(), board, pace=sleeper.pace) as (_, outbox):
        await tell(store, "hello")
        await soon(lambda: bool(board.attempts), "the platform is called")
        sleeper.sleeps()
        sleeper.wakes()
        board.gate.set()
        await all_carried(store, outbox)

    assert len(board.texts) == 1
    assert REPEAT_MARKER not in board.texts[0]


async def test_a_turn_that_ends_during_a_slow_call_has_not_lost_its_answer(
    open_store: OpenStore,
) -> None:
    """A message that takes longer than a lease is shown once, though its turn has ended since."""
    sleeper = Sleeper()
    store = await open_store(clock=sleeper.clock)
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS, gate=asyncio.Event())
    assert board.gate is not None
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board, pace=sleeper.pace) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.attempts), "the first words are sent")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        sleeper.wakes()
        board.gate.set()
        await all_carried(store, outbox)

    assert board.texts == ["Once upon a time"]


@on(FAST, POSTGRES)
async def test_an_edit_that_came_too_late_is_mended(open_store: OpenStore) -> None:
    """A message that a process edited after it was replaced reads as it should again."""
    sleeper, live = Sleeper(), TurnPubSub()
    here = deaf(await open_store(clock=sleeper.clock))
    there = await open_store(clock=sleeper.clock)
    board, other = Late(capabilities=GROWS), ScriptedAgent()
    other.will(Says("There was a king."))
    arrival = await tell(here, "a story")
    async with carrying(here, board, live=live, pace=sleeper.pace):
        await asyncio.sleep(0)
        claim = await here.turns.claim()
        assert claim is not None
        id, session_id = claim.turn.id, claim.turn.session_id
        live.publish(session_id, TurnBegun(turn_id=id, lease=claim.lease))
        live.publish(session_id, Delta(turn_id=id, text="Once upon"))
        await soon(lambda: board.texts == ["Once upon"], "the first words")
        board.stops = stops = asyncio.Event()
        live.publish(session_id, Delta(turn_id=id, text=" a time"))
        await soon(lambda: board.is_stopped, "more is about to be shown")
        sleeper.sleeps()
        second = Billboard(capabilities=GROWS, seen=board.seen)
        async with serving(there, other, second, pace=unhurried()) as (_, carrier):
            await becomes(there, arrival.turn_id, TurnState.DONE)
            await all_carried(there, carrier)
        assert board.texts == ["There was a king."]
        sleeper.wakes()
        stops.set()
        await soon(lambda: "Once upon a time" in board.history, "it is overwritten")
        await soon(lambda: board.texts == ["There was a king."], "it is mended")
