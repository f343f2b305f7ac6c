"""Row mappers: how rows become the values of core."""

import json
from collections.abc import Sequence

from threadline.core.address import Address, Kind
from threadline.core.delivery import Delivery, DeliveryId, DeliveryState
from threadline.core.session import Cause, SessionId
from threadline.core.turn import Awaits, OwnerId, Turn, TurnId, TurnState
from threadline.database.port import Row


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
