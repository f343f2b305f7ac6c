"""What an agent thinks, which nobody keeps, and what it wants to know again, which is kept."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.faulty_database import faulty
from tests.gateway.worker_setup import becomes, tell, unhurried
from threadline.core.agent import Output, ReasoningDelta, Request
from threadline.core.errors import StorageError
from threadline.core.settings import Settings
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import TEXT_LIMIT
from threadline.gateway.turn_pubsub import (
    Delta,
    Happening,
    Missed,
    Thinking,
    TurnBegun,
    TurnListener,
)
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.scripted_agent import Remembers, Says, ScriptedAgent, Streams, Thinks


async def test_thoughts_are_seen_and_kept_nowhere(store: Store) -> None:
    """Whoever listens reads what the agent thinks; the transcript has only what it says."""
    agent = ScriptedAgent()
    agent.will(Thinks("Peas or beans?"), Streams("Peas."))
    heard: list[Happening] = []
    async with Worker(store, agent, pace=unhurried()) as worker:
        with worker.live.attend(heard.append):
            arrival = await tell(store, "hello")
            await becomes(store, arrival.turn_id, TurnState.DONE)
    thoughts = [one.text for one in heard if isinstance(one, Thinking)]
    assert "".join(thoughts) == "Peas or beans?"
    assert arrival.session_id is not None
    lines = await store.transcripts.read(arrival.session_id)
    assert [line.text for line in lines][-1] == "Peas."
    assert not any("beans" in str(line.parts) for line in lines)


class Brooding:
    """An agent that comes to no end."""

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        while True:
            yield ReasoningDelta(text="x" * TEXT_LIMIT)


async def test_thoughts_have_an_end(store: Store) -> None:
    """An agent that thinks for ever is stopped, and that is said."""
    async with Worker(store, Brooding(), pace=unhurried()):
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.FAILED)

    assert arrival.turn_id is not None
    assert "thought more than" in ((await store.turns.get(arrival.turn_id)).error or "")


def test_thoughts_that_nobody_fetches_are_joined_and_lose_their_beginning() -> None:
    """A listener that is slow needs no more memory for a long thought than for a long text."""
    listener, turn_id = TurnListener(), TurnId(1)
    for text in ("a" * TEXT_LIMIT, "b", "c"):
        listener.hear(Thinking(turn_id=turn_id, text=text))
    listener.hear(Thinking(turn_id=TurnId(2), text="d"))
    listener.hear(Delta(turn_id=TurnId(2), text="e"))
    listener.end()

    async def fetch() -> list[Happening | Missed]:
        return [happening async for happening in listener]

    first, second, third = asyncio.run(fetch())
    assert isinstance(first, Thinking)
    assert (len(first.text), first.text[-3:]) == (TEXT_LIMIT, "abc")
    assert second == Thinking(turn_id=TurnId(2), text="d")
    assert third == Delta(turn_id=TurnId(2), text="e")


@on(FAST, POSTGRES)
async def test_a_memory_comes_back_with_the_next_request(open_store: OpenStore) -> None:
    """What the agent wants to know again it is given, and what is newer takes its place."""
    store, agent = await open_store(), ScriptedAgent()
    agent.will(Remembers("a"), Says("one"), Remembers("b"))
    async with Worker(store, agent, pace=unhurried()):
        first = await tell(store, "hello")
        await becomes(store, first.turn_id, TurnState.DONE)
        arrival = await tell(store, "again")
        await becomes(store, arrival.turn_id, TurnState.DONE)
    assert [request.memory for request in agent.requests] == [None, "b"]
    assert arrival.session_id is not None
    lines = [line.text for line in await store.transcripts.read(arrival.session_id)]
    assert lines[-3:] == ["one", "again", "ok"]


async def test_a_memory_is_kept_after_the_words_before_it(open_store: OpenStore) -> None:
    """If the words cannot be stored for a whole lease, neither is a memory of them."""
    plain = await open_store(rules=Settings(lease=timedelta(milliseconds=200)))
    full, database = faulty(plain)
    database.fail("append", StorageError("the disk is full"))
    agent = ScriptedAgent()
    agent.will(Says("one"), Remembers("I said one"))
    async with Worker(full, agent, pace=unhurried()):
        first = await tell(plain, "hello")
        await becomes(plain, first.turn_id, TurnState.FAILED)
    async with Worker(plain, agent, pace=unhurried()):
        second = await tell(plain, "again")
        await becomes(plain, second.turn_id, TurnState.DONE)
    assert agent.last.memory is None


async def test_a_listener_that_is_too_slow_is_told_that_it_missed_something() -> None:
    """What waits for it is dropped, by number or by size, and what comes then is heard again."""
    listener, turn_id = TurnListener(most=2, characters=10), TurnId(1)
    begun = TurnBegun(turn_id=turn_id)
    for happening in (begun, begun, begun, begun):
        listener.hear(happening)
    assert [await anext(listener), await anext(listener)] == [Missed(), begun]

    listener.hear(Delta(turn_id=turn_id, text="12345"))
    listener.hear(Delta(turn_id=turn_id, text="678901"))
    assert await anext(listener) == Missed()

    listener.hear(Delta(turn_id=turn_id, text="1234567890"))
    assert await anext(listener) == Delta(turn_id=turn_id, text="1234567890")
    listener.end()
    with pytest.raises(StopAsyncIteration):
        await anext(listener)
