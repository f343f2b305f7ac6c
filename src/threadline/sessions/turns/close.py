"""Closing a turn from outside: stopped by a person, failed by time, or taken from a dead owner."""

from collections.abc import Sequence
from datetime import timedelta

from threadline.core.event import EventKind
from threadline.core.message import Marker, MarkerKind, NewMessage, Part, Role, words
from threadline.core.turn import TurnId, TurnState
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.deliveries.owe import complete_streams, owe_reply
from threadline.sessions.phrases import count

_TOLD_LATELY = timedelta(minutes=10)


def close_turn(
    chronicle: Chronicle,
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
    closed = chronicle.tx.one(
        "close_turn",
        id=turn_id,
        state=state,
        now=chronicle.at,
        error=why if state is TurnState.FAILED else None,
        answered_by=None,
        first_seq=chronicle.last_seq + 1,
        expired_at=chronicle.at if is_expired else None,
    )
    if closed is None:
        return False
    # What a person wrote is never out of sight only because nobody answered it.
    place_messages(chronicle, turn_id)
    keep_partial(chronicle, turn_id, kind, why)
    chronicle.tell(EventKind(f"turn.{state}"), turn_id)
    if is_told or (is_expired and closed.number("targets")):
        owe_reply(chronicle, turn_id, closed)
    elif closed.number("owed"):
        complete_streams(chronicle, turn_id)
    return True


def expire_turns(chronicle: Chronicle, turn_ids: Sequence[TurnId], why: str) -> None:
    """Close queued turns that nobody answers any more, and tell the sender once.

    A sender who was told of earlier ones just before, as when a platform catches up, knows already.
    """
    last = chronicle.tx.one("find_last_expiry", session_key=chronicle.key)
    is_known = last is not None and last.moment("expired_at") > chronicle.now - _TOLD_LATELY
    for n, turn_id in enumerate(turn_ids, 1):
        is_last = n == len(turn_ids)
        others = f" The same holds for {count(n - 1, 'message')} before it." if n > 1 else ""
        close_turn(
            chronicle,
            turn_id,
            TurnState.FAILED,
            MarkerKind.EXPIRED,
            why + others if is_last else why,
            is_told=is_last and not is_known,
        )


def keep_partial(chronicle: Chronicle, turn_id: TurnId, kind: MarkerKind, why: str) -> int:
    """Turn streamed output into a message that is marked as cut off; answer its length."""
    text = take_chunks(chronicle, turn_id)
    parts: tuple[Part, ...] = (Marker(kind=kind, text=why),)
    if text:
        # However much was streamed, it must be possible to end the turn.
        parts = (*words(text), *parts)
    role = Role.ASSISTANT if text else Role.SYSTEM
    chronicle.add([NewMessage(role=role, parts=parts)], turn_id)
    return len(text)


def take_chunks(chronicle: Chronicle, turn_id: TurnId) -> str:
    """Answer the streamed output that no message holds yet, and forget it as such."""
    chunks = chronicle.tx.all("list_chunks", turn_id=turn_id)
    if chunks:
        chronicle.tx.run("drop_chunks", turn_id=turn_id)
    return "".join(chunk.text("text") for chunk in chunks)


def place_messages(chronicle: Chronicle, turn_id: TurnId | None) -> None:
    """Give the messages of a turn, and notes without one, their places in the transcript."""
    placed = chronicle.tx.all(
        "place_messages",
        session_key=chronicle.key,
        turn_id=turn_id,
        last_seq=chronicle.last_seq,
    )
    if placed:
        chronicle.last_seq += len(placed)
        chronicle.user_messages += sum(row["role"] == Role.USER for row in placed)
        chronicle.tell(EventKind.MESSAGE_ADDED, chronicle.last_seq)
