"""Agents that ask a person and stay as they are until they hear the answer."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.faulty_database import faulty
from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.agent import Output, Question, Request, TextDelta
from threadline.core.errors import AgentError, LeaseLost
from threadline.core.message import Role, say
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import TEXT_LIMIT
from threadline.gateway.turn_pubsub import Delta, Happening, MessageAdded, TurnBegun, TurnClosed
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import AsksLive, Says, ScriptedAgent, Streams

MINUTE = 60.0
SHALL_I = Question(text="Shall I?", tools=("files_delete",))


async def asked(store: Store, who: str = "alice") -> Arrival:
    """Let somebody say something, upon which they are asked back."""
    arrival = await tell(store, "delete it", who=who)
    await becomes(store, arrival.turn_id, TurnState.WAITING)
    return arrival


@on(FAST, POSTGRES)
async def test_the_agent_goes_on_with_the_answer(open_store: OpenStore) -> None:
    """It is the same answer that goes on: what was said before the question stands before it."""
    store, agent = await open_store(), ScriptedAgent()
    agent.will(Streams("Let me see."), AsksLive("Shall I?", ("rm",)), Says("It is gone."))
    async with Worker(store, agent, pace=unhurried()):
        arrival = await asked(store)
        assert arrival.turn_id is not None
        assert arrival.session_id is not None
        turn = await store.turns.get(arrival.turn_id)
        assert (turn.question, turn.asks, turn.owner) == ("Shall I?", ("rm",), store.owner)

        assert await store.turns.answer(arrival.turn_id, "approved") is TurnState.RUNNING

        await becomes(store, arrival.turn_id, TurnState.DONE)
    assert agent.answers == ["approved"]
    assert len(agent.requests) == 1
    lines = await store.transcripts.read(arrival.session_id)
    spoken = [line.text for line in lines if line.role is Role.ASSISTANT]
    assert spoken == ["Let me see.", "It is gone."]


async def test_whoever_watches_sees_it_wait_and_go_on(store: Store) -> None:
    """To a listener it is a turn that closes with a question, and begins anew."""
    agent = ScriptedAgent()
    agent.will(Streams("Hm."), AsksLive("Shall I?"), Says("Yes."))
    heard: list[Happening] = []
    async with Worker(store, agent, pace=unhurried()) as worker:
        with worker.live.attend(heard.append):
            arrival = await asked(store)
            assert arrival.turn_id is not None
            await store.turns.answer(arrival.turn_id, "approved")
            await becomes(store, arrival.turn_id, TurnState.DONE)
    id = arrival.turn_id
    assert [one for one in heard if not isinstance(one, Delta)] == [
        TurnBegun(turn_id=id),
        MessageAdded(turn_id=id, message=say(Role.ASSISTANT, "Hm.")),
        TurnClosed(turn_id=id, state=TurnState.WAITING, question="Shall I?"),
        TurnBegun(turn_id=id),
        MessageAdded(turn_id=id, message=say(Role.ASSISTANT, "Yes.")),
        TurnClosed(turn_id=id, state=TurnState.DONE),
    ]


@on(FAST, POSTGRES)
async def test_it_may_wait_as_long_as_it_takes(open_store: OpenStore) -> None:
    """Its lease is renewed for hours, and nobody takes the silence for a fault of the agent."""
    clock = FakeClock()
    store, agent = await open_store(clock=clock), ScriptedAgent()
    agent.will(AsksLive("Shall I?"), Says("It is gone."))
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await asked(store)
        assert arrival.turn_id is not None
        for _ in range(3):
            clock.advance(timedelta(hours=5))
            await worker.recover()
        await worker.look_for_silence(asyncio.get_running_loop().time() + 900 * MINUTE)
        assert (await store.turns.get(arrival.turn_id)).state is TurnState.WAITING

        await store.turns.answer(arrival.turn_id, "approved")

        await becomes(store, arrival.turn_id, TurnState.DONE)
    assert agent.answers == ["approved"]


async def test_nobody_answers_for_a_day(open_store: OpenStore) -> None:
    """Then the answer is no, and the agent goes on with that."""
    clock = FakeClock()
    store, agent = await open_store(clock=clock), ScriptedAgent()
    agent.will(AsksLive("Shall I?"), Says("Then not."))
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await asked(store)
        clock.advance(timedelta(hours=25))
        await worker.recover()

        await worker.keeper.sweep()

        await becomes(store, arrival.turn_id, TurnState.DONE)
    assert agent.answers == ["denied"]


@on(FAST, POSTGRES)
async def test_stopped_while_it_waits(open_store: OpenStore) -> None:
    """The agent is cancelled at once, and the conversation goes on with the next message."""
    store, agent = await open_store(), ScriptedAgent()
    agent.will(AsksLive("Shall I?"), Says("never said"))
    async with Worker(store, agent, pace=unhurried()):
        arrival = await asked(store)
        assert arrival.turn_id is not None

        assert await store.turns.stop(arrival.turn_id)

        second = await tell(store, "something else")
        await becomes(store, second.turn_id, TurnState.DONE)
    assert agent.cancelled == [arrival.turn_id]
    assert agent.answers == []


@on(FAST, POSTGRES)
async def test_a_worker_that_stops_does_not_wait_for_the_answer(open_store: OpenStore) -> None:
    """The turn is interrupted at once; whoever goes on with it asks again."""
    store, agent = await open_store(), ScriptedAgent()
    agent.will(AsksLive("Shall I?"), Says("never said"))
    agent.will(AsksLive("Shall I, once more?"), Says("It is gone."))
    patient = unhurried(drain=timedelta(hours=1))
    async with asyncio.timeout(HANG_SECONDS):
        async with Worker(store, agent, pace=patient):
            arrival = await asked(store)
            assert arrival.turn_id is not None
    assert (await store.turns.get(arrival.turn_id)).state is TurnState.INTERRUPTED

    async with Worker(store, agent, pace=unhurried()):
        await becomes(store, arrival.turn_id, TurnState.WAITING)
        assert (await store.turns.get(arrival.turn_id)).question == "Shall I, once more?"
        await store.turns.answer(arrival.turn_id, "approved")
        await becomes(store, arrival.turn_id, TurnState.DONE)
    assert agent.answers == ["approved"]


async def test_an_answer_that_the_feed_did_not_tell_is_found(open_store: OpenStore) -> None:
    """A beat looks for it, as the feed may have a gap."""
    store, database = faulty(await open_store())
    database.is_deaf, agent = True, ScriptedAgent()
    agent.will(AsksLive("Shall I?"), Says("It is gone."))
    arrival = await tell(store, "delete it")
    async with Worker(store, agent, pace=unhurried()) as worker:
        await becomes(store, arrival.turn_id, TurnState.WAITING)
        assert arrival.turn_id is not None
        await store.turns.answer(arrival.turn_id, "approved")

        await worker.beat()

        await becomes(store, arrival.turn_id, TurnState.DONE)


async def test_who_waits_for_an_answer_takes_no_place(store: Store) -> None:
    """One question that nobody answers does not keep all others from being answered."""
    agent = ScriptedAgent()
    agent.will(AsksLive("Shall I?"), Says("It is gone."))
    async with Worker(store, agent, concurrency=1, per_profile={"main": 1}, pace=unhurried()):
        waiting = await asked(store)
        other = await tell(store, "hello", who="bob")
        await becomes(store, other.turn_id, TurnState.DONE)

        assert waiting.turn_id is not None
        await store.turns.answer(waiting.turn_id, "approved")
        await becomes(store, waiting.turn_id, TurnState.DONE)


class Impatient:
    """Asks, but does not wait for long."""

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Ask, give up, and go on."""
        yield TextDelta(text="Well, ")
        try:
            async with asyncio.timeout(0.05):
                await request.ask(SHALL_I)
        except TimeoutError:
            yield say(Role.ASSISTANT, "Nobody is there.")


