"""Takeovers: a person answers in a conversation on a platform, and the agent is silent."""

import asyncio
from datetime import timedelta

import pytest
from msgspec.structs import replace

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, DM, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.account import Account
from threadline.core.errors import Conflict, NotFound
from threadline.core.event import Cursor, EventKind
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Role, Text, say
from threadline.core.reset_policy import Policies, ResetMode, ResetPolicy
from threadline.core.session import Cause, SessionId
from threadline.core.settings import EditMode
from threadline.core.turn import TurnState
from threadline.store.inbound.deduplication import Arrival, InboundOutcome
from threadline.testing.feed_checker import FeedWitness


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def taken(desk: Desk) -> tuple[SessionId, Account]:
    """Let the owner take over a conversation in which the agent has spoken."""
    id, _ = await desk.says("hello")
    await desk.answers(id, "hello Alice")
    owner = await desk.store.owner_account()
    await desk.store.take_over(id, owner.sender, by=owner.actor)
    return id, owner


async def hears(desk: Desk, text: str, rank: AccessLevel | None = None) -> Arrival:
    """Let Alice say something, whoever answers it."""
    return await desk.store.receive(desk.inbound(text), answers=rank)


@both
async def test_what_arrives_is_kept_and_waits_for_no_agent(desk: Desk) -> None:
    """It stands under its sender's name at once; the agent reads it when it is asked again."""
    id, owner = await taken(desk)
    witness = FeedWitness(desk.store)
    await witness.verify([id])
    desk.clock.advance(timedelta(minutes=5))

    came = await hears(desk, "is a human there?")
    await desk.store.answer_into(id, owner.sender, (Text(text="yes, I am"),), "w1")
    await witness.verify([id])

    assert (came.outcome, came.session_id, came.turn_id) == (InboundOutcome.OBSERVED, id, None)
    assert await desk.store.turns.claim(id) is None
    session = await desk.store.sessions.get(id)
    assert session.last_activity_at == desk.clock()
    assert (session.taken_by, session.taken_at is None) == ("owner", False)

    await desk.store.hand_back(id, by=owner.actor)
    await witness.verify([id])
    assert (await desk.store.sessions.get(id)).taken_at is None
    assert (await hears(desk, "thank you")).outcome is InboundOutcome.QUEUED
    read = [(line.role, line.text) for line in await desk.store.transcripts.history(id)]
    assert read[-2:] == [(Role.USER, "is a human there?"), (Role.ASSISTANT, "yes, I am")]


@both
async def test_taking_over_twice_is_taking_over_once(desk: Desk) -> None:
    """One moment, one event and one entry in the audit log; the same for giving it back."""
    id, owner = await taken(desk)
    since = (await desk.store.sessions.get(id)).taken_at
    desk.clock.advance(timedelta(minutes=1))

    await asyncio.gather(*(desk.store.take_over(id, owner.sender, by=owner.actor) for _ in "123"))
    assert (await desk.store.sessions.get(id)).taken_at == since
    await asyncio.gather(*(desk.store.hand_back(id, by=owner.actor) for _ in "123"))

    acts = [(entry.act, entry.subject) for entry in await desk.store.audit()]
    assert acts[:2] == [("session.handed_back", id), ("session.taken", id)]
    told = (await desk.store.feed.read(Cursor("0.0"))).events
    assert [event.kind for event in told].count(EventKind.SESSION_CHANGED) == 2


@both
async def test_what_runs_is_finished_and_what_waits_is_left_to_the_person(desk: Desk) -> None:
    """Somebody may be reading the answer already; but nothing new begins behind their back."""
    id, _ = await desk.says("hello")
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    _, waiting = await desk.says("and another thing")
    owner = await desk.store.owner_account()
    witness = FeedWitness(desk.store)
    await witness.verify([id])

    await desk.store.take_over(id, owner.sender)
    await desk.store.turns.finish(claimed.lease, [say(Role.ASSISTANT, "hello Alice")])
    await witness.verify([id])

    assert (await desk.store.turns.get(waiting)).state is TurnState.STOPPED
    assert await desk.store.turns.claim(id) is None
    said = [
        line.text for line in await desk.store.transcripts.read(id) if line.role is not Role.SYSTEM
    ]
    assert said == ["hello", "and another thing", "hello Alice"]
    parcels = await desk.store.deliveries.lease()
    assert [parcel.text for parcel in parcels] == ["hello Alice"]


@both
async def test_words_to_the_person_answer_no_question_of_the_agent(desk: Desk) -> None:
    """The owner still can, by asking the agent where they look at it."""
    id, _ = await desk.says("book a table")
    turn_id = await desk.wonders(id)
    owner = await desk.store.owner_account()
    await desk.store.take_over(id, owner.sender)

    came = await hears(desk, "are you a bot?", AccessLevel.MEMBER)
    assert (came.outcome, came.turn_id) == (InboundOutcome.OBSERVED, None)
    assert (await desk.store.turns.get(turn_id)).state is TurnState.WAITING

    typed = Inbound.text(
        "for two", address=owner.place(), sender=owner.sender, at=desk.clock(), message_id="w1"
    )
    told = await desk.store.ask_in(id, typed, answers=AccessLevel.OWNER)
    assert (told.turn_id, (await desk.store.turns.get(turn_id)).answer) == (turn_id, "for two")


