"""Words said into a given session: to its agent, or to its people in the agent's place."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, DM, THREAD, Desk, both, open_desk
from tests.store.delivery_setup import run_steadily
from threadline.core.access_level import AccessLevel
from threadline.core.account import Account
from threadline.core.agent import Question
from threadline.core.delivery import DeliveryState, SendOutcome
from threadline.core.errors import Invalid, NotFound, QueueFull
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Marker, MarkerKind, Role, Text, say
from threadline.core.session import BusyMode, Cause, EndReason, SessionId
from threadline.core.session_patch import SessionPatch
from threadline.core.settings import Settings
from threadline.core.turn import TurnState
from threadline.store.deletion.preview import begin_sessions
from threadline.store.deliveries.payload import DeliveryPayload
from threadline.store.inbound.deduplication import InboundOutcome, find_arrival
from threadline.testing.feed_checker import FeedWitness


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def typed(desk: Desk, text: str, id: str = "w1") -> Inbound:
    """Write something in the web app, as the owner."""
    owner = await desk.store.owner_account()
    return web(owner, desk, text, id)


def web(account: Account, desk: Desk, text: str, id: str) -> Inbound:
    """Write something in the web app."""
    return Inbound.text(
        text, address=account.place(), sender=account.sender, at=desk.clock(), message_id=id
    )


async def lines(desk: Desk, id: SessionId) -> list[tuple[Role, str | None, str]]:
    """Read a transcript: who says what."""
    read = await desk.store.transcripts.read(id)
    return [(line.role, line.sender_name, line.text) for line in read]


async def is_marked_lost(desk: Desk) -> bool:
    """Tell whether the only session is marked as one whose people were not reached."""
    (row,) = (await desk.store.sessions.list()).rows
    return row.has_failed_delivery


async def carried(desk: Desk) -> list[DeliveryPayload]:
    """Carry out all that is owed, one after the other."""
    parcels: list[DeliveryPayload] = []
    while taken := await desk.store.deliveries.lease():
        for parcel in taken:
            await desk.store.deliveries.record_sent(parcel.delivery)
        parcels += taken
    return parcels


@both
async def test_what_is_asked_in_a_chat_is_answered_there(desk: Desk) -> None:
    """The owner's words stand in the transcript by name; the answer goes to the platform."""
    id, _ = await desk.says("hello")
    await desk.answers(id, "hello Alice")
    witness = FeedWitness(desk.store)
    await witness.verify([id])

    came = await desk.store.ask_in(id, await typed(desk, "and now?"))
    assert (came.outcome, came.session_id, came.cause) == (InboundOutcome.QUEUED, id, None)
    await desk.answers(id, "now this")
    await witness.verify([id])

    assert (await lines(desk, id))[-2:] == [
        (Role.USER, "owner", "and now?"),
        (Role.ASSISTANT, None, "now this"),
    ]
    parcels = await carried(desk)
    assert [(parcel.text, parcel.delivery.address.chat) for parcel in parcels] == [
        ("hello Alice", "alice"),
        ("now this", "alice"),
    ]
    assert await desk.store.sessions.find((await desk.store.sessions.routes(id))[0]) == id


@both
async def test_nobody_is_quoted_whom_the_platform_does_not_know(desk: Desk) -> None:
    """In a thread answers quote the message they answer, but not one from the web app."""
    id, _ = await desk.says("hello", at=THREAD)
    await desk.answers(id)
    await desk.store.ask_in(id, await typed(desk, "go on"))
    await desk.answers(id)

    first, second = await carried(desk)
    assert first.reply_to is not None
    assert second.reply_to is None


@both
async def test_the_same_words_are_asked_once(desk: Desk) -> None:
    """Ten requests with one id at once queue one turn, and all are told of it."""
    id, turn_id = await desk.says("hello")
    await desk.answers(id)
    asked = await typed(desk, "once")

    came = await asyncio.gather(*(desk.store.ask_in(id, asked) for _ in range(10)))

    assert {arrival.outcome for arrival in came} == {InboundOutcome.QUEUED}
    assert [arrival.is_repeated for arrival in came].count(False) == 1
    assert len({arrival.turn_id for arrival in came}) == 1
    assert len(await desk.store.turns.list(id)) == 2
    assert came[0].turn_id != turn_id


@both
async def test_a_session_that_has_ended_goes_on(desk: Desk) -> None:
    """Also after a night: no reset comes between, and its chat goes on with it."""
    id, _ = await desk.says("hello")
    await desk.answers(id)
    await desk.store.sessions.end(id, EndReason.IDLE)
    desk.clock.advance(timedelta(days=3))
    witness = FeedWitness(desk.store)
    await witness.verify([id])

    came = await desk.store.ask_in(id, await typed(desk, "still there?"))
    await desk.answers(id, "yes")
    await witness.verify([id])

    assert came.session_id == id
    assert (await desk.store.sessions.get(id)).ended_at is None
    assert (await desk.says("good"))[0] == id


