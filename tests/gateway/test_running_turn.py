import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.faulty_database import faulty
from tests.gateway.worker_setup import becomes, tell, unhurried, until
from threadline.core.agent import Agent, Output, Request, TextDelta
from threadline.core.errors import AgentError, StorageError
from threadline.core.message import Attachment, BlobHash, MediaKind, NewMessage, Role, say
from threadline.core.settings import Settings
from threadline.core.turn import Lease, TurnState
from threadline.core.usage import Usage
from threadline.core.validation import TEXT_LIMIT
from threadline.gateway.running_turn import USAGE_LIMIT
from threadline.gateway.turn_pubsub import (
    Delta,
    Happening,
    MessageAdded,
    Missed,
    TurnBegun,
    TurnClosed,
)
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import Fails, Hangs, Says, ScriptedAgent, Streams

MISSING = Attachment(kind=MediaKind.FILE, blob=BlobHash("0" * 64), media_type="text/plain", size=1)


USAGE = Usage(provider="p", model="m", input_tokens=1)


class Mute(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Yields:
    """An agent that yields what a test gives it, good or bad."""

    def __init__(self, *outputs: object) -> None:
        self._outputs = outputs

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        for output in self._outputs:
            if isinstance(output, BaseException):
                raise output
            yield output  # type: ignore[misc]


async def texts_of(store: Store, agent: Agent) -> list[str]:
    """Let an agent answer one turn, and read what became of it."""
    async with Worker(store, agent, pace=unhurried()):
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None
        assert arrival.session_id is not None
        turn_id = arrival.turn_id

        async def is_over() -> bool:
            return (await store.turns.get(turn_id)).state in {TurnState.DONE, TurnState.FAILED}

        await until(is_over, "the turn ends")
        return [line.text for line in await store.transcripts.read(arrival.session_id)][2:]


async def test_pieces_become_one_message(store: Store) -> None:
    """What was streamed is one line in the end."""
    assert await texts_of(store, Yields(TextDelta(text="a"), TextDelta(text="b"))) == ["ab"]


async def test_a_message_replaces_the_pieces_before_it(store: Store) -> None:
    """Pieces that announced a message are not stored beside it."""
    agent = Yields(TextDelta(text="hel"), say(Role.ASSISTANT, "hello"), TextDelta(text="bye"))

    assert await texts_of(store, agent) == ["hello", "bye"]


async def test_an_agent_may_say_nothing(store: Store) -> None:
    """A turn without words is done all the same."""
    assert await texts_of(store, Yields()) == []


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (KeyError("model"), "KeyError: 'model'"),
        (AgentError("no more tokens"), "no more tokens."),
        (RuntimeError("nul \0 and \ud800"), "RuntimeError: nul  and ?"),
        (AgentError("nul \0 and \ud800"), "nul  and ?."),
        (Mute(), "Mute: it cannot say why (ValueError)"),
        (
            asyncio.CancelledError(),
            "The agent gave up: something that it waited for was cancelled.",
        ),
        ("just text", "The agent yielded str, which is no output."),
        (None, "The agent yielded NoneType, which is no output."),
        (TextDelta(text="nul \0"), "NUL"),
        (TextDelta(text="\ud800"), "half characters"),
        (TextDelta(text="x" * (TEXT_LIMIT + 1)), "at most 4,194,304 characters"),
        (NewMessage(role=Role.ASSISTANT, parts=(MISSING,)), "never stored"),
    ],
    ids=[
        "any error",
        "our error",
        "unprintable",
        "our unprintable",
        "mute",
        "cancelled",
        "text",
        "none",
        "nul",
        "surrogate",
        "too long",
        "no such blob",
    ],
)
async def test_whatever_goes_wrong_is_shown(store: Store, bad: object, why: str) -> None:
    """An agent that breaks leaves what it had said, and the reason, and harms nobody else."""
    (line,) = await texts_of(store, Yields(TextDelta(text="I begin"), bad))

    assert line.startswith("I begin\n") or isinstance(bad, NewMessage)
    assert why in line


