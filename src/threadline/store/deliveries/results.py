"""Results: what became of an attempt to send, piece by piece."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from threadline.core.delivery import (
    MAX_DELIVERY_ATTEMPTS,
    Delivery,
    DeliveryState,
    SendOutcome,
    SentPiece,
    pause_after,
)
from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.validation import checked_count, checked_id, checked_text, checked_type
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.deliveries.payload import StoredDelivery, require_delivery, telling


def record_piece(
    tx: Transaction, delivery: Delivery, piece: SentPiece, *, is_new: bool = True
) -> None:
    """Record a message that the platform has taken, so that it is never sent again.

    A new message ends every doubt. A message that was only edited does not: another one may have
    been added after it by a process that stopped. Nor does one that is about to be added, which has
    no id yet and grows: whoever goes on after a crash has to take it for shown.
    """
    checked_type(piece, "piece", SentPiece)
    _note_progress(tx, delivery, is_new=is_new, is_complete=is_new or piece.is_settled)
    _add_piece(tx, delivery, piece)


def withdraw_pieces(tx: Transaction, delivery: Delivery, *, first: int) -> None:
    """Delete the records of messages from a number on: the platform has not taken them."""
    checked_count(first, "number of a piece")
    _note_progress(tx, delivery, is_new=False, is_complete=False)
    tx.run("withdraw_pieces", id=delivery.id, first=first)


def _note_progress(tx: Transaction, delivery: Delivery, *, is_new: bool, is_complete: bool) -> None:
    is_noted = tx.exists(
        "note_progress",
        id=delivery.id,
        fence=delivery.fence,
        is_new=int(is_new),
        is_complete=int(is_complete),
    )
    if not is_noted:
        raise LeaseLost("Another process sends this reply", id=str(delivery.id))


def record_sent(
    tx: Transaction,
    delivery: Delivery,
    *,
    platform_id: str | None,
    pieces: Sequence[SentPiece] = (),
) -> None:
    """Write down that a reply has reached its platform, with the last messages of it."""
    if platform_id is not None:
        checked_id(platform_id, "platform's id of the reply")
    stored = require_delivery(tx, delivery.id)
    if stored.delivery.dead_at is not None:
        # Before the session is locked, as places come before sessions everywhere.
        tx.run("revive_address", key=stored.address_key)
    _finish(tx, delivery, stored, DeliveryState.SENT, platform_id=platform_id)
    for piece in pieces:
        checked_type(piece, "piece", SentPiece)
        _add_piece(tx, delivery, piece)


def _add_piece(tx: Transaction, delivery: Delivery, piece: SentPiece) -> None:
    tx.run(
        "note_piece",
        id=delivery.id,
        n=piece.n,
        platform_id=piece.platform_id,
        length=piece.length,
        now=stamp(tx.now),
    )


def record_failure(
    tx: Transaction,
    delivery: Delivery,
    outcome: SendOutcome,
    error: str,
    *,
    retry_after: timedelta | None,
) -> DeliveryState:
    """Record that an attempt failed. The reply is sent again later, or fails permanently.

    What the platform may have shown is sent again only once, marked as a possible repeat. If the
    address was unreachable before, one attempt is enough. A pause that the platform asks for is no
    attempt.
    """
    checked_text(error, "error")
    is_unheard = outcome is SendOutcome.AMBIGUOUS
    if (
        outcome is SendOutcome.DEAD
        or (is_unheard and delivery.unheard_at is not None)
        or delivery.dead_at is not None
        or (delivery.attempts >= MAX_DELIVERY_ATTEMPTS and retry_after is None)
    ):
        stored = require_delivery(tx, delivery.id)
        if outcome is SendOutcome.DEAD:
            tx.run("bury_address", key=stored.address_key, why=error, now=stamp(tx.now))
        _finish(tx, delivery, stored, DeliveryState.FAILED, error=error, is_doubtful=is_unheard)
        return DeliveryState.FAILED
    if is_unheard:
        delivery = replace(delivery, repeated_at=tx.now, unheard_at=tx.now)
    _retry(
        tx,
        delivery,
        error,
        pause=pause_after(delivery.attempts, retry_after),
        # A platform that asks for a pause has refused nothing; `abandon_stale` limits it.
        is_spared=outcome is SendOutcome.REJECTED and retry_after is not None,
    )
    return DeliveryState.PENDING


def record_interruption(tx: Transaction, delivery: Delivery, error: str) -> DeliveryState:
    """Record that the process stopped while it sent this reply. That is no attempt.

    The reply is sent again as a possible repeat, as often as the settings allow; then it fails.
    """
    if delivery.repeats >= tx.settings.max_repeats:
        stored, failed = require_delivery(tx, delivery.id), DeliveryState.FAILED
        _finish(tx, delivery, stored, failed, error=error, is_doubtful=True)
        return failed
    repeats = delivery.repeats + 1
    delivery = replace(delivery, repeated_at=tx.now, repeats=repeats)
    _retry(tx, delivery, error, pause=pause_after(repeats), is_spared=True)
    return DeliveryState.PENDING


def _retry(
    tx: Transaction, delivery: Delivery, error: str, *, pause: timedelta, is_spared: bool
) -> None:
    """Owe a reply again, with the doubts that the given delivery has."""
    with telling(tx, require_delivery(tx, delivery.id).session_key) as tell:
        is_owed = tx.exists(
            "retry_delivery",
            id=delivery.id,
            fence=delivery.fence,
            now=stamp(tx.now),
            due_at=stamp(tx.now + pause),
            repeated_at=_stamp(delivery.repeated_at),
            unheard_at=_stamp(delivery.unheard_at),
            repeats=delivery.repeats,
            error=error,
            spared=int(is_spared),
        )
        if not is_owed:
            raise LeaseLost("Another process sends this reply", id=str(delivery.id))
        tell(EventKind.DELIVERY_PENDING, delivery.id)


def _stamp(moment: datetime | None) -> int | None:
    return None if moment is None else stamp(moment)


def _finish(
    tx: Transaction,
    delivery: Delivery,
    stored: StoredDelivery,
    state: DeliveryState,
    *,
    platform_id: str | None = None,
    error: str | None = None,
    is_doubtful: bool = False,
) -> None:
    with telling(tx, stored.session_key) as tell:
        is_finished = tx.exists(
            "finish_delivery",
            id=delivery.id,
            fence=delivery.fence,
            state=state,
            sent_at=stamp(tx.now) if state is DeliveryState.SENT else None,
            platform_id=platform_id,
            error=error,
            doubted_at=stamp(tx.now) if is_doubtful else None,
        )
        if not is_finished:
            raise LeaseLost("Another process sends this reply", id=str(delivery.id))
        tell(EventKind(f"delivery.{state}"), delivery.id)
