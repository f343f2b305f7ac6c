"""Titles and summaries: written beside the turns, and never in their way."""

import asyncio
import logging
from datetime import timedelta
from decimal import Decimal

import pytest

from tests.databases import OpenStore
from tests.gateway.worker_setup import becomes, tell, unhurried
from threadline.core.budget import SpendCaps
from threadline.core.errors import AgentError, Invalid
from threadline.core.message import Role
from threadline.core.session import SessionId, TitleSource
from threadline.core.session_patch import SessionPatch
from threadline.core.settings import Settings
from threadline.core.summarizer import SUMMARY_TASK, TITLE_TASK
from threadline.core.turn import Turn, TurnState
from threadline.core.usage import CostStatus, Usage
from threadline.gateway.compaction import NO_SCRIBE, NOTHING_OLD, Compaction
from threadline.gateway.summary_writer import SummaryWriter
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.testing.scripted_agent import Overflows, Says, ScriptedAgent, Spends
from threadline.testing.scripted_summarizer import ScriptedSummarizer

SECRET = "sk-a-key-that-nobody-may-see"


def prompted(tokens: int) -> Spends:
    """Report a prompt of so many tokens."""
    return Spends(Usage(provider="p", model="m", prompt_tokens=tokens))


def paid(dollars: str, task: str) -> Usage:
    """Make a usage that cost something."""
    cost = Decimal(dollars)
    return Usage(provider="p", model="m", task=task, cost=cost, cost_status=CostStatus.EXACT)


class Talk:
    """One conversation with a worker that has a scribe."""

    def __init__(self, store: Store, clock: FakeClock, scribe: ScriptedSummarizer | None) -> None:
        """Begin with nothing said."""
        self.store, self.clock = store, clock
        self.agent = ScriptedAgent()
        self.told: list[str] = []
        self.id = SessionId("")
        self.worker = Worker(store, self.agent, pace=unhurried(), scribe=scribe, tell=self._tell)

    async def says(self, text: str, state: TurnState = TurnState.DONE) -> Turn:
        """Say something, and wait for the end of its turn and of what comes after."""
        self.clock.advance(timedelta(seconds=1))
        arrival = await tell(self.store, text)
        await becomes(self.store, arrival.turn_id, state)
        assert arrival.session_id is not None
        assert arrival.turn_id is not None
        self.id = arrival.session_id
        while self.worker.running:
            await asyncio.sleep(0.001)
        await self.worker.upkeep.tasks.settle()
        return await self.store.turns.get(arrival.turn_id)

    async def _tell(self, turn: Turn, words: str) -> None:
        self.told.append(words)


async def a_talk(open_store: OpenStore, scribe: ScriptedSummarizer | None) -> Talk:
    """Open a store whose clock stands still."""
    clock = FakeClock()
    return Talk(await open_store(clock=clock), clock, scribe)


async def test_a_long_conversation_is_compacted_before_the_next_turn(
    open_store: OpenStore,
) -> None:
    """From four fifths of what the model can read on; the agent gets the summary instead."""
    scribe = ScriptedSummarizer(window=1000)
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        talk.agent.will(Says("one!"), prompted(799))
        await talk.says("one")
        talk.agent.will(Says("two!"), prompted(800))
        await talk.says("two")
        assert not scribe.wrote(SUMMARY_TASK)

        await talk.says("three")

        (asked,) = scribe.wrote(SUMMARY_TASK)
        assert asked.lines[-2:] == ("one", "one!")
        assert talk.agent.was_told(scribe.summary)
        assert talk.agent.lines(Role.USER) == ["two", "three"]

        await talk.says("four")
        assert len(scribe.wrote(SUMMARY_TASK)) == 1
    assert talk.told == []


@pytest.mark.parametrize("window", [None, 0, 2000])
async def test_a_conversation_that_fits_stays_as_it_is(
    open_store: OpenStore, window: int | None
) -> None:
    """Also where nobody knows how much the model can read."""
    scribe = ScriptedSummarizer(window=window)
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        for words in ("one", "two", "three"):
            talk.agent.will(Says("yes"), prompted(1500))
            await talk.says(words)
    assert not scribe.wrote(SUMMARY_TASK)


@pytest.mark.parametrize(
    "error",
    [AgentError("No ink"), ValueError(SECRET), TimeoutError()],
    ids=["ours", "another's", "time"],
)
async def test_a_failed_compaction_is_said_once_and_changes_nothing(
    open_store: OpenStore, error: Exception
) -> None:
    """Every turn is answered all the same, and what a provider said is shown to nobody."""
    scribe = ScriptedSummarizer(window=1000)
    scribe.fails(9, error)
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        for words in ("one", "two", "three", "four"):
            talk.agent.will(Says(f"{words}!"), prompted(900))
            await talk.says(words)
        assert talk.agent.lines(Role.USER) == ["one", "two", "three", "four"]
        assert not await talk.store.transcripts.hidden_ranges(talk.id)
    assert len(scribe.wrote(SUMMARY_TASK)) == 1
    (told,) = talk.told
    assert told.startswith("I could not make room in this conversation: ")
    assert SECRET not in told