@both
async def test_a_chat_that_went_on_elsewhere_stays_there(desk: Desk) -> None:
    """An old session is answered in its chat, but what is said there goes into the new one."""
    old, _ = await desk.says("hello")
    await desk.answers(old)
    await desk.asks("/new")
    new, _ = await desk.says("something else")
    await desk.answers(new)

    await desk.store.ask_in(old, await typed(desk, "about before"))
    await desk.answers(old)

    assert (await desk.says("go on"))[0] == new
    assert (await desk.store.sessions.get(new)).cause is Cause.NEW


@both
async def test_a_suspended_session_wakes(desk: Desk) -> None:
    """Whoever asks in it has looked at what went wrong."""
    id, _ = await desk.says("hello")
    await desk.answers(id)
    desk.factory.tamper("UPDATE sessions SET suspended_at = 1, interruptions = 3")

    await desk.store.ask_in(id, await typed(desk, "again"))

    assert (await desk.store.sessions.get(id)).suspended_at is None


@both
async def test_a_busy_session_queues_collects_and_is_full(desk: Desk) -> None:
    """As with what arrives by a chat; a full queue loses nothing and says so."""
    store = desk.store
    store.rules = Settings(queue_cap=2)
    id, _ = await desk.says("hello")
    assert await store.turns.claim(id) is not None
    first = await store.ask_in(id, await typed(desk, "one", "w1"))
    await store.sessions.update(id, SessionPatch(busy_mode=BusyMode.COLLECT))
    second = await store.ask_in(id, await typed(desk, "two", "w2"))
    assert (second.outcome, second.turn_id) == (InboundOutcome.JOINED, first.turn_id)
    with pytest.raises(QueueFull):
        await store.ask_in(id, await typed(desk, "three", "w3"))
    assert [message.text for message in await store.transcripts.waiting(id)] == ["one", "two"]

    store.rules = Settings()
    third = await store.ask_in(id, await typed(desk, "three", "w3"), busy=BusyMode.INTERRUPT)
    assert third.stopped_id is not None
    assert (await store.turns.get(third.stopped_id)).state is TurnState.STOPPED
    marks = [part for line in await store.transcripts.read(id) for part in line.parts]
    assert MarkerKind.STOPPED in {mark.kind for mark in marks if isinstance(mark, Marker)}


@both
async def test_plain_words_answer_a_turn_that_waits(desk: Desk) -> None:
    """With the rank of whoever speaks; without one they queue behind it."""
    id, turn_id = await desk.says("tidy up")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    await desk.store.turns.wait(claimed.lease, Question(text="Really?"))
    queued = await desk.store.ask_in(id, await typed(desk, "what?", "w1"))
    assert queued.outcome is InboundOutcome.QUEUED

    given = await desk.store.ask_in(id, await typed(desk, "yes", "w2"), answers=AccessLevel.OWNER)

    assert (given.outcome, given.turn_id) == (InboundOutcome.ANSWERED, turn_id)
    assert (await desk.store.turns.get(turn_id)).answer == "yes"


@both
async def test_only_messages_ask_and_only_in_sessions(desk: Desk) -> None:
    """Edits, what was only observed, and sessions that are not there are refused."""
    id, _ = await desk.says("hello")
    asked = await typed(desk, "x")
    edit = Inbound(
        address=asked.address,
        sender=asked.sender,
        parts=asked.parts,
        at=asked.at,
        kind=InboundKind.EDIT,
        message_id="w1",
    )
    with pytest.raises(Invalid):
        await desk.store.ask_in(id, edit)
    missing = SessionId("20200101_000000_00000000")
    with pytest.raises(NotFound):
        await desk.store.ask_in(missing, asked)
    with pytest.raises(NotFound):
        await desk.store.answer_into(missing, asked.sender, asked.parts, "w1")
    assert len(await desk.store.turns.list(id)) == 1


@both
async def test_nothing_is_said_into_a_session_that_is_being_forgotten(desk: Desk) -> None:
    """It would be lost: whoever asks is told that it is not there any more."""
    id, _ = await desk.says("hello")
    asked = await typed(desk, "x")
    database = desk.store.database
    await database.write(begin_sessions, [id])

    with pytest.raises(NotFound):
        await desk.store.ask_in(id, asked)
    with pytest.raises(NotFound):
        await desk.store.answer_into(id, asked.sender, asked.parts, "w2")
    assert await desk.store.database.read(find_arrival, asked) is None


@both
async def test_a_session_of_another_profile_is_asked_there(desk: Desk) -> None:
    """Whatever profile the words came with: they belong to the session's."""
    at = desk.clock()
    hello = Inbound.text("hello", address=DM, sender=ALICE, at=at, message_id="1", profile="work")
    id = (await desk.store.receive(hello)).session_id
    assert id is not None
    await desk.store.ask_in(id, await typed(desk, "more"))
    came = await desk.store.ask_in(id, await typed(desk, "more"))

    assert (came.session_id, came.is_repeated) == (id, True)
    assert (await desk.store.sessions.get(id)).profile == "work"


