"""Storage fails for a while: nothing that is finished is lost, asked for again or sent again."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from tests.gateway.failing_database import UnsteadyDatabase, unsteady
from tests.gateway.outbox_setup import Billboard, all_carried, carrying, soon
from tests.gateway.test_live_replies import GROWS, NARROW, goes_on, serving
from tests.gateway.worker_setup import becomes, tell, unhurried
from threadline.core.agent import Output, Question, Request
from threadline.core.delivery import REPEAT_MARKER, SendOutcome
from threadline.core.message import Role, say
from threadline.core.platform import SendFailed
from threadline.core.session import SessionId
from threadline.core.turn import TurnState
from threadline.core.usage import Usage
from threadline.gateway.gateway import Gateway
from threadline.gateway.intervals import Intervals
from threadline.gateway.running_turn import HELD_MESSAGES
from threadline.gateway.settings import GatewaySettings
from threadline.gateway.turn_pubsub import MessageAdded
from threadline.gateway.worker import Worker
from threadline.platforms.simulated import Simulated
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.testing.gateway_scenario import hospitable
from threadline.testing.scripted_agent import (
    Asks,
    AsksLive,
    Hangs,
    Says,
    ScriptedAgent,
    Spends,
    Streams,
)

USAGE = Usage(provider="p", model="m", input_tokens=1)


async def said(store: Store, session_id: SessionId | None) -> list[str]:
    """Read what the agent has said in a session."""
    assert session_id is not None
    lines = await store.transcripts.read(session_id)
    return [line.text for line in lines if line.role is Role.ASSISTANT]


@on(FAST, POSTGRES)
async def test_a_finished_answer_is_stored_when_storage_is_back(
    database_factory: DatabaseFactory,
) -> None:
    """The agent is asked once, also if the outage is longer than the lease."""
    clock = FakeClock()
    disk, database = unsteady(await database_factory(clock=clock))
    store, agent = Store(database), ScriptedAgent()
    agent.will(Streams("Once upon"), Hangs(), Says("Once upon a time"), Spends(USAGE))
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "a story")
        await soon(lambda: bool(agent.parked), "it hangs")
        disk.is_full = True
        agent.goes_on()
        await soon(lambda: disk.failed["finish"] > 0, "the end cannot be stored")
        clock.advance(timedelta(minutes=5))
        disk.is_full = False
        await worker.recover()
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert arrival.turn_id is not None
    assert len(agent.requests) == 1
    assert (await store.turns.get(arrival.turn_id)).attempts == 1
    assert await said(store, arrival.session_id) == ["Once upon a time"]
    assert len(await store.deliveries.lease()) == 1


@on(FAST, POSTGRES)
async def test_an_agent_goes_on_while_storage_fails(database_factory: DatabaseFactory) -> None:
    """Listeners hear every message at once, and all are stored in order afterwards."""
    disk, database = unsteady(await database_factory())
    store, agent = Store(database), ScriptedAgent()
    words = [f"message {n}" for n in range(5)]
    agent.will(Hangs(), *map(Says, words), Hangs())
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "hello")
        assert arrival.session_id is not None
        await soon(lambda: bool(agent.parked), "it hangs")
        disk.is_full = True
        heard: list[str] = []
        with worker.listen(arrival.session_id) as live:
            agent.goes_on()
            async for happening in live:
                if isinstance(happening, MessageAdded):
                    heard.append(happening.message.parts[0].text)  # type: ignore[union-attr]
                if len(heard) == len(words):
                    break
        await soon(lambda: bool(agent.parked), "it hangs again")
        disk.is_full = False
        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert heard == await said(store, arrival.session_id) == words
    assert len(agent.requests) == 1


class Talkative:
    """An agent that says very many messages."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.may_begin = asyncio.Event()
        self.said = 0

    async def answer(self, _: Request) -> AsyncIterator[Output]:
        await self.may_begin.wait()
        for n in range(self.count):
            self.said = n + 1
            yield say(Role.ASSISTANT, str(n))


