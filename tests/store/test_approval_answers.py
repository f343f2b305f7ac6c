"""Decisions: who is shown what agents ask, who may answer it, and how large prompts were."""

import asyncio

import pytest

from tests.databases import DatabaseFactory
from tests.store.command_setup import ALICE, BOB, DM, GROUP, Desk, both, open_desk
from threadline.core.address import Address, Sender
from threadline.core.agent import Question
from threadline.core.approval import Approval, PermissionDuration
from threadline.core.errors import Conflict, Invalid, NotFound, Refused
from threadline.core.message import Role, say
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.core.usage import Usage

OWNER = Viewer.owner()
NOBODY = SessionId("20260101_000000_00000000")


@pytest.fixture
async def desk(database_factory: DatabaseFactory) -> Desk:
    """Sit down at a desk with a fresh store."""
    return await open_desk(database_factory)


def asker(sender: Sender, at: Address = DM) -> Viewer:
    """Look at conversations as somebody, from a chat."""
    return Viewer(address=at, sender=sender)


async def asked(
    desk: Desk, sender: Sender = ALICE, at: Address = DM, *tools: str
) -> tuple[SessionId, TurnId]:
    """Say something that the agent has a question about."""
    id, turn_id = await desk.says("tidy up", sender, at)
    await desk.wonders(id, *tools)
    return id, turn_id


@both
async def test_questions_are_shown_to_whom_they_are_asked(desk: Desk) -> None:
    """The latest first; the owner sees all of them, and nobody those of a stranger."""
    _, first = await asked(desk)
    _, second = await asked(desk, BOB, GROUP)

    assert [turn.id for turn in await desk.store.approvals.list_questions(OWNER)] == [second, first]
    assert [turn.id for turn in await desk.store.approvals.list_questions(asker(ALICE))] == [first]
    assert [turn.id for turn in await desk.store.approvals.list_questions(asker(BOB, GROUP))] == [
        second
    ]
    assert await desk.store.approvals.list_questions(Viewer.owner("work")) == []
    (latest,) = await desk.store.approvals.list_questions(OWNER, most=1)
    assert latest.asked_at is not None
    place = latest.asked_at, latest.id
    assert [turn.id for turn in await desk.store.approvals.list_questions(OWNER, before=place)] == [
        first
    ]


@both
async def test_a_question_is_decided_once(desk: Desk) -> None:
    """Of those who answer at the same time one does, and the words go to the agent."""
    _, turn_id = await asked(desk)

    came = await asyncio.gather(
        *(
            desk.store.approvals.decide(OWNER, turn_id, approval, words="be quick")
            for approval in (Approval.APPROVED, Approval.DENIED)
        ),
        return_exceptions=True,
    )

    assert [one for one in came if not isinstance(one, Conflict)] == [TurnState.QUEUED]
    answer = (await desk.store.turns.get(turn_id)).answer
    assert answer in {"approved: be quick", "denied: be quick"}
    assert await desk.store.approvals.list_questions(OWNER) == []


@both
async def test_a_decision_is_about_the_question_that_it_names(desk: Desk) -> None:
    """Who pressed twice gave leave, for always, for the next question, which they had never seen.

    It is told apart even where both are asked at the same moment, and stays open.
    """
    id, turn_id = await asked(desk, ALICE, DM, "ls")
    first = (await desk.store.turns.get(turn_id)).asked_at
    await desk.store.approvals.decide(OWNER, turn_id, Approval.APPROVED, asked_at=first)
    claimed = await desk.store.turns.claim(id)
    assert claimed is not None
    await desk.store.turns.wait(claimed.lease, Question(text="And this?", tools=("rm",)))

    with pytest.raises(Conflict, match="asks something else"):
        await desk.store.approvals.decide(
            OWNER, turn_id, Approval.APPROVED, asked_at=first, extent=PermissionDuration.ALWAYS
        )

    (open_still,) = await desk.store.approvals.list_questions(OWNER)
    assert (open_still.question, await desk.store.approvals.list_permissions()) == ("And this?", [])
    assert open_still.asked_at != first
    now = open_still.asked_at
    state = await desk.store.approvals.decide(OWNER, turn_id, Approval.DENIED, asked_at=now)
    assert state is TurnState.QUEUED
    # It is known when it was asked, also now that it is answered.
    assert (await desk.store.turns.get(turn_id)).asked_at == now