async def test_an_answer_may_not_grow_without_end(store: Store) -> None:
    """Pieces that together are too long fail the turn, and what fits is kept."""
    half = TextDelta(text="x" * (TEXT_LIMIT // 2 + 1))

    (line,) = await texts_of(store, Yields(half, half))

    assert "longer than" in line


class Restless:
    """An agent that never waits: it yields one thing for ever, until it is stopped."""

    def __init__(self, output: Output) -> None:
        self._output = output

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        while True:
            yield self._output


async def test_an_agent_that_never_waits_freezes_nobody(store: Store) -> None:
    """Who says nothing without end does it beside everybody else, and can be stopped."""
    async with Worker(store, Restless(TextDelta(text="")), pace=unhurried()) as worker:
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None
        await becomes(store, arrival.turn_id, TurnState.RUNNING)
        (turn,) = worker._running.values()
        await asyncio.sleep(0.02)
        assert turn.pieces == 0

        await store.turns.stop(arrival.turn_id)

        await until(lambda: _truth(not worker.running), "it is let go")


async def test_usage_is_not_reported_without_end(store: Store) -> None:
    """As many reports as a turn may need are counted; one more fails it."""
    enough = Yields(*[USAGE] * USAGE_LIMIT, TextDelta(text="done"))

    assert await texts_of(store, enough) == ["done"]
    assert "usage more than 1,000 times" in (await texts_of(store, Restless(USAGE)))[-1]


async def test_one_verb_stores_what_all_turns_said(open_store: OpenStore) -> None:
    """All running turns share one checkpoint, and silence costs none."""
    store, database = faulty(await open_store())
    checkpoints: list[list[str]] = []

    async def note(pieces: Sequence[tuple[Lease, str]]) -> None:
        checkpoints.append(sorted(text for _, text in pieces))

    database.before["checkpoint"] = note
    agent = ScriptedAgent()
    for name in ("one", "two", "three"):
        agent.will(Streams(name), Hangs())
    async with Worker(store, agent, pace=unhurried(renew=timedelta(days=1))) as worker:
        for who in ("a", "b", "c"):
            await tell(store, "hello", who=who)
        await until(lambda: _truth(len(agent.parked) == 3), "three turns hang")

        await worker.beat()
        await worker.beat()

        assert checkpoints == [["one", "three", "two"]]
        agent.goes_on()


@on(FAST, POSTGRES)
async def test_checkpoints_and_messages_do_not_mix(open_store: OpenStore) -> None:
    """However beats and messages meet, each word stands in the transcript once, in its place."""
    store = await open_store()
    outputs: list[object] = []
    for n in range(30):
        outputs += [TextDelta(text=f"draft {n}"), say(Role.ASSISTANT, f"line {n}")]
    outputs.append(TextDelta(text="the end"))

    class Pausing(Yields):
        async def answer(self, request: Request) -> AsyncIterator[Output]:
            async for output in super().answer(request):
                yield output
                await asyncio.sleep(0.001)

    async with Worker(
        store, Pausing(*outputs), pace=unhurried(checkpoint=timedelta(milliseconds=1))
    ):
        arrival = await tell(store, "hello")
        assert arrival.session_id is not None
        await becomes(store, arrival.turn_id, TurnState.DONE)
        lines = await store.transcripts.read(arrival.session_id)
    assert [line.text for line in lines][2:] == [*(f"line {n}" for n in range(30)), "the end"]


async def test_a_message_is_safe_after_a_beat(store: Store) -> None:
    """A message does not wait in memory for the one after it."""
    agent = ScriptedAgent()
    agent.will(Says("half of it"), Hangs(), Says("the rest"))
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "hello")
        assert arrival.session_id is not None
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        await worker.beat()
        assert (await store.transcripts.read(arrival.session_id))[-1].text == "half of it"
        agent.goes_on()
        await becomes(store, arrival.turn_id, TurnState.DONE)

    texts = [line.text for line in await store.transcripts.read(arrival.session_id)]
    assert texts[-2:] == ["half of it", "the rest"]


async def test_a_beat_before_a_stop_keeps_every_word(store: Store) -> None:
    """What a person saw before they stopped a turn is what the transcript keeps."""
    agent = ScriptedAgent()
    agent.will(Streams("Once upon a time"), Hangs())
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "a story")
        assert arrival.turn_id is not None
        assert arrival.session_id is not None
        await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
        await worker.beat()
        await store.turns.stop(arrival.turn_id)

    texts = [line.text for line in await store.transcripts.read(arrival.session_id)]
    assert texts[-1] == "Once upon a time\nStopped."