async def test_a_model_that_cannot_read_it_is_asked_again_after_compaction(
    open_store: OpenStore,
) -> None:
    """Everything but the question makes room, and the person notices nothing."""
    scribe = ScriptedSummarizer()
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        await talk.says("one")
        talk.agent.will(Overflows())
        talk.agent.will(Says("two!"))

        await talk.says("two")

        assert talk.agent.lines(Role.USER) == ["two"]
        lines = await talk.store.transcripts.read(talk.id)
    assert lines[-1].text == "two!"
    assert len(scribe.wrote(SUMMARY_TASK)) == 1


@pytest.mark.parametrize(
    "steps",
    [(Overflows(),), (Says("Well"), Overflows())],
    ids=["nothing is left to compact", "it has spoken"],
)
async def test_a_model_that_still_cannot_read_it_says_so(
    open_store: OpenStore, steps: tuple[Overflows | Says, ...]
) -> None:
    """It is asked once more at the most, and never after it has said something."""
    scribe = ScriptedSummarizer()
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        await talk.says("one")
        talk.agent.will(*steps)
        talk.agent.will(*steps)

        turn = await talk.says("two", TurnState.FAILED)

        assert turn.error == "The conversation is longer than the model can read at once."
    assert len(talk.agent.requests) == (3 if len(steps) == 1 else 2)


async def test_without_a_scribe_a_full_context_fails_the_turn(open_store: OpenStore) -> None:
    """With the plain sentence."""
    talk = await a_talk(open_store, None)
    async with talk.worker:
        await talk.says("one")
        talk.agent.will(Overflows())
        turn = await talk.says("two", TurnState.FAILED)
    assert turn.error == "The conversation is longer than the model can read at once."


async def test_words_taken_back_while_they_are_summed_up(open_store: OpenStore) -> None:
    """A summary that may tell of them is thrown away."""
    scribe = ScriptedSummarizer()
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        for words in ("a secret", "two", "three"):
            await talk.says(words)
        scribe.free.clear()
        writing = asyncio.create_task(talk.worker.upkeep.compress(talk.id))
        while not scribe.wrote(SUMMARY_TASK):
            await asyncio.sleep(0.001)
        await talk.store.transcripts.undo(talk.id, 3)
        scribe.free.set()

        said = await writing

        assert said.startswith("Nothing was compacted: ")
        assert not [
            cut for cut in await talk.store.transcripts.hidden_ranges(talk.id) if cut.summary
        ]


async def test_compressing_says_how_much_a_summary_stands_for(open_store: OpenStore) -> None:
    """With an eye on what somebody named; and says when there is nothing to do."""
    scribe = ScriptedSummarizer()
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        await talk.says("one")
        assert await talk.worker.upkeep.compress(talk.id) == NOTHING_OLD
        for words in ("two", "three"):
            await talk.says(words)

        said = await talk.worker.upkeep.compress(talk.id, "the peas")

        (asked,) = scribe.wrote(SUMMARY_TASK)
        assert asked.focus == "the peas"
        assert said == (
            f"A summary stands for the first {len(asked.lines)} lines now. "
            "/compress undo brings them back."
        )


async def test_the_cut_of_somebody_else_is_not_taken_for_ours(open_store: OpenStore) -> None:
    """Who asked for room and got none is shown no cut, though one was made meanwhile."""
    scribe = ScriptedSummarizer()
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        for words in ("one", "two", "three"):
            await talk.says(words)
        scribe.free.clear()
        asked = asyncio.create_task(talk.worker.upkeep.make_cut(talk.id))
        while not scribe.wrote(SUMMARY_TASK):
            await asyncio.sleep(0.001)
        theirs = await talk.store.transcripts.compact(talk.id, "Somebody else's summary.")
        scribe.free.set()
        ours = await asked
        for words in ("four", "five"):
            await talk.says(words)
        later = await talk.worker.upkeep.make_cut(talk.id)

        assert (ours.cut, ours.said[:21]) == (None, "Nothing was compacted")
        assert later.cut is not None
        assert later.cut == (await talk.store.transcripts.hidden_ranges(talk.id))[-1] != theirs


@pytest.mark.parametrize("share", [0.0, -1.0, 1.1, float("nan")])
async def test_a_share_that_is_none_is_refused(store: Store, share: float) -> None:
    """Room can be made at some part of what a model reads, not before and not after it."""
    with pytest.raises(Invalid, match="compact_at cannot be"):
        Compaction(store.database, None, compact_at=share)


async def test_nobody_compresses_without_a_scribe(store: Store) -> None:
    """Whoever asks is told why."""
    assert (
        await Compaction(store.database, None).compress(SessionId("20260302_090000_00000001"))
        == NO_SCRIBE
    )


