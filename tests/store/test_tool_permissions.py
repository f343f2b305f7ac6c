"""Leave for tools: given once, for a session or for always, by who may, and taken back."""

import asyncio

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, BOB, DM, THREAD, Desk, both, open_desk
from threadline.core.access_level import AccessLevel
from threadline.core.account import Actor
from threadline.core.address import Address, Sender
from threadline.core.approval import AllowanceKey, PermissionDuration
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.store import Store
from threadline.testing.feed_checker import FeedWitness

TOOLS = ("files_delete", "files_move")


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


async def asked(
    desk: Desk,
    sender: Sender = ALICE,
    at: Address = DM,
    tools: tuple[str, ...] = TOOLS,
) -> tuple[SessionId, TurnId]:
    """Say something for which the agent asks leave."""
    id, turn_id = await desk.says("tidy up", sender, at)
    await desk.wonders(id, *tools)
    return id, turn_id


async def allowed(store: Store, id: SessionId, turn_id: TurnId) -> frozenset[str]:
    """Read what an agent is told that it may do without asking."""
    turn = await store.turns.get(turn_id)
    assert turn.session_id == id
    return (await store.turns.context(turn)).allowed


@both
async def test_a_turn_tells_what_it_asks_leave_for_while_it_waits(desk: Desk) -> None:
    """Each tool once, and nothing any more as soon as the turn goes on or ends."""
    id, turn_id = await asked(desk, tools=("b", "a", "b"))
    assert (await desk.store.turns.get(turn_id)).asks == ("b", "a")
    await desk.asks("/approve")
    assert (await desk.store.turns.get(turn_id)).asks == ()
    await desk.answers(id)

    _, stopped = await asked(desk)
    await desk.asks("/stop")

    assert (await desk.store.turns.get(stopped)).asks == ()


@both
async def test_leave_is_given_once_by_itself(desk: Desk) -> None:
    """Neither /approve nor /approve once allows anything for later."""
    id, turn_id = await asked(desk)
    await desk.asks("/deny")
    await desk.answers(id)
    for command in ("/approve", "/approve once but gently"):
        _, turn_id = await asked(desk)
        reply = await desk.asks(command)

        assert reply.text == "Approved."
        assert await desk.store.approvals.list_permissions() == []
        assert await allowed(desk.store, id, turn_id) == frozenset()
        await desk.answers(id)
    (last, *_) = await desk.store.turns.list(id)
    assert last.answer == "approved: but gently"


@both
async def test_leave_for_a_session_holds_there_and_nowhere_else(desk: Desk) -> None:
    """Neither in a branch of it, nor in the conversation after it, nor in that of another."""
    id, turn_id = await asked(desk)
    reply = await desk.asks(f"/approve {turn_id} session go on")

    assert "files_delete and files_move will not be asked about in this conversation" in reply.text
    assert (await desk.store.turns.get(turn_id)).answer == "approved: go on"
    assert await allowed(desk.store, id, turn_id) == frozenset(TOOLS)
    given = await desk.store.approvals.list_permissions()
    assert [(one.tool, one.session_id, one.extent) for one in given] == [
        ("files_delete", id, PermissionDuration.SESSION),
        ("files_move", id, PermissionDuration.SESSION),
    ]
    assert given[0].by == Identity(platform="telegram", id="alice")
    assert given[0].by_name == "Alice"
    assert "Nobody is asked about files_delete and files_move." in (await desk.asks("/status")).text
    await desk.answers(id)

    for command in ("/branch", "/new"):
        await desk.asks(command)
        other, turn_id = await desk.says("and now?")
        assert other != id
        assert await allowed(desk.store, other, turn_id) == frozenset()
        await desk.answers(other)


@both
async def test_leave_for_always_is_for_an_admin_to_give(desk: Desk) -> None:
    """A member is refused, the question stays open, and they are told what they can do instead."""
    id, turn_id = await asked(desk)
    refused = await desk.asks(f"/approve {turn_id} always", rank=AccessLevel.MEMBER)

    assert refused.text.startswith("Only an admin may always allow a tool.")
    assert f"/approve {turn_id} session" in refused.text
    assert (await desk.store.turns.get(turn_id)).state is TurnState.WAITING
    assert await desk.store.approvals.list_permissions() == []

    assert await desk.store.audit() == []
    reply = await desk.asks("/approve always", rank=AccessLevel.ADMIN)
    assert "anywhere" in reply.text
    acts = [(one.act, one.subject, one.detail) for one in await desk.store.audit()]
    given = [one for one in acts if one[0] == "tool.allowed"]
    assert given == [("tool.allowed", tool, "telegram:alice") for tool in sorted(TOOLS)[::-1]]
    assert [act for act, *_ in acts if act != "tool.allowed"] == ["tool.approved"]
    await desk.answers(id)
    bobs = Address(platform="telegram", kind=DM.kind, chat="bob")
    other, turn_id = await desk.says("and I?", BOB, bobs)
    assert await allowed(desk.store, other, turn_id) == frozenset(TOOLS)
    assert {one.extent for one in await desk.store.approvals.list_permissions("main")} == {
        PermissionDuration.ALWAYS
    }
    assert await desk.store.approvals.list_permissions("work") == []
    assert await desk.store.approvals.list_permissions(id=other) == []


@both
async def test_a_question_without_tools_takes_every_word_as_said_to_the_agent(desk: Desk) -> None:
    """There is nothing that could be allowed for longer."""
    _, turn_id = await asked(desk, tools=())
    await desk.asks("/approve always use tabs")

    assert (await desk.store.turns.get(turn_id)).answer == "approved: always use tabs"
    assert await desk.store.approvals.list_permissions() == []