async def test_what_is_kept_in_memory_is_bounded(database_factory: DatabaseFactory) -> None:
    """An agent that says too much while storage fails waits until storage is back."""
    disk, database = unsteady(await database_factory())
    store, agent = Store(database), Talkative(HELD_MESSAGES + 100)
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "talk")
        await soon(lambda: bool(worker.running), "it runs")
        disk.is_full = True
        agent.may_begin.set()
        await soon(lambda: disk.failed["append"] > 1, "it waits for storage")
        assert agent.said == HELD_MESSAGES + 1
        disk.is_full = False
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert arrival.session_id is not None
    lines = await store.transcripts.read(arrival.session_id, after=2, most=1000)
    assert [line.text for line in lines] == [str(n) for n in range(HELD_MESSAGES + 100)]


@on(FAST, POSTGRES)
async def test_a_commit_that_seemed_to_fail_is_not_repeated(
    database_factory: DatabaseFactory,
) -> None:
    """Messages, the end of a turn and questions are stored once, though nobody was told."""
    disk, database = unsteady(await database_factory())
    store, agent = Store(database), ScriptedAgent()
    agent.will(Says("one"), Hangs(), Says("two"), Says("three"), Asks("Go on?"))
    agent.will(Says("four"), Spends(USAGE))
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None
        await soon(lambda: bool(agent.parked), "it hangs")
        disk.breaks_after.update(append=2, wait=1, finish=1)
        await worker.beat()
        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.WAITING)
        await store.turns.answer(arrival.turn_id, "yes")
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await soon(lambda: not worker.running, "it is settled")

    assert disk.failed == {"append": 2, "wait": 1, "finish": 1}
    assert len(agent.requests) == 2
    assert await said(store, arrival.session_id) == ["one", "two", "three", "four"]


async def test_a_live_question_is_posed_once(database_factory: DatabaseFactory) -> None:
    """An agent that waits for the answer gets it, though posing the question seemed to fail."""
    disk, database = unsteady(await database_factory())
    store, agent = Store(database), ScriptedAgent()
    agent.will(AsksLive("Go on?"), Says("done"))
    disk.breaks_after.update(wait=1)
    async with Worker(store, agent, pace=unhurried()):
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None
        await becomes(store, arrival.turn_id, TurnState.WAITING)
        await soon(lambda: disk.failed["wait"] == 1, "it seemed to fail")
        await store.turns.answer(arrival.turn_id, "yes")
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert agent.answers == ["yes"]


@on(FAST, POSTGRES)
@pytest.mark.parametrize("question", [Asks("Go on?"), AsksLive("Go on?")])
async def test_an_answer_may_come_before_the_question_is_known_to_be_stored(
    database_factory: DatabaseFactory, question: Asks | AsksLive
) -> None:
    """The question is posed once and its usage counts once, though it was answered at once."""
    disk, database = unsteady(await database_factory())
    store, agent = Store(database), ScriptedAgent()
    agent.will(Hangs(), Spends(USAGE), question, Says("done"))
    agent.will(Says("done"))
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None
        assert arrival.session_id is not None
        await soon(lambda: bool(agent.parked), "it hangs")
        disk.breaks_after.update(wait=1)
        disk.meanwhile["wait"] = partial(store.turns.answer, arrival.turn_id, "yes")
        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await soon(lambda: not worker.busy, "it is settled")

    answers = agent.answers if isinstance(question, AsksLive) else [agent.last.turn.answer]
    assert answers == ["yes"]
    assert disk.failed["wait"] == 1
    assert [spent.input_tokens for spent in await store.usage.of_session(arrival.session_id)] == [1]
    asked = database_factory.tamper(f"SELECT questions FROM turns WHERE id = {arrival.turn_id}")
    assert asked == [(1,)]


@on(FAST, POSTGRES)
async def test_leases_are_renewed_before_a_question_is_known_to_be_stored(
    database_factory: DatabaseFactory,
) -> None:
    """A turn is not lost because it waits in the store while its process does not know that yet.

    The agent was cancelled then, and the answer started a turn that no process ran.
    """
    disk, database = unsteady(await database_factory())
    store, agent = Store(database), ScriptedAgent()
    agent.will(Hangs(), AsksLive("Go on?"), Says("done"))
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None
        await soon(lambda: bool(agent.parked), "it hangs")
        disk.breaks_after.update(wait=1)
        agent.goes_on()
        await soon(lambda: disk.failed["wait"] == 1, "it seemed to fail")
        await worker.beat()
        assert worker.running == {arrival.turn_id}
        await store.turns.answer(arrival.turn_id, "yes")
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert agent.answers == ["yes"]


