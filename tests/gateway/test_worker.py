import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.faulty_database import faulty
from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.agent import Output, Request, TextDelta
from threadline.core.errors import StorageError
from threadline.core.message import Role, say
from threadline.core.platform import PlatformDirectory
from threadline.core.turn import TurnState
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import Fails, Hangs, Says, ScriptedAgent


async def test_a_turn_is_answered_as_soon_as_it_arrives(store: Store) -> None:
    """The feed wakes the worker: no beat has to come first."""
    async with Worker(store, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.DONE)


@on(FAST, POSTGRES)
async def test_what_another_process_takes_in_is_answered(open_store: OpenStore) -> None:
    """A worker hears of messages that arrived elsewhere."""
    here, there = await open_store(), await open_store()

    async with Worker(here, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(there, "hello")
        await becomes(there, arrival.turn_id, TurnState.DONE)


async def test_what_waited_before_the_start_is_answered(store: Store) -> None:
    """A worker begins with what is there already."""
    arrival = await tell(store, "hello")

    async with Worker(store, ScriptedAgent(), pace=unhurried()):
        await becomes(store, arrival.turn_id, TurnState.DONE)


async def test_so_many_turns_run_at_a_time_and_no_more(store: Store) -> None:
    """The limit holds, and whoever waits comes next."""
    agent = ScriptedAgent()
    for _ in range(5):
        agent.will(Hangs())
    async with Worker(store, agent, concurrency=2, pace=unhurried()) as worker:
        arrivals = [await tell(store, "hello", who=f"person {n}") for n in range(5)]
        await until(lambda: _truth(len(agent.parked) == 2), "two turns hang")
        await asyncio.sleep(0.05)
        assert len(worker.running) == len(agent.requests) == 2

        while len(agent.requests) < 5 or agent.parked:
            agent.goes_on()
            await asyncio.sleep(0.005)
        for arrival in arrivals:
            await becomes(store, arrival.turn_id, TurnState.DONE)


@on(FAST, POSTGRES)
async def test_two_workers_answer_everything_once(open_store: OpenStore) -> None:
    """Workers of two processes share the work and never do it twice (asks 3 and 6)."""
    stores = [await open_store(), await open_store()]
    agents = [ScriptedAgent(), ScriptedAgent()]
    async with (
        Worker(stores[0], agents[0], concurrency=3, pace=unhurried()),
        Worker(stores[1], agents[1], concurrency=3, pace=unhurried()),
    ):
        arrivals = [
            await tell(stores[n % 2], f"message {n}", who=f"person {n % 5}") for n in range(30)
        ]
        for arrival in arrivals:
            await becomes(stores[0], arrival.turn_id, TurnState.DONE)

    answered = [request.turn.id for agent in agents for request in agent.requests]
    assert sorted(answered) == sorted(arrival.turn_id or 0 for arrival in arrivals)


@on(FAST, POSTGRES)
async def test_a_stop_elsewhere_reaches_the_agent(open_store: OpenStore) -> None:
    """A turn that another process stops is let go at once."""
    here, there = await open_store(), await open_store()
    agent = ScriptedAgent()
    agent.will(Hangs())
    async with Worker(here, agent, pace=unhurried()) as worker:
        arrival = await tell(here, "hello")
        assert arrival.turn_id is not None
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")

        await there.turns.stop(arrival.turn_id)

        await until(lambda: _truth(agent.cancelled == [arrival.turn_id]), "it is cancelled")
        await until(lambda: _truth(not worker.running), "it is settled")


async def test_a_turn_taken_over_is_let_go(open_store: OpenStore) -> None:
    """A worker that slept through its lease loses the turn, and writes nothing more (ask 18)."""
    clock = FakeClock()
    sleepy, awake = await open_store(clock=clock), await open_store(clock=clock)
    first, second = ScriptedAgent(), ScriptedAgent()
    first.will(Hangs(), Says("too late"))
    async with Worker(sleepy, first, concurrency=1, pace=unhurried()):
        arrival = await tell(sleepy, "hello")
        await until(lambda: _truth(bool(first.parked)), "the turn hangs")
        clock.advance(timedelta(minutes=2))

        async with Worker(awake, second, pace=unhurried()):
            await becomes(awake, arrival.turn_id, TurnState.DONE)
            await until(lambda: _truth(first.cancelled == [arrival.turn_id]), "it is let go")
            first.goes_on()

    assert arrival.session_id is not None
    texts = [line.text for line in await awake.transcripts.read(arrival.session_id)]
    assert texts[-1] == "ok"
    assert "too late" not in texts


async def test_leases_are_renewed_for_the_silent(open_store: OpenStore) -> None:
    """An agent that thinks for long keeps its turn, without a word (ask 18)."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    agent = ScriptedAgent()
    agent.will(Hangs())
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "think")
        assert arrival.turn_id is not None
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        for _ in range(5):
            clock.advance(timedelta(seconds=50))
            await worker.beat()

        assert (await store.turns.get(arrival.turn_id)).lease_until == clock() + store.rules.lease
        assert await store.turns.interrupt_dead() == []
        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.DONE)


async def test_an_own_lease_that_is_over_is_renewed_before_it_is_taken(
    open_store: OpenStore,
) -> None:
    """A machine that slept wakes up with expired leases, and does not interrupt itself."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    agent = ScriptedAgent()
    agent.will(Hangs())
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "think")
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        clock.advance(timedelta(hours=3))

        await worker.recover()

        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.DONE)
    assert len(agent.requests) == 1


async def test_local_answers_are_owed_to_nobody(store: Store) -> None:
    """A terminal reads the store; a platform has to be sent what was said."""
    async with Worker(store, ScriptedAgent(), pace=unhurried()):
        for platform in ("local", "telegram"):
            arrival = await tell(store, "hello", on=platform)
            await becomes(store, arrival.turn_id, TurnState.DONE)

    assert [p.delivery.address.platform for p in await store.deliveries.lease()] == ["telegram"]


