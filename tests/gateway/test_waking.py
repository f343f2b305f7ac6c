"""A process that was stopped for longer than its lease acts on nothing that it no longer owns."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.gateway.scene import becomes, tell, unhurried
from tests.gateway.stage import Billboard, all_carried, carrying, soon
from tests.gateway.test_streaming import GROWS, goes_on, serving
from threadline.core.errors import LeaseLost
from threadline.core.event import Cursor, Event
from threadline.core.turn import TurnState
from threadline.gateway.carriage import Carriage
from threadline.gateway.live import Begun, Delta, Happening, Live
from threadline.gateway.pace import Proof
from threadline.gateway.worker import Worker
from threadline.sessions.store import Store
from threadline.testing.agent import Hangs, ScriptedAgent, Streams
from threadline.testing.clock import FakeClock

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


class Deaf(Store):
    """The store of a stopped process: it hears of nothing that others do."""

    async def follow(self, after: Cursor | None = None) -> AsyncGenerator[Event, None]:
        await asyncio.Event().wait()
        raise AssertionError("it was woken up")
        yield


@on(FAST, POSTGRES)
async def test_a_reply_that_another_process_sends_is_not_sent(open_store: OpenStore) -> None:
    """A process that was stopped before it sent a reply leaves it to the one that took it over."""
    sleeper = Sleeper()
    here, there = await open_store(clock=sleeper.clock), await open_store(clock=sleeper.clock)
    board = Billboard()
    async with Worker(there, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(there, "hello")
        await becomes(there, arrival.turn_id, TurnState.DONE)
    proof = Proof(here.rules.lease, sleeper.pace.clock)
    parcel = (await here.take_deliveries())[0]
    sleeper.sleeps()
    await there.reclaim_deliveries()
    sleeper.clock.advance(ASLEEP)
    assert len(await there.take_deliveries()) == 1
    sleeper.wakes()

    with pytest.raises(LeaseLost):
        await Carriage(here, board, parcel, None, proof).carry()

    assert board.attempts == []


@on(FAST, POSTGRES)
async def test_an_answer_that_another_process_gives_does_not_grow_on(
    open_store: OpenStore,
) -> None:
    """After waking up, an agent that goes on is heard neither on its platform nor on screens."""
    sleeper = Sleeper()
    here = Deaf((await open_store(clock=sleeper.clock))._db)
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
    sleeper, live = Sleeper(), Live()
    here = Deaf((await open_store(clock=sleeper.clock))._db)
    there = await open_store(clock=sleeper.clock)
    board = Billboard(capabilities=GROWS)
    await tell(here, "a story")
    async with carrying(here, board, live=live, pace=sleeper.pace) as outbox:
        await asyncio.sleep(0)
        claim = await here.claim()
        assert claim is not None
        id, session_id = claim.turn.id, claim.turn.session_id
        live.publish(session_id, Begun(turn_id=id, lease=claim.lease))
        live.publish(session_id, Delta(turn_id=id, text="Once upon"))
        await soon(lambda: board.texts == ["Once upon"], "the first words")
        sleeper.sleeps()
        await there.interrupt_dead()
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

        assert (await store.turn(arrival.turn_id)).lease_until == sleeper.clock() + (
            store.rules.lease
        )
        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.DONE)
