"""Answers grow before people's eyes, and read as they should in the end."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from tests.databases import OpenStore
from tests.faulty_database import faulty
from tests.gateway.outbox_setup import Billboard, all_carried, carrying, soon
from tests.gateway.worker_setup import becomes, tell, unhurried
from threadline.core.delivery import REPEAT_MARKER, SendOutcome
from threadline.core.platform import Capabilities, SendFailed
from threadline.core.turn import TurnState
from threadline.gateway.intervals import Intervals
from threadline.gateway.outbox import Outbox
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scripted_agent import Asks, Fails, Hangs, Says, ScriptedAgent, Streams

GROWS = Capabilities(edits=True)
NARROW = Capabilities(edits=True, text_limit=64)


@asynccontextmanager
async def serving(
    store: Store,
    agent: ScriptedAgent,
    board: Billboard,
    *,
    streams: bool = True,
    pace: Intervals | None = None,
) -> AsyncIterator[tuple[Worker, Outbox]]:
    """Let a worker and an outbox run."""
    worker = Worker(store, agent, pace=pace or unhurried())
    async with carrying(store, board, live=worker.live, streams=streams, pace=pace) as outbox:
        await asyncio.sleep(0)
        async with worker:
            yield worker, outbox


async def minutes_pass(clock: FakeClock, outbox: Outbox, holds: Callable[[], bool]) -> None:
    """Advance the clock, and so make every retry due, until something is true."""
    async with asyncio.timeout(HANG_SECONDS):
        while not holds():
            await asyncio.sleep(0.02)
            clock.advance(timedelta(minutes=1))
            outbox.wake()


async def goes_on(agent: ScriptedAgent) -> None:
    """Let the agent go on, as soon as it hangs."""
    await soon(lambda: bool(agent.parked), "it hangs")
    agent.goes_on()


async def test_an_answer_grows_in_one_message(store: Store) -> None:
    """The first words are shown while the turn still runs, and the whole answer stands there."""
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        assert "Once upon a time".startswith(board.texts[0])
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.texts == ["Once upon a time"]
    assert len(board.attempts) == 1


async def test_a_long_answer_grows_over_several_messages(store: Store) -> None:
    """What does not fit goes on in the next message; nothing is shown twice."""
    agent, board = ScriptedAgent(), Billboard(capabilities=NARROW)
    text = " ".join(f"word{n}" for n in range(40))
    agent.will(Streams(text[:100]), Hangs(), Streams(text[100:]))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: len(board.texts) == 2, "two messages")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert " ".join(board.texts) == text
    assert len({sent.key for sent in board.attempts}) == len(board.attempts)


async def test_edits_come_once_a_second_at_most(store: Store) -> None:
    """However fast an agent speaks, its platform is not flooded."""
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    steps = [step for n in range(30) for step in (Streams(f"word{n} "), Hangs())]
    agent.will(*steps)
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        begun = asyncio.get_running_loop().time()
        for _ in range(30):
            await goes_on(agent)
            await asyncio.sleep(0.01)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)
        took = asyncio.get_running_loop().time() - begun

    assert len(board.history) <= took + 3
    assert board.texts[0].endswith("word29")


async def test_a_turn_that_ends_before_its_stream_is_open_is_answered_once(
    open_store: OpenStore,
) -> None:
    """The database is slow to say that a stream is open; the ledger waits for it all the same."""
    opened, may_go_on = asyncio.Event(), asyncio.Event()

    async def is_slow(_: object) -> None:
        opened.set()
        await may_go_on.wait()

    store, database = faulty(await open_store())
    database.after["open_stream"] = is_slow
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    agent.will(Streams("Hello"), Hangs(), Says("Hello"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "hi")
        await opened.wait()
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await soon(lambda: bool(outbox._sending), "the ledger has it")
        may_go_on.set()
        await all_carried(store, outbox)

    assert board.texts == ["Hello"]


async def test_a_whole_line_takes_the_place_of_its_pieces(store: Store) -> None:
    """If an agent says in the end something else than it streamed, that is what stands there."""
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    agent.will(Streams("Helo wrld"), Hangs(), Says("Hello world"), Says("Bye"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "hi")
        await soon(lambda: bool(board.texts), "the first words")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.texts == ["Hello world\n\nBye"]


async def test_a_failing_edit_does_not_fail_the_answer(open_store: OpenStore) -> None:
    """What could not be changed while it grew is changed in the end, or said anew."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    board.edit_failures = deque(RuntimeError("odd") for _ in range(2))
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board) as (_, outbox):
        await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        await goes_on(agent)
        await minutes_pass(clock, outbox, lambda: board.texts[-1] == "Once upon a time")
        await all_carried(store, outbox)

    assert board.texts[-1] == "Once upon a time"
    assert len(board.attempts) == 1


