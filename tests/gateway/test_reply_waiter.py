"""Answers: words that a turn waits for, and waiting for what a turn says."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.gateway.inbox_setup import THREAD, Front
from threadline.core.address import Sender
from threadline.core.errors import Invalid
from threadline.core.message import MediaKind, Text
from threadline.core.platform import ReceiveStatus, TurnReply
from threadline.core.session import BusyMode
from threadline.core.settings import Settings
from threadline.core.turn import TurnId, TurnState
from threadline.store import Store

pytestmark = on(FAST, POSTGRES)


@pytest.fixture
def front(store: Store) -> Front:
    """Stand before a door that Alice and Bob may enter."""
    return Front(store)


async def test_plain_words_answer_a_question(front: Front) -> None:
    """In a dm the next words are the answer; the same message again is not the next one."""
    taken = await front.take("tidy up")
    await front.ask("May I delete it?")
    said = front.said("yes, do")

    first, second = await front.inbox.take(said), await front.inbox.take(said)
    assert taken.turn_id is not None
    turn = await front.store.turns.get(taken.turn_id)

    assert (first.reception, first.turn_id) == (ReceiveStatus.TAKEN, taken.turn_id)
    assert (second.reception, second.turn_id) == (ReceiveStatus.REPEATED, taken.turn_id)
    assert (turn.state, turn.answer) == (TurnState.QUEUED, "yes, do")
    assert await front.transcripts() == ["tidy up"]


async def test_files_and_commands_are_no_answers(front: Front) -> None:
    """They are what they are, and the question goes on waiting."""
    taken = await front.take("tidy up")
    await front.ask("May I delete it?")
    kept = await front.inbox.keep(b"pixels", "image/png", MediaKind.IMAGE)

    other = await front.take("", parts=(Text(text="this one"), kept))
    await front.take("/status")
    assert taken.turn_id is not None

    assert other.turn_id not in (None, taken.turn_id)
    assert (await front.store.turns.get(taken.turn_id)).state is TurnState.WAITING


async def test_only_who_was_asked_answers_where_several_speak(front: Front) -> None:
    """Bob's words in the thread wait for their turn; Alice's are the answer."""
    taken = await front.take("ship it", address=THREAD)
    await front.ask("Really?")
    assert taken.turn_id is not None

    bob = await front.take("no!", "bob", address=THREAD)
    nobody = await front.take("no!", address=THREAD, sender=Sender(name="?"))
    assert (await front.store.turns.get(taken.turn_id)).state is TurnState.WAITING
    alice = await front.take("yes", address=THREAD)

    assert taken.turn_id not in (bob.turn_id, nobody.turn_id)
    assert alice.turn_id == taken.turn_id
    assert (await front.store.turns.get(taken.turn_id)).answer == "yes"


async def test_what_a_turn_says_can_be_waited_for(open_store: OpenStore) -> None:
    """Whichever process answers it; several may wait, and nothing is left behind."""
    front, other = Front(await open_store()), Front(await open_store())
    taken = await front.take("hello")
    assert taken.turn_id is not None
    soon, long = timedelta(milliseconds=20), timedelta(hours=1)

    assert await front.inbox.answer_to(taken.turn_id, soon) is None
    waiting = [asyncio.ensure_future(front.inbox.answer_to(taken.turn_id, long)) for _ in range(3)]
    await asyncio.sleep(0)
    await other.answer("one", "two")

    for said in await asyncio.gather(*waiting):
        assert said is not None
        assert [line.text for line in said.lines] == ["one", "two"]
    at_once = await front.inbox.answer_to(taken.turn_id, timedelta(0))
    assert at_once is not None
    assert len(at_once.lines) == 2
    gone = await front.inbox.answer_to(TurnId(10**9), soon)
    assert gone == TurnReply(state=TurnState.DONE)
    with pytest.raises(Invalid):
        await front.inbox.answer_to(taken.turn_id, timedelta(seconds=-1))


async def test_what_steers_a_turn_is_answered_by_it(open_store: OpenStore) -> None:
    """Words that a running turn took up have its answer."""
    front = Front(await open_store(rules=Settings(busy=BusyMode.STEER)))
    await front.take("begin")
    claim = await front.store.turns.claim()
    assert claim is not None
    steering = await front.take("and faster")
    assert steering.turn_id is not None
    await front.store.turns.take_steering(claim.lease)
    await front.store.turns.finish(claim.lease, [])

    said = await front.inbox.answer_to(steering.turn_id, timedelta(hours=1))

    assert said is not None
    assert (await front.store.turns.get(steering.turn_id)).answered_by == claim.turn.id


async def test_who_waits_is_told_of_a_question_and_of_a_failure(front: Front) -> None:
    """Nobody waits in vain for a turn that waits itself, nor takes a failure for silence."""
    taken = await front.take("tidy up")
    assert taken.turn_id is not None
    long = timedelta(hours=1)
    waiting = asyncio.ensure_future(front.inbox.answer_to(taken.turn_id, long))
    await asyncio.sleep(0)
    await front.ask("May I delete it?")

    asked = await waiting
    await front.take("yes")
    waiting = asyncio.ensure_future(front.inbox.answer_to(taken.turn_id, long))
    await asyncio.sleep(0)
    claim = await front.store.turns.claim()
    assert claim is not None
    await front.store.turns.fail(claim.lease, "It broke.")
    failed = await waiting

    assert asked is not None
    assert failed is not None
    assert (asked.state, asked.question) == (TurnState.WAITING, "May I delete it?")
    assert (failed.state, failed.question, failed.error) == (TurnState.FAILED, None, "It broke.")