@both
async def test_the_owner_answers_in_the_agents_place(desk: Desk) -> None:
    """The words stand in the transcript by name and are delivered once; no turn begins."""
    id, _ = await desk.says("is anybody there?")
    await desk.answers(id, "only me")
    await carried(desk)
    owner = await desk.store.owner_account()
    witness = FeedWitness(desk.store)
    await witness.verify([id])

    words = (Text(text="I am, too"),)
    came = await asyncio.gather(
        *(desk.store.answer_into(id, owner.sender, words, "w1") for _ in range(5))
    )
    await witness.verify([id])

    assert [arrival.is_repeated for arrival in came].count(False) == 1
    assert {arrival.session_id for arrival in came} == {id}
    assert (await lines(desk, id))[-1] == (Role.ASSISTANT, "owner", "I am, too")
    (parcel,) = await carried(desk)
    assert (parcel.text, parcel.delivery.address.chat) == ("I am, too", "alice")
    assert parcel.delivery.session_id == id
    assert len(await desk.store.turns.list(id)) == 1
    assert [line.text for line in await desk.store.transcripts.history(id)][-1] == "I am, too"


@both
async def test_an_answer_of_the_owner_that_is_lost_can_be_sent_again(desk: Desk) -> None:
    """Its delivery knows the line that it carries, so that its words are not lost with it."""
    id, _ = await desk.says("is anybody there?")
    await desk.answers(id, "only me")
    await carried(desk)
    owner = await desk.store.owner_account()
    await desk.store.answer_into(id, owner.sender, (Text(text="I am, too"),), "w1")
    (parcel,) = await desk.store.deliveries.lease()
    await desk.store.deliveries.record_failure(parcel.delivery, SendOutcome.DEAD, "blocked")
    said = (await desk.store.transcripts.read(id))[-1]

    (lost,) = await desk.store.deliveries.list(id, states=[DeliveryState.FAILED])
    assert (lost.turn_id, lost.seq) == (None, said.seq)
    assert await is_marked_lost(desk)

    await desk.store.deliveries.resend(lost.id)
    assert not await is_marked_lost(desk)
    assert [parcel.text for parcel in await carried(desk)] == ["I am, too"]


@both
async def test_a_lost_answer_of_the_owner_is_old_once_the_agent_has_answered(desk: Desk) -> None:
    """The mark tells of what was said last, whoever said it."""
    id, _ = await desk.says("is anybody there?")
    await desk.answers(id, "only me")
    await carried(desk)
    owner = await desk.store.owner_account()
    await desk.store.answer_into(id, owner.sender, (Text(text="I am, too"),), "w1")
    (parcel,) = await desk.store.deliveries.lease()
    await desk.store.deliveries.record_failure(
        parcel.delivery, SendOutcome.REJECTED, "no", timedelta(0)
    )
    assert not await is_marked_lost(desk)
    await run_steadily(desk.store, desk.clock, timedelta(hours=25))
    await desk.store.deliveries.abandon_stale()
    assert await is_marked_lost(desk)

    await desk.says("hello?")
    await desk.answers(id, "yes")

    assert not await is_marked_lost(desk)


@both
async def test_what_is_read_in_the_store_is_not_delivered(desk: Desk) -> None:
    """In a conversation of the web app the owner's own words are there already."""
    came = await desk.store.receive(await typed(desk, "hello"))
    assert came.session_id is not None
    await desk.answers(came.session_id)
    owner = await desk.store.owner_account()

    await desk.store.answer_into(came.session_id, owner.sender, (Text(text="a note"),))

    assert (await lines(desk, came.session_id))[-1] == (Role.ASSISTANT, "owner", "a note")
    assert await carried(desk) == []


@both
async def test_words_said_while_a_turn_runs_stand_where_they_were_said(desk: Desk) -> None:
    """The running turn goes on behind them, and its answer is delivered by itself."""
    id, _ = await desk.says("hello")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    owner = await desk.store.owner_account()
    await desk.store.answer_into(id, owner.sender, (Text(text="wait a moment"),), "w1")
    await desk.store.turns.finish(claimed.lease, [say(Role.ASSISTANT, "done")])

    assert [text for _, _, text in await lines(desk, id)][-2:] == ["wait a moment", "done"]
    parcels = await carried(desk)
    assert [parcel.text for parcel in parcels] == ["wait a moment", "done"]


@both
async def test_nothing_to_say_is_refused(desk: Desk) -> None:
    """Neither blanks nor what only agents say is delivered in anybody's name."""
    id, _ = await desk.says("hello")
    owner = await desk.store.owner_account()
    for parts in (
        (Text(text=" \n"),),
        (Marker(kind=MarkerKind.STOPPED, text="x"),),
    ):
        with pytest.raises(Invalid):
            await desk.store.answer_into(id, owner.sender, parts, "w1")
    with pytest.raises(Invalid):
        await desk.store.answer_into(id, owner.sender, (), "w1")
    assert await carried(desk) == []