async def test_what_can_never_be_changed_is_said_anew(open_store: OpenStore) -> None:
    """A platform on which edits always fail still gets the whole answer, marked as a repeat."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    board.edit_failures = deque(RuntimeError("odd") for _ in range(100))
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await minutes_pass(clock, outbox, lambda: len(board.texts) > 1)
        await all_carried(store, outbox)

    assert board.texts[-1] == f"{REPEAT_MARKER}\nOnce upon a time"


async def test_a_refused_beginning_is_sent_in_the_end(open_store: OpenStore) -> None:
    """If the first words are refused, the answer comes as a whole, unmarked."""
    store = await open_store(clock=FakeClock())
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    wait = timedelta(hours=1)
    refusal = SendFailed("slow", outcome=SendOutcome.REJECTED, retry_after=wait)
    board.failures = deque([refusal])
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: len(board.attempts) == 1, "the first attempt")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.texts == ["Once upon a time"]


async def test_a_beginning_that_may_have_been_seen_is_marked(store: Store) -> None:
    """If nobody knows whether the first words were shown, the answer is marked."""
    agent = ScriptedAgent()
    board = Billboard(capabilities=GROWS, failures=deque([TimeoutError()]), raises_after=True)
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first attempt")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.texts == ["Once upon", f"{REPEAT_MARKER}\nOnce upon a time"]


async def test_a_turn_that_fails_ends_its_stream(store: Store) -> None:
    """Whoever watched an answer grow sees why it broke off."""
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    agent.will(Streams("Once upon"), Hangs(), Fails("no more ink"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.FAILED)
        await all_carried(store, outbox)

    (shown,) = board.texts
    assert shown.startswith("Once upon\n")
    assert "no more ink" in shown


async def test_a_question_follows_what_was_streamed(store: Store) -> None:
    """The question stands under the words before it, and its buttons under the question."""
    agent = ScriptedAgent()
    board = Billboard(capabilities=Capabilities(edits=True, buttons=True))
    agent.will(Streams("Let me see."), Hangs(), Asks("Shall I?"))
    agent.will(Says("Done."))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "delete it")
        await soon(lambda: bool(board.texts), "the first words")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.WAITING)
        await all_carried(store, outbox)
        assert board.texts[0] == "Let me see.\n\nShall I?"
        assert [len(sent.choices) for sent in board.attempts] == [0, 2]
        assert arrival.turn_id is not None
        await store.turns.answer(arrival.turn_id, "approved")
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.texts[-1] == "Done."


async def test_after_a_crash_the_same_message_goes_on(open_store: OpenStore) -> None:
    """The turn is run again, and its message is changed; nothing is answered twice (ask 3)."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    agent.will(Streams("Once upon"), Hangs())
    agent.will(Streams("Once more"), Hangs(), Streams(": a time"))
    async with serving(store, agent, board) as (worker, _):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        await worker.beat()
        await worker.halt()
    await store.close()

    clock.advance(timedelta(minutes=3))
    store = await open_store(clock=clock)
    async with serving(store, agent, board) as (_, outbox):
        await soon(lambda: "Once more" in board.texts[0], "it goes on")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    (shown,) = board.texts
    assert shown.startswith("Once upon\n")
    assert shown.endswith("\n\nOnce more: a time")


