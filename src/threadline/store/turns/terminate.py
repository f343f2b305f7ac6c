"""Terminate: stopped by a person, failed by time, or taken from a dead owner."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from threadline.core.event import EventKind
from threadline.core.message import Marker, MarkerKind, NewMessage, Part, Role, words
from threadline.core.turn import TurnId, TurnState
from threadline.store.deliveries.create import TurnPlace, complete_streams, create_reply
from threadline.store.formatting import count
from threadline.store.session_writer import SessionWriter

_TOLD_LATELY = timedelta(minutes=10)


class UnfinishedTurn(Struct, frozen=True, kw_only=True):
    """A turn that has not ended."""

    id: TurnId
    state: TurnState
    first_seq: int | None
    queued_at: datetime


def close_turn(
    writer: SessionWriter,
    turn_id: TurnId,
    state: TurnState,
    kind: MarkerKind,
    why: str,
    *,
    is_told: bool = False,
) -> bool:
    """End an unfinished turn, whoever runs it, and keep what it had said. False if it had ended.

    What it was streaming gets its end. With `is_told` the sender is told of it in any case.
    """
    is_expired = kind is MarkerKind.EXPIRED
    closed = writer.tx.one(
        "close_turn",
        TurnPlace,
        id=turn_id,
        state=state,
        now=writer.at,
        error=why if state is TurnState.FAILED else None,
        answered_by=None,
        first_seq=writer.last_seq + 1,
        expired_at=writer.at if is_expired else None,
    )
    if closed is None:
        return False
    # What a person wrote is never out of sight only because nobody answered it.
    place_messages(writer, turn_id)
    keep_partial(writer, turn_id, kind, why)
    writer.tell(EventKind(f"turn.{state}"), turn_id)
    if is_told or (is_expired and closed.targets):
        create_reply(writer, turn_id, closed)
    elif closed.owed:
        complete_streams(writer, turn_id)
    return True


def expire_turns(writer: SessionWriter, turn_ids: Sequence[TurnId], why: str) -> None:
    """Close queued turns that nobody answers any more, and tell the sender once.

    A sender who was told of earlier ones just before, as when a platform catches up, knows already.
    """
    expired_at = writer.tx.one("find_last_expiry", datetime, session_key=writer.key)
    is_known = expired_at is not None and expired_at > writer.tx.now - _TOLD_LATELY
    for n, turn_id in enumerate(turn_ids, 1):
        is_last = n == len(turn_ids)
        others = f" The same holds for {count(n - 1, 'message')} before it." if n > 1 else ""
        close_turn(
            writer,
            turn_id,
            TurnState.FAILED,
            MarkerKind.EXPIRED,
            why + others if is_last else why,
            is_told=is_last and not is_known,
        )


def keep_partial(writer: SessionWriter, turn_id: TurnId, kind: MarkerKind, why: str) -> int:
    """Turn streamed output into a message that is marked as cut off; answer its length."""
    text = take_chunks(writer, turn_id)
    parts: tuple[Part, ...] = (Marker(kind=kind, text=why),)
    if text:
        # However much was streamed, it must be possible to end the turn.
        parts = (*words(text), *parts)
    role = Role.ASSISTANT if text else Role.SYSTEM
    writer.add([NewMessage(role=role, parts=parts)], turn_id)
    return len(text)


def take_chunks(writer: SessionWriter, turn_id: TurnId) -> str:
    """Answer the streamed output that no message holds yet, and forget it as such."""
    chunks = writer.tx.all("list_chunks", str, turn_id=turn_id)
    if chunks:
        writer.tx.run("drop_chunks", turn_id=turn_id)
    return "".join(chunks)


def place_messages(writer: SessionWriter, turn_id: TurnId | None) -> None:
    """Give the messages of a turn, and notes without one, their places in the transcript."""
    placed = writer.tx.all(
        "place_messages",
        Role,
        session_key=writer.key,
        turn_id=turn_id,
        last_seq=writer.last_seq,
    )
    if placed:
        writer.last_seq += len(placed)
        writer.user_messages += placed.count(Role.USER)
        writer.tell(EventKind.MESSAGE_ADDED, writer.last_seq)
