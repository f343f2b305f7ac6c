"""Row mappers: how rows become the values of core."""

import json
from collections.abc import Sequence

from threadline.core.address import Address, Kind
from threadline.core.delivery import Delivery, DeliveryId, DeliveryState
from threadline.core.message import Message, MessageKey, Role, unpack
from threadline.core.session import (
    BusyMode,
    Cause,
    EndReason,
    ModelChoice,
    Origin,
    ProjectKey,
    Session,
    SessionId,
    TitleSource,
    Worktree,
)
from threadline.core.turn import Awaits, OwnerId, Turn, TurnId, TurnState
from threadline.database.port import Row


def session_from(row: Row) -> Session:
    """Read a session."""
    parent_id, base_id = row.text_or_none("parent_id"), row.text_or_none("base_id")
    model, tools = row.text_or_none("model"), row.text_or_none("tools")
    project = row.number_or_none("project_key")
    return Session(
        id=SessionId(row.text("id")),
        profile=row.text("profile"),
        platform=row.text("platform"),
        kind=row.choice("kind", Kind),
        parent_id=None if parent_id is None else SessionId(parent_id),
        root_id=SessionId(row.text("root_id")),
        cause=row.choice("cause", Cause),
        opened_at=row.moment("opened_at"),
        last_activity_at=row.moment("last_activity_at"),
        ended_at=row.moment_or_none("ended_at"),
        end_reason=row.choice_or_none("end_reason", EndReason),
        suspended_at=row.moment_or_none("suspended_at"),
        title=row.text_or_none("title"),
        titled_by=row.choice_or_none("titled_by", TitleSource),
        choice=None if model is None else _choice_from(row, model),
        last_seq=row.number("last_seq"),
        revision=row.number("revision"),
        base_id=None if base_id is None else SessionId(base_id),
        base_seq=row.number_or_none("base_seq"),
        origin=row.choice("origin", Origin),
        user_messages=row.number("user_messages"),
        project=None if project is None else ProjectKey(project),
        pinned_at=row.moment_or_none("pinned_at"),
        archived_at=row.moment_or_none("archived_at"),
        busy_mode=row.choice_or_none("busy_mode", BusyMode),
        personality=row.text_or_none("personality"),
        tools=None if tools is None else tuple(json.loads(tools)),
        workspace=row.text_or_none("workspace"),
        worktree=_worktree_from(row),
        taken_at=row.moment_or_none("taken_at"),
        taken_by=row.text_or_none("taken_by"),
    )


def _worktree_from(row: Row) -> Worktree | None:
    path = row.text_or_none("worktree_path")
    if path is None:
        return None
    return Worktree(
        path=path,
        branch=row.text("worktree_branch"),
        repository=row.text("worktree_repository"),
        at=row.moment("worktree_at"),
    )


def _choice_from(row: Row, model: str) -> ModelChoice:
    return ModelChoice(
        model=model,
        provider=row.text_or_none("provider"),
        base_url=row.text_or_none("base_url"),
    )


def turn_from(row: Row, session_id: SessionId) -> Turn:
    """Read a turn."""
    owner, answered_by = row.text_or_none("owner"), row.number_or_none("answered_by")
    asks, awaits = unpack_asks(row.text_or_none("asks"))
    return Turn(
        id=TurnId(row.number("id")),
        session_id=session_id,
        state=TurnState(row.text("state")),
        attempts=row.number("attempts"),
        queued_at=row.moment("queued_at"),
        started_at=row.moment_or_none("started_at"),
        ended_at=row.moment_or_none("ended_at"),
        first_seq=row.number_or_none("first_seq"),
        owner=None if owner is None else OwnerId(owner),
        lease_until=row.moment_or_none("lease_until"),
        question=row.text_or_none("question"),
        answer=row.text_or_none("answer"),
        error=row.text_or_none("error"),
        answered_by=None if answered_by is None else TurnId(answered_by),
        asks=asks,
        awaits=awaits,
        asked_at=row.moment_or_none("asked_at"),
    )


def pack_asks(tools: Sequence[str], awaits: Awaits | None) -> str | None:
    """Write the tools that a turn asks about, and who has to approve them; None: it names none."""
    if not tools:
        return None
    return json.dumps(tools if awaits is None else {"tools": tools, "awaits": awaits})


def unpack_asks(packed: str | None) -> tuple[tuple[str, ...], Awaits | None]:
    """Read what `pack_asks` wrote."""
    kept = [] if packed is None else json.loads(packed)
    if isinstance(kept, dict):
        return tuple(kept["tools"]), Awaits(kept["awaits"])
    return tuple(kept), None


def message_from(row: Row, session_id: SessionId) -> Message:
    """Read a message."""
    turn_id = row.number_or_none("turn_id")
    return Message(
        key=MessageKey(row.number("key")),
        session_id=session_id,
        seq=row.number_or_none("seq"),
        role=row.choice("role", Role),
        parts=unpack(row.text("text"), row.text_or_none("parts")),
        at=row.moment("at"),
        arrived_at=row.moment_or_none("arrived_at"),
        turn_id=None if turn_id is None else TurnId(turn_id),
        sender_id=row.text_or_none("sender_id"),
        sender_name=row.text_or_none("sender_name"),
        changed_at=row.moment_or_none("changed_at"),
        deleted_at=row.moment_or_none("deleted_at"),
        platform_id=row.text_or_none("platform_id"),
        reply_to=row.text_or_none("reply_to"),
    )


def delivery_from(row: Row) -> Delivery:
    """Read a delivery."""
    notice = row.text_or_none("notice")
    session_id, turn_id = row.text_or_none("session_id"), row.number_or_none("turn_id")
    return Delivery(
        id=DeliveryId(row.number("id")),
        session_id=None if session_id is None else SessionId(session_id),
        turn_id=None if turn_id is None else TurnId(turn_id),
        address=address_from_row(row),
        state=DeliveryState(row.text("state")),
        attempts=row.number("attempts"),
        fence=row.number("fence"),
        owed_at=row.moment("owed_at"),
        due_at=row.moment("due_at"),
        sent_at=row.moment_or_none("sent_at"),
        notice=None if notice is None else Cause(notice),
        platform_id=row.text_or_none("platform_id"),
        repeated_at=row.moment_or_none("repeated_at"),
        error=row.text_or_none("error"),
        unheard_at=row.moment_or_none("unheard_at"),
        repeats=row.number("repeats"),
        seq=None if turn_id is not None else row.number("until_seq") or None,
        part=row.number("part"),
        is_growing=row["until_seq"] is None,
        dead_at=row.moment_or_none("dead_at"),
    )


def address_from_row(row: Row) -> Address:
    """Read an address."""
    return Address(
        platform=row.text("platform"),
        account=row.text("account"),
        kind=Kind(row.text("kind")),
        chat=row.text("chat"),
        thread=row.text_or_none("thread") or None,
        alt_chat=row.text_or_none("alt_chat"),
        parent=row.text_or_none("parent"),
        scope=row.text_or_none("scope"),
        chat_name=row.text_or_none("chat_name"),
        topic=row.text_or_none("topic"),
    )