class Impatient:
    """An agent that stops waiting for its answer when it is told to."""

    def __init__(self) -> None:
        self.gives_up = asyncio.Event()

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        assert request.ask is not None
        asking = asyncio.ensure_future(request.ask(Question(text="Go on?")))
        await self.gives_up.wait()
        asking.cancel()
        await asyncio.wait({asking})
        yield say(Role.ASSISTANT, "never mind")


@on(FAST, POSTGRES)
async def test_an_agent_gives_up_before_its_question_is_known_to_be_stored(
    database_factory: DatabaseFactory,
) -> None:
    """The question is withdrawn, and the turn ends with what the agent says."""
    disk, database = unsteady(await database_factory())
    store, agent = Store(database), Impatient()
    disk.breaks_after.update(wait=1)
    async with Worker(store, agent, pace=unhurried()):
        arrival = await tell(store, "hello")
        await soon(lambda: disk.failed["wait"] == 1, "it seemed to fail")
        agent.gives_up.set()
        await becomes(store, arrival.turn_id, TurnState.DONE)

    assert await said(store, arrival.session_id) == ["never mind"]


@on(FAST, POSTGRES)
async def test_a_turn_that_was_taken_over_meanwhile_is_not_stored(
    database_factory: DatabaseFactory,
) -> None:
    """The fence decides: the other answer stands, and what was spent here is stored too."""
    clock = FakeClock()
    disk, database = unsteady(await database_factory(clock=clock))
    here, there = Store(database), Store(await database_factory(clock=clock))
    slow, quick = ScriptedAgent(), ScriptedAgent()
    slow.will(Hangs(), Says("too late"), Spends(USAGE))
    async with Worker(here, slow, concurrency=1, pace=unhurried()) as worker:
        arrival = await tell(here, "hello")
        await soon(lambda: bool(slow.parked), "it hangs")
        disk.is_full = True
        slow.goes_on()
        await soon(lambda: disk.failed["finish"] > 0, "the end cannot be stored")
        clock.advance(timedelta(minutes=5))
        async with Worker(there, quick, pace=unhurried()):
            await becomes(there, arrival.turn_id, TurnState.DONE)
        disk.refuses, disk.is_full = frozenset({"spend"}), False
        await soon(lambda: not worker.running, "it is let go")
        await soon(lambda: disk.failed["spend"] > 0, "the usage cannot be stored yet")
        disk.refuses = frozenset()
        await worker.upkeep.tasks.settle()

    assert await said(there, arrival.session_id) == ["ok"]
    assert arrival.session_id is not None
    assert [spent.input_tokens for spent in await there.usage.of_session(arrival.session_id)] == [1]


async def test_a_worker_stops_though_storage_fails(
    database_factory: DatabaseFactory, caplog: pytest.LogCaptureFixture
) -> None:
    """The stop does not break, and the log names the turns whose output is not stored."""
    disk, database = unsteady(await database_factory())
    store, agent = Store(database), ScriptedAgent()
    agent.will(Streams("Once upon"), Hangs())
    worker = Worker(store, agent, pace=unhurried())
    async with worker:
        arrival = await tell(store, "hello")
        await soon(lambda: bool(agent.parked), "it hangs")
        disk.is_full = True

    assert f"the last output of turn {arrival.turn_id} is not stored" in caplog.text


@on(FAST, POSTGRES)
async def test_what_was_sent_is_not_sent_again(database_factory: DatabaseFactory) -> None:
    """That a platform has taken a reply is stored when storage is back, however late that is."""
    clock = FakeClock()
    disk, database = unsteady(await database_factory(clock=clock))
    store, board = Store(database), Billboard()
    async with Worker(store, ScriptedAgent(), pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.DONE)
    disk.refuses = frozenset({"record_sent"})
    async with carrying(store, board) as outbox:
        await soon(lambda: disk.failed["record_sent"] > 0, "it cannot be noted")
        clock.advance(timedelta(minutes=5))
        await outbox.renew()
        await store.deliveries.recover()
        disk.refuses = frozenset()
        await all_carried(store, outbox)

    assert board.texts == ["ok"]