async def test_an_agent_may_give_up_its_question(store: Store) -> None:
    """The question is taken back, and the turn ends as any other."""
    async with Worker(store, Impatient(), pace=unhurried()):
        arrival = await tell(store, "delete it")
        await becomes(store, arrival.turn_id, TurnState.DONE)
        assert arrival.session_id is not None
        texts = [line.text for line in await store.transcripts.read(arrival.session_id)]
    assert texts[-2:] == ["Well, ", "Nobody is there."]


class Busy:
    """Asks beside what it says, as a program does that works on several things at once."""

    def __init__(self, store: Store, end: Exception | None = None) -> None:
        """Read in the store when it is asked; `end`: break off then."""
        self.answers: list[str] = []
        self._store = store
        self._end = end

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Ask twice at once, go on meanwhile, and end in one way or another."""
        asking = [asyncio.create_task(self._ask(request, n)) for n in range(2)]
        try:
            # Not its state: somebody may be quick, and it waits no longer when we look.
            await until(lambda: self._has_asked(request.turn.id), "somebody is asked")
            if self._end is not None:
                raise self._end
            yield say(Role.ASSISTANT, "I go on meanwhile.")
            assert not await request.steering()
            await asyncio.wait(asking)
        finally:
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)

    async def _has_asked(self, turn_id: TurnId) -> bool:
        return (await self._store.turns.get(turn_id)).question is not None

    async def _ask(self, request: Request, n: int) -> None:
        self.answers.append(await request.ask(Question(text=f"Shall I, {n}?")))


@on(FAST, POSTGRES)
async def test_two_questions_are_asked_one_after_the_other(open_store: OpenStore) -> None:
    """What the agent says meanwhile is stored when it can be, and nothing gets lost."""
    store = await open_store()
    agent = Busy(store)
    async with Worker(store, agent, pace=unhurried()):
        arrival = await asked(store)
        assert arrival.turn_id is not None
        assert arrival.session_id is not None
        assert (await store.turns.get(arrival.turn_id)).question == "Shall I, 0?"
        await store.turns.answer(arrival.turn_id, "yes")
        await until(lambda: _asks(store, arrival, "Shall I, 1?"), "the second one is asked")
        await becomes(store, arrival.turn_id, TurnState.WAITING)
        await store.turns.answer(arrival.turn_id, "no")
        await becomes(store, arrival.turn_id, TurnState.DONE)
        lines = await store.transcripts.read(arrival.session_id)
    assert agent.answers == ["yes", "no"]
    assert lines[-1].text == "I go on meanwhile."


async def test_an_agent_that_fails_while_it_asks(store: Store) -> None:
    """Nobody has to answer any more: the turn has failed, and says why."""
    agent = Busy(store, end=AgentError("The program is gone"))
    async with Worker(store, agent, pace=unhurried()):
        arrival = await tell(store, "delete it")
        await becomes(store, arrival.turn_id, TurnState.FAILED)
        assert arrival.turn_id is not None
        turn = await store.turns.get(arrival.turn_id)
    assert turn.error == "The program is gone."
    assert agent.answers == []


@pytest.mark.parametrize(
    "bad",
    ["a word", None, Question(text="x" * (TEXT_LIMIT + 1)), Question(text="half \ud800")],
    ids=["a word", "nothing", "too long", "no text"],
)
async def test_a_question_that_is_none_fails_the_turn(store: Store, bad: object) -> None:
    """It says so, and the conversation goes on."""

    class Odd:
        async def answer(self, request: Request) -> AsyncIterator[Output]:
            await request.ask(bad)  # type: ignore[arg-type]
            yield TextDelta(text="never")

    async with Worker(store, Odd(), pace=unhurried()):
        arrival = await tell(store, "delete it")
        await becomes(store, arrival.turn_id, TurnState.FAILED)
        assert arrival.turn_id is not None
        assert (await store.turns.get(arrival.turn_id)).error is not None


async def test_a_question_after_the_end_is_refused(store: Store) -> None:
    """Whoever keeps a request and asks later hears that the turn is not theirs any more."""
    agent = ScriptedAgent()
    async with Worker(store, agent, pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.DONE)
        with pytest.raises(LeaseLost):
            await agent.last.ask(SHALL_I)


async def _asks(store: Store, arrival: Arrival, question: str) -> bool:
    assert arrival.turn_id is not None
    return (await store.turns.get(arrival.turn_id)).question == question