async def test_a_conversation_is_named_after_the_first_exchange(open_store: OpenStore) -> None:
    """By what was asked and answered; later turns name it no more, and it is paid for."""
    scribe = ScriptedSummarizer()
    scribe.usage = (paid("0.25", TITLE_TASK),)
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        await talk.says("how do peas grow?")
        await talk.says("and beans?")
        session = await talk.store.sessions.get(talk.id)
        usage = await talk.store.usage.of_session(talk.id)
    assert (session.title, session.titled_by) == (scribe.title, TitleSource.MODEL)
    (asked,) = scribe.wrote(TITLE_TASK)
    assert asked.lines[-2:] == ("how do peas grow?", "ok")
    assert [(one.task, one.cost) for one in usage] == [(TITLE_TASK, Decimal("0.25"))]


async def test_a_person_names_it_better(open_store: OpenStore) -> None:
    """A title that was given by hand stays, also if it is given while the scribe writes."""
    scribe = ScriptedSummarizer()
    scribe.free.clear()
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        arrival = await tell(talk.store, "how do peas grow?")
        await becomes(talk.store, arrival.turn_id, TurnState.DONE)
        assert arrival.session_id is not None
        while not scribe.asked:
            await asyncio.sleep(0.001)
        await talk.store.sessions.update(arrival.session_id, SessionPatch(title="Peas"))
        scribe.free.set()
        await talk.worker.upkeep.tasks.settle()
        await talk.says("and beans?")
        session = await talk.store.sessions.get(arrival.session_id)
    assert session.title == "Peas"
    assert len(scribe.asked) == 1


async def test_a_title_that_fails_is_tried_with_the_next_exchanges(
    open_store: OpenStore, caplog: pytest.LogCaptureFixture
) -> None:
    """Three times at the most; nobody but the log hears of it."""
    scribe = ScriptedSummarizer()
    scribe.fails(99, ValueError(SECRET))
    talk = await a_talk(open_store, scribe)
    with caplog.at_level(logging.WARNING, "threadline.gateway"):
        async with talk.worker:
            for words in ("one", "two", "three", "four"):
                await talk.says(words)
            session = await talk.store.sessions.get(talk.id)
    assert session.title == "one"
    assert len(scribe.wrote(TITLE_TASK)) == 3
    assert talk.told == []
    assert "The title could not be written (ValueError)" in caplog.text
    assert SECRET not in caplog.text


async def test_titles_can_be_left_to_first_words(open_store: OpenStore) -> None:
    """Where the settings say so no model is asked."""
    scribe, store = ScriptedSummarizer(), await open_store()
    async with Worker(store, ScriptedAgent(), pace=unhurried(), scribe=scribe, titles=False) as on:
        arrival = await tell(store, "hello")
        await becomes(store, arrival.turn_id, TurnState.DONE)
        while on.running:
            await asyncio.sleep(0.001)
        await on.upkeep.tasks.settle()
    assert scribe.asked == []


async def test_a_slow_scribe_keeps_nobody_waiting(open_store: OpenStore) -> None:
    """Titles are written beside the turns, two at a time, and left when the worker stops."""
    scribe = ScriptedSummarizer()
    scribe.free.clear()
    store = await open_store()
    async with Worker(store, ScriptedAgent(), pace=unhurried(), scribe=scribe):
        for n in range(5):
            arrival = await tell(store, "hello", who=f"person {n}")
            await becomes(store, arrival.turn_id, TurnState.DONE)
    assert len(scribe.asked) == 2


async def test_caps_are_asked_before_the_scribe_is(open_store: OpenStore) -> None:
    """Where as much is spent as may be, nothing is written."""
    scribe, clock = ScriptedSummarizer(), FakeClock()
    caps = Settings(spend=SpendCaps(session=Decimal(1)))
    talk = Talk(await open_store(clock=clock, rules=caps), clock, scribe)
    async with talk.worker:
        talk.agent.will(Says("dear"), Spends(paid("2", "turn")))
        await talk.says("hello")
    assert scribe.asked == []


@pytest.mark.parametrize("text", ["", "  \n", "half \ud800"], ids=["empty", "blank", "no text"])
async def test_what_is_no_text_is_not_taken(open_store: OpenStore, text: str) -> None:
    """But what it cost is booked."""
    scribe = ScriptedSummarizer()
    scribe.usage = (paid("0.25", TITLE_TASK),)
    scribe.title = text
    talk = await a_talk(open_store, scribe)
    async with talk.worker:
        await talk.says("hello")
        session = await talk.store.sessions.get(talk.id)
        usage = await talk.store.usage.of_session(talk.id)
    assert session.titled_by is TitleSource.FIRST_WORDS
    assert [one.task for one in usage] == [TITLE_TASK]


async def test_a_scribe_that_never_ends_is_given_up(open_store: OpenStore) -> None:
    """After a while, with a sentence."""
    scribe, talk = ScriptedSummarizer(), await a_talk(open_store, None)
    async with talk.worker:
        await talk.says("hello")
    scribe.free.clear()
    session = await talk.store.sessions.get(talk.id)
    desk = SummaryWriter(talk.store.database, scribe, within=timedelta(milliseconds=10))

    with pytest.raises(AgentError, match="The summary took too long to be written"):
        await desk.write_summary(session, [])