async def test_who_is_sent_answers_can_be_decided(store: Store) -> None:
    """Whoever assembles a worker may say where answers are owed."""
    async with Worker(store, ScriptedAgent(), delivers=lambda _: False, pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert not await store.deliveries.lease()


class Stubborn:
    """An agent that does not end when it is cancelled."""

    def __init__(self) -> None:
        self.was_cancelled = asyncio.Event()

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        yield TextDelta(text="I begin. ")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.was_cancelled.set()
        yield say(Role.ASSISTANT, "I go on.")


async def test_a_stubborn_agent_says_nothing_more(store: Store) -> None:
    """An agent that ignores a stop cannot write any more, and blocks nobody."""
    agent = Stubborn()
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None
        assert arrival.session_id is not None
        await until(lambda: _truth(bool(worker.running)), "it runs")
        (turn,) = worker._running.values()
        await until(lambda: _truth(turn.pieces == 1), "it has said something")
        await worker.beat()

        await store.turns.stop(arrival.turn_id)
        await asyncio.wait_for(agent.was_cancelled.wait(), HANG_SECONDS)
        await until(lambda: _truth(not worker.running), "it is let go")

    texts = [line.text for line in await store.transcripts.read(arrival.session_id)]
    assert texts[-1] == "I begin. \nStopped."


async def _moody(open_store: OpenStore, mood: Exception) -> Store:
    """Return a store whose first claim fails."""
    store, database = faulty(await open_store())
    database.fail("_claim", mood, times=1)
    return store


async def test_a_database_that_does_not_answer_is_asked_again(open_store: OpenStore) -> None:
    """A hiccup of the database costs time, and nothing else."""
    store = await _moody(open_store, StorageError("the disk sleeps"))

    async with Worker(store, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.DONE)


async def test_an_error_nobody_expected_is_not_swallowed(open_store: OpenStore) -> None:
    """A worker that breaks says so to whoever runs it, and its listeners end."""
    store = await _moody(open_store, ZeroDivisionError("a bug"))
    arrival = await tell(store, "hello")
    assert arrival.session_id is not None

    with pytest.raises(ExceptionGroup) as caught:
        async with Worker(store, ScriptedAgent(), pace=unhurried()) as worker:
            with worker.listen(arrival.session_id) as live:
                assert [happening async for happening in live] == []
    assert caught.group_contains(ZeroDivisionError)


async def test_a_turn_that_breaks_its_worker_is_not_swallowed(open_store: OpenStore) -> None:
    """An error of our own, beside what an agent may do, ends the worker and is raised."""
    store, database = faulty(await open_store())
    database.fail("fail", ZeroDivisionError("a bug"))
    agent = ScriptedAgent()
    agent.will(Fails())
    await tell(store, "hello")

    worker = Worker(store, agent, pace=unhurried())
    with pytest.raises(ExceptionGroup) as caught:
        await asyncio.wait_for(worker.run(), HANG_SECONDS)
    assert caught.group_contains(ZeroDivisionError)


async def test_a_worker_that_cannot_start_says_why(open_store: OpenStore) -> None:
    """A store that is closed cannot be worked on."""
    store, database = faulty(await open_store())
    database.fail("feed_end", StorageError("the disk is gone"))
    with pytest.raises(ExceptionGroup) as caught:
        async with Worker(store, ScriptedAgent(), pace=unhurried()):
            pytest.fail("it started")
    assert caught.group_contains(StorageError)


async def test_stopping_and_halting_again_is_harmless(store: Store) -> None:
    """A worker may be stopped as often as anybody likes, also before it began."""
    idle = Worker(store, ScriptedAgent(), pace=unhurried())
    await idle.stop()
    await idle.halt()

    async with Worker(store, ScriptedAgent(), pace=unhurried()) as worker:
        await worker.stop()
        await worker.stop()
        await worker.halt()


async def test_an_agent_is_told_what_is_around(store: Store) -> None:
    """Whoever assembles a worker says which platforms there are, and what to know of them."""
    agent = ScriptedAgent()
    around = PlatformDirectory(notes={"telegram": "Write short messages."})
    async with Worker(store, agent, surroundings=lambda: around, pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert "Write short messages." in agent.last.instructions


async def test_who_waits_for_a_worker_hears_of_its_end(open_store: OpenStore) -> None:
    """Waiting ends with the worker, and raises what broke it."""
    store = await _moody(open_store, ZeroDivisionError("a bug"))
    await Worker(store, ScriptedAgent()).wait()
    worker = Worker(store, ScriptedAgent(), pace=unhurried())
    await worker.__aenter__()

    with pytest.raises(ExceptionGroup) as caught:
        await asyncio.wait_for(worker.wait(), HANG_SECONDS)

    assert caught.group_contains(ZeroDivisionError)


async def test_a_stopping_worker_takes_no_new_turn(store: Store) -> None:
    """What arrives after the sign to stop waits for somebody else."""
    agent = ScriptedAgent()
    agent.will(Hangs())
    async with Worker(store, agent, pace=unhurried(drain=timedelta(hours=1))) as worker:
        first = await tell(store, "hello")
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        stopping = asyncio.create_task(worker.stop())
        await asyncio.sleep(0)
        late = await tell(store, "hello", who="bob")
        await asyncio.sleep(0.05)
        agent.goes_on()
        await stopping

    await becomes(store, first.turn_id, TurnState.DONE)
    await becomes(store, late.turn_id, TurnState.QUEUED)


async def _truth(value: bool) -> bool:
    return value