@both
async def test_only_who_was_asked_decides(desk: Desk) -> None:
    """For a stranger the turn is not there, and for always only an owner gives leave."""
    _, turn_id = await asked(desk, ALICE, DM, "rm")

    with pytest.raises(NotFound):
        await desk.store.approvals.decide(asker(BOB, GROUP), turn_id, Approval.APPROVED)
    with pytest.raises(Refused):
        await desk.store.approvals.decide(
            asker(ALICE), turn_id, Approval.APPROVED, extent=PermissionDuration.ALWAYS
        )
    with pytest.raises(NotFound):
        await desk.store.approvals.decide(OWNER, TurnId(99), Approval.APPROVED)
    with pytest.raises(Invalid):
        await desk.store.approvals.decide(OWNER, turn_id, "perhaps")  # type: ignore[arg-type]

    assert (await desk.store.turns.get(turn_id)).state is TurnState.WAITING
    assert await desk.store.approvals.list_permissions() == []


@both
async def test_leave_for_always_is_written_down(desk: Desk) -> None:
    """With the account that gave it, and for each tool."""
    owner = await desk.store.owner_account()
    _, turn_id = await asked(desk, ALICE, DM, "rm", "ls")
    await desk.store.approvals.decide(
        owner.asker(), turn_id, Approval.APPROVED, extent=PermissionDuration.ALWAYS
    )

    acts = [(one.account, one.act, one.subject) for one in await desk.store.audit()]
    assert acts[:2] == [("owner", "tool.allowed", "rm"), ("owner", "tool.allowed", "ls")]
    assert [(who, act) for who, act, _ in acts[2:]] == [("owner", "tool.approved")]


@both
@pytest.mark.parametrize(
    ("approval", "extent", "allowed"),
    [
        (Approval.APPROVED, PermissionDuration.ONCE, []),
        (Approval.APPROVED, PermissionDuration.SESSION, ["rm"]),
        (Approval.DENIED, PermissionDuration.SESSION, []),
    ],
)
async def test_leave_for_longer_is_remembered(
    desk: Desk, approval: Approval, extent: PermissionDuration, allowed: list[str]
) -> None:
    """Only where somebody said yes, and for longer than once."""
    id, turn_id = await asked(desk, ALICE, DM, "rm")

    await desk.store.approvals.decide(asker(ALICE), turn_id, approval, extent=extent)

    assert [one.tool for one in await desk.store.approvals.list_permissions(id=id)] == allowed


@both
async def test_the_last_prompt_is_that_of_the_last_turn(desk: Desk) -> None:
    """Before any turn it had none, and after a compaction nobody knows."""
    id, _ = await desk.says("hello")
    before = await desk.store.usage.last_prompt(id)
    for size in (700, 900):
        claimed = await desk.store.turns.claim(id)
        assert claimed is not None
        spent = Usage(provider="p", model="m", prompt_tokens=size)
        await desk.store.turns.finish(claimed.lease, [say(Role.ASSISTANT, "hi")], usage=[spent])
        await desk.says("and then?")

    assert (before, await desk.store.usage.last_prompt(id)) == (0, 900)
    await desk.answers(id)
    await desk.store.transcripts.compact(id, "They said hello.", keep=1)
    assert await desk.store.usage.last_prompt(id) == 0
    with pytest.raises(NotFound):
        await desk.store.usage.last_prompt(NOBODY)
