"""Turns: requests being answered, and those that wait for their turn."""

from typing import Annotated

from fastapi import Response
from msgspec.structs import asdict

from threadline.core.message import Message, MessageKey, Text
from threadline.core.turn import Awaits, TurnId, TurnState
from threadline.web.bodies import Revision, Time, View
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import SessionIdPath, StoreDep, path_key
from threadline.web.resources.etags import IfMatch, seen_in, tell_tag
from threadline.web.resources.messages import MessageView, TextRequest
from threadline.web.resources.pagination import PAGE, After, Most, Page, number_after
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import visible_turn


class TurnView(View, frozen=True, kw_only=True):
    """One request being answered."""

    id: int
    session_id: str
    state: TurnState
    attempts: int
    queued_at: Time
    started_at: Time | None
    ended_at: Time | None
    first_seq: int | None
    question: str | None
    """What it asks while it waits, or asked last."""
    asked_at: Time | None
    """When it asked; no two of its questions have one."""
    asks: list[str]
    """The tools it asks permission for."""
    awaits: Awaits | None
    """Who has to approve those tools; null: the settings say who."""
    answer: str | None
    error: str | None
    answered_by: int | None


class StoppedView(View, frozen=True, kw_only=True):
    """Whether something was stopped."""

    turn_id: int | None
    """The turn; null: nothing was under way."""


class QueuedView(MessageView, frozen=True, kw_only=True):
    """A message that waits for its turn."""

    revision: Revision

    @classmethod
    def from_message(cls, message: Message) -> "QueuedView":
        """Return the view of a message, with its revision."""
        return cls(**asdict(MessageView.from_message(message)), revision=message.revision)


router = Router(tags=["turns"])

WaitingKey = Annotated[int, path_key("The key of a message that waits.", 7)]
TurnIdPath = Annotated[int, path_key("The id of a turn.", 7)]


@router.get("/sessions/{id}/turns", summary="List turns")
async def list_turns(
    visitor: Reading, store: StoreDep, id: SessionIdPath, after: After = None, most: Most = PAGE
) -> Page[TurnView]:
    """Read a page of the turns of a session, the newest first."""
    place = number_after(after, 1)
    before = None if place is None else TurnId(place)
    found = await store.turns(id, most + 1, before=before, viewer=visitor.account)
    return Page.cut(found, most, TurnView.of, lambda turn: turn.id)


@router.get("/turns/{turn_id}", summary="Read a turn")
async def read_turn(visitor: Reading, store: StoreDep, turn_id: TurnIdPath) -> TurnView:
    """Read the state of a turn."""
    return TurnView.of(await visible_turn(store, visitor, turn_id))


@router.get("/turns/{turn_id}/reply", summary="Read a reply")
async def read_reply(visitor: Reading, store: StoreDep, turn_id: TurnIdPath) -> Page[MessageView]:
    """Read what a turn has said to people: its answers, and why it ended early."""
    turn = await visible_turn(store, visitor, turn_id)
    return Page(items=[MessageView.from_message(one) for one in await store.reply(turn.id)])


@router.post("/turns/{turn_id}/stop", summary="Stop a turn", responses=problem_responses(409))
async def stop_turn(visitor: Writing, store: StoreDep, turn_id: TurnIdPath) -> StoppedView:
    """Stop a turn and keep what it has said; one still in the queue will never run."""
    turn = await visible_turn(store, visitor, turn_id)
    return StoppedView(turn_id=turn.id if await store.stop(turn.id) else None)


@router.post(
    "/sessions/{id}/stop", summary="Stop what is under way", responses=problem_responses(409)
)
async def stop_session(visitor: Writing, store: StoreDep, id: SessionIdPath) -> StoppedView:
    """Stop the turn a session has under way; those in the queue still run."""
    session = await visible(store, visitor, id)
    return StoppedView(turn_id=await store.stop_session(session.id))


@router.get("/sessions/{id}/queue", summary="Read the queue")
async def list_queue(visitor: Reading, store: StoreDep, id: SessionIdPath) -> Page[QueuedView]:
    """Read the messages that wait for their turn, in order."""
    session = await visible(store, visitor, id)
    return Page(items=[QueuedView.from_message(one) for one in await store.queue(session.id)])


@router.put(
    "/sessions/{id}/queue/{key}",
    summary="Change a message that waits",
    responses=problem_responses(409, 412, 428),
)
async def change_queued(
    *,
    visitor: Exchanging,
    store: StoreDep,
    id: SessionIdPath,
    key: WaitingKey,
    wish: TextRequest,
    response: Response,
    seen: IfMatch = None,
) -> QueuedView:
    """Change a message of your own that is waiting for its turn.

    Nobody can change somebody else's message, not even an owner, who may only take it back.
    """
    session = await visible(store, visitor, id)
    message = await store.change_queued(
        session.id,
        MessageKey(key),
        (Text(text=wish.text),),
        visitor.account.sender,
        seen=seen_in(seen),
    )
    tell_tag(response, message.revision)
    return QueuedView.from_message(message)


@router.delete(
    "/sessions/{id}/queue/{key}", summary="Take a message back", responses=problem_responses(409)
)
async def unqueue_message(
    visitor: Writing, store: StoreDep, id: SessionIdPath, key: WaitingKey
) -> StoppedView:
    """Take back a waiting message, so that it is never answered.

    Your own words are taken back. What others said stays, but the turn that would answer it is
    stopped, and whatever else it would answer goes with it.
    """
    session = await visible(store, visitor, id)
    stopped = await store.take_back(session.id, MessageKey(key), visitor.account.sender)
    return StoppedView(turn_id=stopped)