@both
async def test_two_who_approve_at_once_give_leave_once(desk: Desk) -> None:
    """One of them counts; the other is told, and what they wanted to allow is not."""
    _, turn_id = await asked(desk, ALICE, THREAD)
    session = desk.inbound(f"/approve {turn_id} session", ALICE, THREAD)
    always = desk.inbound(f"/approve {turn_id} always", BOB, THREAD)
    given = await asyncio.gather(desk.gives(session), desk.gives(always, AccessLevel.ADMIN))

    said = sorted(reply.text for reply in given if reply)
    assert said[0].startswith("Approved. files_delete")
    assert "answer" in said[1]
    assert len({one.extent for one in await desk.store.approvals.list_permissions()}) == 1


@both
async def test_who_may_not_answer_cannot_allow_anything(desk: Desk) -> None:
    """In a shared thread Bob is not the one who was asked, and presses Alice's button in vain."""
    _, turn_id = await asked(desk, ALICE, THREAD)
    reply = await desk.asks(f"/approve {turn_id} session", BOB, THREAD)

    assert reply.text.startswith("Only whoever was asked, or an admin, can answer this")
    assert (await desk.store.turns.get(turn_id)).state is TurnState.WAITING
    assert await desk.store.approvals.list_permissions() == []


@both
async def test_a_button_of_an_answered_question_answers_no_other(desk: Desk) -> None:
    """Also if it says for how long."""
    id, old = await asked(desk)
    await desk.asks("/deny")
    await desk.answers(id)
    _, new = await asked(desk)

    late = await desk.asks(f"/approve {old} session")

    assert late.text.startswith("Nothing is waiting for an answer here")
    assert (await desk.store.turns.get(new)).state is TurnState.WAITING
    assert await desk.store.approvals.list_permissions() == []


@both
async def test_a_button_of_an_earlier_question_of_the_turn_answers_no_later_one(desk: Desk) -> None:
    """Whoever presses late is told so; a number alone means what the turn asks now."""
    id, turn_id = await asked(desk)
    await desk.asks(f"/approve {turn_id}.1")
    assert await desk.wonders(id) == turn_id

    late = [await desk.asks(f"/{says}") for says in (f"approve {turn_id}.1", f"deny {turn_id}.1")]
    longer = await desk.asks(f"/approve {turn_id}.1 session")

    assert all("now asks something else" in reply.text for reply in (*late, longer))
    assert (await desk.store.turns.get(turn_id)).state is TurnState.WAITING
    assert await desk.store.approvals.list_permissions() == []
    assert (await desk.asks(f"/deny {turn_id}.2 not that")).text == "Denied."
    assert (await desk.store.turns.get(turn_id)).answer == "denied: not that"


@both
async def test_leave_is_taken_back(desk: Desk) -> None:
    """One by one, told in the feed where it belongs to a session, and never twice."""
    id, turn_id = await asked(desk)
    await desk.asks("/approve session")
    first, second = await desk.store.approvals.list_permissions(id=id)
    witness = FeedWitness(desk.store)
    await witness.verify([id])

    assert await desk.store.approvals.revoke_permission(first.key) == first

    assert await allowed(desk.store, id, turn_id) == frozenset({second.tool})
    assert [event.kind for event in await witness.verify([id])] == [EventKind.SESSION_CHANGED]
    with pytest.raises(NotFound):
        await desk.store.approvals.revoke_permission(first.key)
    with pytest.raises(NotFound):
        await desk.store.approvals.revoke_permission(AllowanceKey(0))


@both
async def test_leave_given_twice_is_one_leave(desk: Desk) -> None:
    """Whoever gave it first is who gave it."""
    for _ in range(2):
        id, _ = await asked(desk, tools=("files_delete",))
        await desk.asks("/approve session")
        await desk.answers(id)

    assert len(await desk.store.approvals.list_permissions()) == 1


@both
async def test_forgetting_takes_leave_along(desk: Desk) -> None:
    """That of a session goes with it; of a person only that it was they who gave it."""
    id, _ = await asked(desk, tools=("a",))
    await desk.asks("/approve session")
    await desk.answers(id)
    other, _ = await asked(desk, tools=("b",))
    assert other == id
    await desk.asks("/approve always", rank=AccessLevel.OWNER)
    await desk.answers(id)

    await desk.store.sessions.delete(id)
    (left,) = await desk.store.approvals.list_permissions()
    assert (left.tool, left.by_name) == ("b", "Alice")

    await desk.says("hello again")
    await desk.store.people.delete(Identity(platform="telegram", id="alice"))
    (left,) = await desk.store.approvals.list_permissions()
    assert (left.tool, left.by, left.by_name) == ("b", None, None)


@both
async def test_leave_for_always_is_told_beside_all_sessions(desk: Desk) -> None:
    """When it is given, and when it is taken back; of a session it is told there."""
    _, turn_id = await asked(desk)
    cursor = await desk.store.feed.end()
    await desk.asks("/approve always", rank=AccessLevel.ADMIN)
    (first, _) = await desk.store.approvals.list_permissions()
    await desk.store.approvals.revoke_permission(first.key, by=Actor())
    assert (await desk.store.audit())[0].act == "tool.revoked"

    events = (await desk.store.feed.read(cursor)).events
    beside = [event.kind for event in events if event.session_id is None]
    assert beside.count(EventKind.ALLOWANCE_CHANGED) == 2
    assert (await desk.store.turns.get(turn_id)).state is TurnState.QUEUED