async def test_after_a_crash_before_the_note_the_answer_is_marked(open_store: OpenStore) -> None:
    """If the first words were shown but never noted, what is sent again is marked (ask 3)."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    agent = ScriptedAgent()
    board = Billboard(capabilities=GROWS, gate=asyncio.Event())
    agent.will(Streams("Once upon"), Hangs())
    agent.will(Streams("Once upon a time"))
    async with serving(store, agent, board) as (worker, _):
        arrival = await tell(store, "a story")
        await soon(lambda: len(board.attempts) == 1, "the first words are on their way")
        await worker.halt()
    await store.close()

    clock.advance(timedelta(minutes=3))
    board.gate = None
    store = await open_store(clock=clock)
    async with serving(store, agent, board) as (_, outbox):
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    (shown,) = board.texts
    assert shown.startswith(REPEAT_MARKER)
    assert shown.endswith("Once upon a time")


async def test_what_had_grown_is_not_cut_anew_after_a_crash(open_store: OpenStore) -> None:
    """A message that reads as it should is written down before the next one is sent (ask 3)."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    agent, board = ScriptedAgent(), Billboard(capabilities=NARROW)
    words = [f"word{n}" for n in range(14)]
    agent.will(Streams(" ".join(words[:10])), Hangs(), Streams(" " + " ".join(words[10:])))
    async with serving(store, agent, board):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(board.texts), "the first words")
        board.gate = asyncio.Event()
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await soon(lambda: len(board.attempts) == 2, "the rest is on its way")
    await store.close()

    board.gate = None
    store = await open_store(clock=clock)
    clock.advance(timedelta(minutes=3))
    await store.deliveries.recover()
    clock.advance(timedelta(minutes=1))
    async with serving(store, agent, board) as (_, outbox):
        await all_carried(store, outbox)

    first, *rest = board.texts
    assert first == " ".join(words[:10])
    assert " ".join(rest) == f"{REPEAT_MARKER}\n" + " ".join(words[10:])


async def test_an_answer_waits_for_the_one_before_it(store: Store) -> None:
    """The next answer begins to grow when the one before it has been sent, and no sooner."""
    agent = ScriptedAgent()
    board = Billboard(capabilities=GROWS, gate=asyncio.Event())
    agent.will(Says("the first"))
    agent.will(Streams("the second"), Hangs(), Streams(" one"))
    async with serving(store, agent, board) as (_, outbox):
        await tell(store, "one")
        second = await tell(store, "two")
        await soon(lambda: bool(agent.parked), "the second hangs")
        await soon(lambda: bool(board.attempts), "the first is on its way")
        assert [sent.text for sent in board.attempts] == ["the first"]
        assert board.gate is not None
        board.gate.set()
        await soon(lambda: board.texts == ["the first", "the second"], "it grows")
        await goes_on(agent)
        await becomes(store, second.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.texts == ["the first", "the second one"]


async def test_without_streams_every_answer_comes_as_a_whole(store: Store) -> None:
    """Who does not want answers to grow gets them when they are complete."""
    agent, board = ScriptedAgent(), Billboard(capabilities=GROWS)
    agent.will(Streams("Once upon"), Hangs(), Streams(" a time"))
    async with serving(store, agent, board, streams=False) as (_, outbox):
        arrival = await tell(store, "a story")
        await soon(lambda: bool(agent.parked), "it has begun")
        await asyncio.sleep(0.05)
        assert board.history == []
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.history == ["Once upon a time"]


async def test_people_see_that_somebody_writes(store: Store) -> None:
    """Typing is shown while the turn runs; a platform that cannot show it harms nothing."""
    agent, board = ScriptedAgent(), Billboard(capabilities=Capabilities(typing=True))
    agent.will(Hangs(), Says("here I am"))
    async with serving(store, agent, board) as (_, outbox):
        arrival = await tell(store, "are you there?")
        await soon(lambda: board.typed > 0, "it is shown")
        await goes_on(agent)
        await becomes(store, arrival.turn_id, TurnState.DONE)
        await all_carried(store, outbox)

    assert board.texts == ["here I am"]