async def test_a_failure_that_cannot_be_stored_is_picked_up_later(open_store: OpenStore) -> None:
    """A failure that is refused for a whole lease is left to recovery, and nothing is lost."""
    plain = await open_store(rules=Settings(lease=timedelta(milliseconds=200)))
    store, database = faulty(plain)
    database.fail("fail", StorageError("the disk is full"))
    agent = ScriptedAgent()
    agent.will(Fails())
    async with Worker(store, agent, pace=unhurried()) as worker:
        arrival = await tell(store, "hello")
        await until(lambda: _truth(len(agent.requests) == 1), "it was asked")
        await until(lambda: _truth(not worker.running), "it is let go")
        await becomes(store, arrival.turn_id, TurnState.RUNNING)
        await store.turns.interrupt_own()
        await worker.recover()
        await becomes(store, arrival.turn_id, TurnState.DONE)


async def test_listeners_hear_a_turn_as_it_happens(store: Store) -> None:
    """Whoever listens hears the beginning, the words, the messages and the end, in order."""
    agent = ScriptedAgent()
    first = await tell(store, "before anybody listens")
    assert first.session_id is not None
    async with Worker(store, agent, pace=unhurried()) as worker:
        await becomes(store, first.turn_id, TurnState.DONE)
        agent.will(Streams("hi"), Hangs(), Says("hi!"))
        with worker.listen(first.session_id) as live, worker.listen(first.session_id) as other:
            second = await tell(store, "hello")
            assert second.turn_id is not None
            id = second.turn_id
            await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
            agent.goes_on()
            heard = await _until_closed(live)
            assert heard == await _until_closed(other)
    assert heard == [
        TurnBegun(turn_id=id),
        Delta(turn_id=id, text="hi"),
        MessageAdded(turn_id=id, message=say(Role.ASSISTANT, "hi!")),
        TurnClosed(turn_id=id, state=TurnState.DONE),
    ]


async def test_listeners_hear_only_their_session(store: Store) -> None:
    """What is said elsewhere is not heard, and a listener ends with its worker."""
    alice = await tell(store, "hello", who="alice")
    assert alice.session_id is not None
    async with Worker(store, ScriptedAgent(), pace=unhurried()) as worker:
        await becomes(store, alice.turn_id, TurnState.DONE)
        with worker.listen(alice.session_id) as live:
            bob = await tell(store, "hello", who="bob")
            await becomes(store, bob.turn_id, TurnState.DONE)
            await worker.stop()
            assert [happening async for happening in live] == []
        with worker.listen(alice.session_id) as late:
            assert [happening async for happening in late] == []


async def test_listeners_hear_how_a_turn_was_taken(store: Store) -> None:
    """A turn that is stopped, or interrupted by the end of the worker, closes for its listeners."""
    agent = ScriptedAgent()
    agent.will(Hangs())
    agent.will(Hangs())
    first = await tell(store, "hello")
    assert first.session_id is not None
    assert first.turn_id is not None
    async with Worker(store, agent, pace=unhurried()) as worker:
        with worker.listen(first.session_id) as live:
            await until(lambda: _truth(bool(agent.parked)), "the turn hangs")
            await store.turns.stop(first.turn_id)
            assert (await _until_closed(live))[-1] == TurnClosed(
                turn_id=first.turn_id, state=TurnState.STOPPED
            )
            second = await tell(store, "hello")
            assert second.turn_id is not None
            await until(lambda: _truth(agent.parked == {second.turn_id}), "the second hangs")
            await worker.stop()
            assert (await _until_closed(live))[-1] == TurnClosed(
                turn_id=second.turn_id, state=TurnState.INTERRUPTED
            )


async def _until_closed(live: AsyncIterator[Happening | Missed]) -> list[Happening]:
    heard: list[Happening] = []
    async with asyncio.timeout(HANG_SECONDS):
        async for happening in live:
            assert not isinstance(happening, Missed)
            heard.append(happening)
            if isinstance(happening, TurnClosed):
                break
    return heard


async def _truth(value: bool) -> bool:
    return value
