import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta

import pytest

from tests.databases import DatabaseFactory, OpenStore
from tests.faulty_database import faulty
from tests.gateway.worker_setup import becomes, tell, unhurried, until
from tests.store.delivery_setup import run_steadily
from threadline.core.account import OUTCOMES_LAST, KnownRequest
from threadline.core.delivery import DeliveryState
from threadline.core.errors import StorageError
from threadline.core.event import Cursor, EventKind
from threadline.core.message import Message
from threadline.core.session import EndReason
from threadline.core.turn import TurnId, TurnState
from threadline.gateway.intervals import attempt, run_every
from threadline.gateway.maintenance import Maintenance
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.feed import FeedLost
from threadline.store.sessions.session_end import Ending
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import Hangs, ScriptedAgent

SOON = timedelta(milliseconds=5)


async def test_what_a_dead_worker_left_is_picked_up(open_store: OpenStore) -> None:
    """A turn under a lease that is over runs again, on whoever is there."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    arrival = await tell(store, "hello")
    assert await store.turns.claim() is not None
    clock.advance(timedelta(minutes=2))

    assert await Maintenance(store.database).recover() == [arrival.turn_id]

    await becomes(store, arrival.turn_id, TurnState.QUEUED)


async def test_replies_are_owed_again_before_turns_run_again(open_store: OpenStore) -> None:
    """After a crash people first get what they were owed, and then new answers."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await tell(store, "hello")
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease)
    (parcel,) = await store.deliveries.lease()
    cut_off = await tell(store, "hello", who="bob")
    assert await store.turns.claim() is not None
    clock.advance(timedelta(minutes=2))
    cursor = await store.feed.end()
    await Maintenance(store.database).recover()

    wanted = {EventKind.DELIVERY_PENDING, EventKind.TURN_QUEUED}
    events = [event for event in (await store.feed.read(cursor)).events if event.kind in wanted]
    assert [(event.kind, event.subject) for event in events] == [
        (EventKind.DELIVERY_PENDING, parcel.delivery.id),
        (EventKind.TURN_QUEUED, cut_off.turn_id),
    ]


async def test_more_turns_than_fit_into_a_slice_are_picked_up(open_store: OpenStore) -> None:
    """However many were cut off, all are recovered before a worker is ready."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    for n in range(120):
        await tell(store, "hello", who=f"person {n}")
        assert await store.turns.claim() is not None
    clock.advance(timedelta(minutes=2))

    assert len(await Maintenance(store.database).recover()) == 120


async def test_who_may_not_speak_any_more_is_not_resumed(open_store: OpenStore) -> None:
    """Access is asked before an interrupted turn goes on; a refused one fails visibly."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    arrival = await tell(store, "hello")
    assert arrival.turn_id is not None
    assert await store.turns.claim() is not None
    clock.advance(timedelta(minutes=2))

    assert await Maintenance(store.database).recover(refused=frozenset({arrival.turn_id})) == []

    turn = await store.turns.get(arrival.turn_id)
    assert turn.state is TurnState.FAILED
    assert "may not speak" in (turn.error or "")


async def test_access_is_asked_between_the_crash_and_the_resuming(open_store: OpenStore) -> None:
    """Who decides about access is asked when the interrupted turns are known, also by a worker."""
    clock = FakeClock()
    store, agent = await open_store(clock=clock), ScriptedAgent()
    arrivals = [await tell(store, "hello", who=who) for who in ("alice", "mallory")]
    for _ in arrivals:
        assert await store.turns.claim() is not None
    clock.advance(timedelta(minutes=2))
    states: list[TurnState] = []

    async def refuses(_: Collection[TurnId]) -> frozenset[TurnId]:
        refused = arrivals[1].turn_id
        assert refused is not None
        states.append((await store.turns.get(refused)).state)
        return frozenset({refused})

    async with Worker(store, agent, refuses=refuses, pace=unhurried()):
        await becomes(store, arrivals[0].turn_id, TurnState.DONE)
        await becomes(store, arrivals[1].turn_id, TurnState.FAILED)

    assert states[0] is TurnState.INTERRUPTED
    assert len(agent.requests) == 1


async def test_a_step_that_fails_keeps_no_other_from_running(open_store: OpenStore) -> None:
    """When one part of the sweep cannot be done, the rest is done all the same."""
    clock = FakeClock()
    store, database = faulty(await open_store(clock=clock))
    database.fail("list_open_kinds", StorageError("the disk sleeps"))
    await tell(store, "hello")
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease)
    clock.advance(timedelta(days=8))

    await Maintenance(database).sweep()

    with pytest.raises(FeedLost):
        await store.feed.read(Cursor("0.0"))