async def test_a_growing_answer_is_shown_once(database_factory: DatabaseFactory) -> None:
    """Messages that were shown while storage failed are the ones that are completed."""
    disk, database = unsteady(await database_factory())
    store, agent, board = Store(database), ScriptedAgent(), Billboard(capabilities=NARROW)
    text = " ".join(f"word{n}" for n in range(40))
    agent.will(Streams(text[:30]), Hangs(), Streams(text[30:200]), Hangs(), Streams(text[200:]))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        disk.is_full = True
        await goes_on(agent)
        await soon(lambda: disk.failed["record_piece"] > 0, "the second message cannot be noted")
        await goes_on(agent)
        await soon(lambda: disk.failed["finish"] > 0, "the end cannot be stored")
        disk.is_full = False
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert " ".join(board.texts) == text
    assert len(agent.requests) == 1


async def test_a_growing_answer_adds_no_message_that_cannot_be_recorded(
    database_factory: DatabaseFactory,
) -> None:
    """While storage fails, a crash would leave a further message with no record of it."""
    disk, database = unsteady(await database_factory())
    store, agent, board = Store(database), ScriptedAgent(), Billboard(capabilities=NARROW)
    text = " ".join(f"word{n}" for n in range(20))
    agent.will(Streams(text[:30]), Hangs(), Streams(text[30:]), Hangs())
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        disk.refuses = frozenset({"record_piece"})
        await goes_on(agent)
        await soon(lambda: disk.failed["record_piece"] > 1, "it is tried again")
        shown = len(board.attempts)
        disk.refuses = frozenset()
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert shown == 1
    assert " ".join(board.texts) == text


async def test_a_doubtful_repeat_of_a_streamed_answer_is_marked(store: Store) -> None:
    """A platform that did not say what became of a message is sent it again with the marker."""
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    text = "word " * 2000
    agent.will(Streams("word "), Hangs(), Streams(text))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        board.raises_after = True
        board.failures.append(SendFailed("It broke off", outcome=SendOutcome.AMBIGUOUS))
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    again = [sent for sent in board.attempts if sent.text.startswith(REPEAT_MARKER)]
    assert len(again) == 1


def _is_past(agent: ScriptedAgent, count: int) -> bool:
    return len(agent.requests) > count


def _has_failed(disk: UnsteadyDatabase, count: int) -> bool:
    return sum(disk.failed.values()) > count


async def test_everything_is_answered_once_through_the_front_door(
    database_factory: DatabaseFactory,
) -> None:
    """The disk is full again and again while people write: each gets one answer, unmarked."""
    disk, database = unsteady(await database_factory())
    store, agent, chat = Store(database), ScriptedAgent(), Simulated("chat")
    beats = timedelta(milliseconds=20)
    pace = Intervals(checkpoint=beats, recover=beats)
    settings = GatewaySettings(access=hospitable("chat"), pace=pace)
    people = [chat.person(f"person {n}") for n in range(8)]
    async with Gateway(store, agent, [chat], settings=settings):
        for n in range(5):
            for person in people:
                person.writes(f"message {n}")
            asked, failed = n * len(people), sum(disk.failed.values())
            await soon(partial(_is_past, agent, asked), "an agent is asked")
            disk.is_full = True
            await soon(partial(_has_failed, disk, failed + 10), "storage fails")
            disk.is_full = False

        def answers() -> int:
            return sum(one.by is None for person in people for one in chat.seen(person.dm))

        await soon(lambda: answers() >= 5 * len(people), "all are answered")

    assert answers() == 5 * len(people)
    assert len(agent.requests) == 5 * len(people)
    shown = [one.text for person in people for one in chat.seen(person.dm)]
    assert not any(text.startswith(REPEAT_MARKER) for text in shown)