@both
async def test_only_an_owner_still_asks_the_agent(desk: Desk) -> None:
    """Whoever else writes in the web app speaks to the person, as on the platform."""
    id, owner = await taken(desk)

    def typed(text: str) -> Inbound:
        return Inbound.text(
            text, address=owner.place(), sender=owner.sender, at=desk.clock(), message_id=text
        )

    assert (await desk.store.ask_in(id, typed("a"), answers=AccessLevel.MEMBER)).turn_id is None
    assert (await desk.store.ask_in(id, typed("b"), answers=AccessLevel.OWNER)).turn_id is not None


@both
async def test_commands_still_work(desk: Desk) -> None:
    """Who asks is told who answers; a new conversation is the agent's again."""
    id, owner = await taken(desk)

    assert "A person has taken over" in (await desk.asks("/status")).text
    assert (await desk.asks("/stop")).text == "Nothing is running."
    assert (await desk.asks("/queue hello?")).turn_id is None
    with pytest.raises(Conflict, match="taken over"):
        await desk.store.transcripts.retry(id)
    await desk.asks("/new")

    new, _ = await desk.says("hello agent")
    session = await desk.store.sessions.get(new)
    assert (session.parent_id, session.cause, session.taken_at) == (id, Cause.NEW, None)
    assert (await desk.store.sessions.get(id)).taken_at is None
    with pytest.raises(Conflict, match="has ended"):
        await desk.store.take_over(id, owner.sender)
    assert "A person has taken over" not in (await desk.asks("/status")).text


@both
async def test_no_reset_ends_what_somebody_has_taken_over(desk: Desk) -> None:
    """Neither the sweep nor the next message; once it is given back the policy holds again."""
    idle = ResetPolicy(mode=ResetMode.IDLE, idle=timedelta(hours=1))
    desk.store.rules = replace(desk.store.rules, policies=Policies(default=idle))
    id, _ = await taken(desk)
    desk.clock.advance(timedelta(days=2))

    assert await desk.store.sessions.expire() == []
    assert (await desk.store.outlook(id)).resets_at is None
    assert (await hears(desk, "still there?")).session_id == id
    await desk.store.hand_back(id)
    desk.clock.advance(timedelta(days=2))

    assert await desk.store.sessions.expire() == [id]
    assert (await hears(desk, "hello again")).session_id != id


@both
async def test_an_edit_wakes_no_agent(desk: Desk) -> None:
    """Where edits are answered anew, they are not while a person answers."""
    desk.store.rules = replace(desk.store.rules, edits=EditMode.RERUN)
    said = replace(desk.inbound("hello"), message_id="m1")
    id = (await desk.store.receive(said)).session_id
    assert id is not None
    await desk.answers(id)
    owner = await desk.store.owner_account()
    await desk.store.take_over(id, owner.sender)

    edit = replace(said, kind=InboundKind.EDIT, version=1, parts=(Text(text="hallo"),))
    assert (await desk.store.receive(edit)).turn_id is None
    assert await desk.store.turns.claim(id) is None


@both
async def test_new_words_need_whoever_has_taken_over(desk: Desk) -> None:
    """Until they have read them; their own words need nobody."""
    id, owner = await taken(desk)
    reader = owner.sender.id or ""

    async def needs_you() -> bool:
        (row,) = (await desk.store.sessions.list(reader=reader)).rows
        return row.needs_you

    await desk.store.mark_read(id, reader)
    before = await needs_you()
    await hears(desk, "hello?")
    asked = await needs_you()
    await desk.store.mark_read(id, reader)
    read = await needs_you()
    await desk.store.answer_into(id, owner.sender, (Text(text="here I am"),), "w1")
    assert (before, asked, read, await needs_you()) == (False, True, False, False)


@both
async def test_only_what_lives_on_a_platform_is_taken_over(desk: Desk) -> None:
    """In the web app nobody else speaks with the agent; and what is not there cannot be taken."""
    owner = await desk.store.owner_account()
    typed = Inbound.text(
        "hello", address=owner.place(), sender=owner.sender, at=desk.clock(), message_id="w1"
    )
    here = (await desk.store.receive(typed)).session_id
    assert here is not None

    with pytest.raises(Conflict, match="platform"):
        await desk.store.take_over(here, owner.sender)
    with pytest.raises(NotFound):
        await desk.store.take_over(SessionId("20260101_000000_00000000"), owner.sender)
    assert (await desk.says("hello", ALICE, DM))[0] != here