async def test_stale_replies_are_given_up(open_store: OpenStore) -> None:
    """A reply that nobody could send for a day is abandoned by the sweep."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await tell(store, "hello")
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease)
    await run_steadily(store, clock, timedelta(hours=25))

    await Maintenance(store.database).sweep()

    assert not await store.deliveries.lease()
    shown = (await store.sessions.snapshot([claim.lease.session_id])).glimpses[
        claim.lease.session_id
    ]
    assert DeliveryState.ABANDONED.value in shown.shown().values()


async def test_without_a_hook_endings_wait(store: Store) -> None:
    """Where nobody wants to be told yet, endings are kept for whoever comes later."""
    told: list[EndReason] = []

    async def hook(ending: Ending, _: Sequence[Message]) -> None:
        told.append(ending.reason)

    arrival = await tell(store, "hello")
    assert arrival.session_id is not None
    await store.sessions.end(arrival.session_id)
    await Maintenance(store.database).tell_endings()
    await Maintenance(store.database, on_ended=hook).tell_endings()

    assert told == [EndReason.CLOSED]


async def test_the_beats_come_by_themselves(open_store: OpenStore) -> None:
    """A running worker stores, recovers, sweeps and tells without being asked."""
    clock = FakeClock()
    store, other = await open_store(clock=clock), await open_store(clock=clock)
    agent, told = ScriptedAgent(), list[Ending]()

    async def hook(ending: Ending, _: Sequence[Message]) -> None:
        told.append(ending)

    pace = unhurried(checkpoint=SOON, recover=SOON, sweep=SOON)
    await tell(other, "hello", who="bob")
    assert await other.turns.claim() is not None
    async with Worker(store, agent, on_ended=hook, pace=pace):
        arrival = await tell(store, "hello")
        assert arrival.session_id is not None
        await becomes(store, arrival.turn_id, TurnState.DONE)
        clock.advance(timedelta(minutes=2))
        await until(lambda: _truth(len(agent.requests) == 2), "the other one is recovered")
        await store.sessions.end(arrival.session_id)
        await until(lambda: _truth(len(told) == 1), "the ending is told")


async def test_a_slow_hook_keeps_nobody_waiting(store: Store) -> None:
    """A hook that takes its time delays no turn and no recovery."""
    agent, begun, go_on = ScriptedAgent(), asyncio.Event(), asyncio.Event()

    async def hook(_: Ending, __: Sequence[Message]) -> None:
        begun.set()
        await go_on.wait()

    arrival = await tell(store, "hello")
    assert arrival.session_id is not None
    await store.sessions.end(arrival.session_id)
    async with Worker(store, agent, on_ended=hook, pace=unhurried(recover=SOON)) as worker:
        await asyncio.wait_for(begun.wait(), HANG_SECONDS)
        second = await tell(store, "hello again")
        await becomes(store, second.turn_id, TurnState.DONE)
        await worker.recover()
        go_on.set()


async def test_a_hook_that_outlives_its_lease_breaks_nothing(open_store: OpenStore) -> None:
    """A hook so slow that somebody else told the ending meanwhile costs a line in the log."""
    clock = FakeClock()
    store, other = await open_store(clock=clock), await open_store(clock=clock)
    told: list[str] = []

    async def quick(_: Ending, __: Sequence[Message]) -> None:
        told.append("quick")

    async def slow(_: Ending, __: Sequence[Message]) -> None:
        clock.advance(timedelta(minutes=2))
        await other.sessions.tell_endings(quick)
        told.append("slow")

    arrival = await tell(store, "hello")
    assert arrival.session_id is not None
    await store.sessions.end(arrival.session_id)
    async with Worker(store, ScriptedAgent(), on_ended=slow, pace=unhurried()):
        await until(lambda: _truth(len(told) == 2), "both told it")
        second = await tell(store, "still alive?")
        await becomes(store, second.turn_id, TurnState.DONE)


async def test_a_halted_worker_leaves_its_turns_as_they_were(store: Store) -> None:
    """Halting writes nothing: the turn is still under its lease, as after a crash."""
    agent = ScriptedAgent()
    agent.will(Hangs())
    worker = Worker(store, agent, pace=unhurried())
    async with worker:
        arrival = await tell(store, "hello")
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        await worker.halt()
        await becomes(store, arrival.turn_id, TurnState.RUNNING)


async def test_steady_work_outlives_a_database_that_does_not_answer() -> None:
    """What is done again and again is done again after a failure of the database."""
    done: list[int] = []

    async def work() -> None:
        done.append(len(done))
        if len(done) < 3:
            raise StorageError("the disk sleeps")

    task = asyncio.create_task(run_every(work, timedelta(0), at_once=True))
    await until(lambda: _truth(len(done) > 4), "it goes on")
    task.cancel()
    await asyncio.wait({task})

    assert task.cancelled()
    assert await attempt(work)


async def _truth(value: bool) -> bool:
    return value


async def test_old_answers_to_requests_are_swept(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """What came of a request is kept for a day, also where no other request ever comes."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    await store.claim_outcome(KnownRequest(account=owner.key, key="k", request_hash="1" * 64), "me")
    clock.advance(OUTCOMES_LAST + timedelta(seconds=1))

    await Maintenance(store.database).sweep()

    assert database_factory.tamper("SELECT * FROM outcomes") == []
