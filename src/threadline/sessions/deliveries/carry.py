"""Carrying: what became of an attempt to send, piece by piece."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from threadline.core.delivery import (
    MAX_DELIVERY_ATTEMPTS,
    STALE_AFTER,
    Delivery,
    DeliveryState,
    SendOutcome,
    SentPiece,
    pause_after,
)
from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.text import checked_id, checked_text, checked_type
from threadline.sessions.deliveries.parcel import require_delivery, telling
from threadline.storage.database import Row, Transaction
from threadline.storage.moments import stamp


def note_piece(tx: Transaction, delivery: Delivery, piece: SentPiece, *, now: datetime) -> None:
    """Write down a message that a platform has taken: it is never sent again."""
    if tx.one("note_progress", id=delivery.id, fence=delivery.fence) is None:
        raise LeaseLost("Somebody else sends this reply", id=str(delivery.id))
    _add_piece(tx, delivery, piece, now)


def sent(
    tx: Transaction,
    delivery: Delivery,
    *,
    platform_id: str | None,
    pieces: Sequence[SentPiece] = (),
    now: datetime,
) -> None:
    """Write down that a reply has reached its platform, with the last messages of it."""
    if platform_id is not None:
        checked_id(platform_id, "platform's id of the reply")
    row = _read(tx, delivery)
    if row["dead_at"] is not None:
        # Before the session is locked, as places come before sessions everywhere.
        tx.run("revive_address", key=row.number("address_key"))
    _finish(tx, delivery, row, DeliveryState.SENT, platform_id=platform_id, now=now)
    for piece in pieces:
        _add_piece(tx, delivery, piece, now)


def _add_piece(tx: Transaction, delivery: Delivery, piece: SentPiece, now: datetime) -> None:
    checked_type(piece, "piece", SentPiece)
    tx.run(
        "note_piece",
        id=delivery.id,
        n=piece.n,
        platform_id=piece.platform_id,
        length=piece.length,
        now=stamp(now),
    )


def not_sent(
    tx: Transaction,
    delivery: Delivery,
    outcome: SendOutcome,
    error: str,
    *,
    retry_after: timedelta | None,
    now: datetime,
) -> DeliveryState:
    """Write down that an attempt failed; it is tried again later, or fails for good.

    What may have been seen is sent again only once, and is marked as a possible repeat. Where
    nobody could be reached before, one attempt is enough. A pause that the platform wants is no
    attempt.
    """
    checked_text(error, "error")
    is_repeat = delivery.repeated_at is not None and delivery.attempts > 1
    is_again = outcome is SendOutcome.AMBIGUOUS and is_repeat
    if (
        outcome is SendOutcome.DEAD
        or is_again
        or delivery.dead_at is not None
        or (delivery.attempts >= MAX_DELIVERY_ATTEMPTS and retry_after is None)
        or now - delivery.owed_at > STALE_AFTER
    ):
        row = _read(tx, delivery)
        if outcome is SendOutcome.DEAD:
            tx.run("bury_address", key=row.number("address_key"), why=error, now=stamp(now))
        _finish(
            tx,
            delivery,
            row,
            DeliveryState.FAILED,
            error=error,
            is_doubtful=outcome is SendOutcome.AMBIGUOUS,
            now=now,
        )
        return DeliveryState.FAILED
    _retry(tx, delivery, outcome, error, retry_after=retry_after, now=now)
    return DeliveryState.PENDING


def _retry(
    tx: Transaction,
    delivery: Delivery,
    outcome: SendOutcome,
    error: str,
    *,
    retry_after: timedelta | None,
    now: datetime,
) -> None:
    repeated_at = now if outcome is SendOutcome.AMBIGUOUS else delivery.repeated_at
    # Whoever asks for a pause has refused nothing: how long that may go on, time decides.
    is_pause = outcome is SendOutcome.REJECTED and retry_after is not None
    row = _read(tx, delivery)
    with telling(tx, row.number_or_none("session_key"), now) as tell:
        owed = tx.one(
            "retry_delivery",
            id=delivery.id,
            fence=delivery.fence,
            due_at=stamp(now + pause_after(delivery.attempts, retry_after)),
            repeated_at=None if repeated_at is None else stamp(repeated_at),
            error=error,
            spared=int(is_pause),
        )
        if owed is None:
            raise LeaseLost("Somebody else sends this reply", id=str(delivery.id))
        tell(EventKind.DELIVERY_PENDING, delivery.id)


def _finish(
    tx: Transaction,
    delivery: Delivery,
    row: Row,
    state: DeliveryState,
    *,
    platform_id: str | None = None,
    error: str | None = None,
    is_doubtful: bool = False,
    now: datetime,
) -> None:
    with telling(tx, row.number_or_none("session_key"), now) as tell:
        finished = tx.one(
            "finish_delivery",
            id=delivery.id,
            fence=delivery.fence,
            state=state,
            sent_at=stamp(now) if state is DeliveryState.SENT else None,
            platform_id=platform_id,
            error=error,
            doubted_at=stamp(now) if is_doubtful else None,
        )
        if finished is None:
            raise LeaseLost("Somebody else sends this reply", id=str(delivery.id))
        tell(EventKind(f"delivery.{state}"), delivery.id)


def _read(tx: Transaction, delivery: Delivery) -> Row:
    return require_delivery(tx, delivery.id)
