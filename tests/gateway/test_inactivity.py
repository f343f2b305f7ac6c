import asyncio
from datetime import timedelta

from tests.databases import OpenStore
from tests.faulty_database import faulty
from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.errors import StorageError
from threadline.core.message import Marker
from threadline.core.turn import Turn, TurnState
from threadline.gateway.inactivity import show_span
from threadline.gateway.intervals import Intervals
from threadline.gateway.turn_pubsub import TurnQuiet
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.scripted_agent import Hangs, Says, ScriptedAgent, Streams

MINUTE = 60.0


def later(minutes: float) -> float:
    """Answer a moment to come, by the clock of the loop."""
    return asyncio.get_running_loop().time() + minutes * MINUTE


async def test_a_silent_turn_is_given_up(store: Store) -> None:
    """After half an hour without a word the turn fails, says why, and keeps what was said."""
    agent = ScriptedAgent()
    agent.will(Streams("Once upon"), Hangs(), Says("too late"))
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "a story, please")
        assert arrival.session_id is not None
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")

        await worker.look_for_silence(later(29))
        await becomes(store, arrival.turn_id, TurnState.RUNNING)
        await worker.look_for_silence(later(31))

        await becomes(store, arrival.turn_id, TurnState.FAILED)
        await until(lambda: _truth(bool(agent.cancelled)), "the agent is cancelled")
        assert not worker.running
        last = (await store.transcripts.read(arrival.session_id))[-1]
    markers = [part.text for part in last.parts if isinstance(part, Marker)]
    assert markers == ["The agent said nothing for 30 minutes."]
    assert last.text.startswith("Once upon")
    assert len(await store.deliveries.lease(["telegram"])) == 1


async def test_the_conversation_goes_on_after_a_silence(store: Store) -> None:
    """Who waits behind a turn that was given up is answered."""
    agent = ScriptedAgent()
    agent.will(Hangs())
    async with Worker(store, agent, concurrency=1, pace=unhurried()) as worker:
        await tell(store, "hello")
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        second = await tell(store, "are you there?")

        await worker.look_for_silence(later(31))

        await becomes(store, second.turn_id, TurnState.DONE)


async def test_half_way_there_is_a_warning(store: Store) -> None:
    """At half of the time whoever listens, and whoever wants to know, is told once."""
    agent, told = ScriptedAgent(), list[tuple[Turn, timedelta]]()
    agent.will(Hangs(), Says("at last"))

    async def on_quiet(turn: Turn, silence: timedelta) -> None:
        told.append((turn, silence))

    async with Worker(store, agent, pace=unhurried(), on_quiet=on_quiet) as worker:
        arrival = await tell(store, "think")
        assert arrival.session_id is not None
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        with worker.live.listen(arrival.session_id) as listener:
            await worker.look_for_silence(later(14))
            assert not told
            await worker.look_for_silence(later(16))
            await worker.look_for_silence(later(20))
            happening = await anext(listener)
        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert [turn.id for turn, _ in told] == [arrival.turn_id]
    assert told[0][1] >= timedelta(minutes=15)
    assert isinstance(happening, TurnQuiet)
    assert timedelta(minutes=13) < happening.left <= timedelta(minutes=14, seconds=1)


async def test_a_word_ends_the_silence(store: Store) -> None:
    """An agent that says something has all the time again, and is warned of anew."""
    agent, told = ScriptedAgent(), list[Turn]()
    agent.will(Hangs(), Streams("hm"), Hangs())

    async def on_quiet(turn: Turn, _: timedelta) -> None:
        told.append(turn)

    async with Worker(store, agent, pace=unhurried(), on_quiet=on_quiet) as worker:
        arrival = await tell(store, "think")
        assert arrival.session_id is not None
        with worker.live.listen(arrival.session_id):
            await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
            (turn,) = worker._running.values()
            await worker.look_for_silence(later(16))
            assert len(told) == 1
            agent.goes_on()
            await until(lambda: _truth(turn.pieces == 2 and bool(agent.parked)), "it spoke")
        assert turn.warned_at is None

        await worker.look_for_silence(later(16))
        assert len(told) == 2


async def test_silence_can_be_allowed(store: Store) -> None:
    """Without a limit an agent may think as long as it likes."""
    agent = ScriptedAgent()
    agent.will(Hangs())
    never = timedelta(days=1)
    pace = Intervals(
        checkpoint=never,
        recover=never,
        sweep=never,
        drain=timedelta(0),
        inactivity=None,
    )
    async with Worker(store, agent, pace=pace) as worker:
        arrival = await tell(store, "think")
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        await worker.look_for_silence(later(60 * 24))
        await becomes(store, arrival.turn_id, TurnState.RUNNING)


async def test_a_silence_is_stored_when_storage_is_back(open_store: OpenStore) -> None:
    """When the database fails just then, the end of the turn is stored at the next attempt."""
    store, database = faulty(await open_store())
    database.fail("fail", StorageError("the disk sleeps"), times=1)
    agent = ScriptedAgent()
    agent.will(Hangs())
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "think")
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")

        await worker.look_for_silence(later(31))
        await becomes(store, arrival.turn_id, TurnState.FAILED)


async def test_it_is_looked_for_by_itself(store: Store) -> None:
    """The look comes with the beats of the worker."""
    agent = ScriptedAgent()
    agent.will(Hangs())
    soon = timedelta(milliseconds=5)
    pace = Intervals(checkpoint=soon, drain=timedelta(0), inactivity=timedelta(milliseconds=50))
    async with Worker(store, agent, pace=pace):
        arrival = await tell(store, "think")
        await becomes(store, arrival.turn_id, TurnState.FAILED)


def test_spans_are_said_as_people_say_them() -> None:
    """Minutes where there are some, else seconds."""
    assert show_span(timedelta(minutes=30)) == "30 minutes"
    assert show_span(timedelta(seconds=90)) == "90 seconds"
    assert show_span(timedelta(seconds=1)) == "1 second"


async def _truth(value: bool) -> bool:
    return value
