"""The ledger of deliveries: every reply owed, until it was sent, failed, or was given up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from threadline.core.delivery import (
    MAX_DELIVERY_ATTEMPTS,
    STALE_AFTER,
    Delivery,
    DeliveryId,
    DeliveryState,
    SendOutcome,
    pause_after,
)
from threadline.core.errors import LeaseLost, NotFound
from threadline.core.event import EventKind
from threadline.core.message import Message
from threadline.core.rules import Rules
from threadline.core.text import checked_id, checked_text
from threadline.core.turn import OwnerId, is_over
from threadline.sessions.chronicle import chronicle_of
from threadline.sessions.records import delivery_from, message_from
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

_SLICE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A delivery that is ours to send, and what has to be said."""

    delivery: Delivery
    messages: Sequence[Message]


def take_deliveries(
    tx: Transaction, *, owner: OwnerId, rules: Rules, now: datetime, most: int
) -> list[Parcel]:
    """Take deliveries that are due, at most one of each address, so that order is kept."""
    parcels = []
    # Sessions are locked in one order everywhere, so that two processes never wait for each other.
    due = tx.all("list_due", now=stamp(now), owed_since=stamp(now - STALE_AFTER), most=most)
    for row in sorted(due, key=lambda row: row.number("session_key")):
        with chronicle_of(tx, row.number("session_key"), now) as chronicle:
            taken = tx.one(
                "take_delivery",
                id=row.number("id"),
                owner=owner,
                lease_until=stamp(now + rules.lease),
                now=stamp(now),
            )
            if taken is not None:
                chronicle.tell(EventKind.DELIVERY_SENDING, row.number("id"))
                parcels.append(_parcel(tx, row.number("id")))
    return parcels


def _parcel(tx: Transaction, id: int) -> Parcel:
    delivery = delivery_from(expect(tx, "read_delivery", id=id))
    rows = tx.all("list_reply", turn_id=delivery.turn_id)
    messages = tuple(message_from(row, delivery.session_id) for row in rows)
    return Parcel(delivery=delivery, messages=messages)


def sent(tx: Transaction, delivery: Delivery, *, platform_id: str | None, now: datetime) -> None:
    """Write down that a reply has reached its platform."""
    if platform_id is not None:
        checked_id(platform_id, "platform's id of the reply")
    _finish(tx, delivery, DeliveryState.SENT, platform_id=platform_id, error=None, now=now)


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

    What may have been seen is sent again only once, and is marked as a possible repeat.
    """
    checked_text(error, "error")
    is_again = outcome is SendOutcome.AMBIGUOUS and delivery.repeated_at is not None
    if (
        outcome is SendOutcome.DEAD
        or is_again
        or delivery.attempts >= MAX_DELIVERY_ATTEMPTS
        or now - delivery.owed_at > STALE_AFTER
    ):
        _finish(tx, delivery, DeliveryState.FAILED, platform_id=None, error=error, now=now)
        return DeliveryState.FAILED
    repeated_at = now if outcome is SendOutcome.AMBIGUOUS else delivery.repeated_at
    row = expect(tx, "read_delivery", id=delivery.id)
    with chronicle_of(tx, row.number("session_key"), now) as chronicle:
        owed = tx.one(
            "retry_delivery",
            id=delivery.id,
            fence=delivery.fence,
            due_at=stamp(now + pause_after(delivery.attempts, retry_after)),
            repeated_at=None if repeated_at is None else stamp(repeated_at),
            error=error,
        )
        if owed is None:
            raise LeaseLost("Somebody else sends this reply", id=str(delivery.id))
        chronicle.tell(EventKind.DELIVERY_PENDING, delivery.id)
    return DeliveryState.PENDING


def _finish(
    tx: Transaction,
    delivery: Delivery,
    state: DeliveryState,
    *,
    platform_id: str | None,
    error: str | None,
    now: datetime,
) -> None:
    row = tx.one("read_delivery", id=delivery.id)
    if row is None:
        raise NotFound("There is no such delivery", id=str(delivery.id))
    with chronicle_of(tx, row.number("session_key"), now) as chronicle:
        finished = tx.one(
            "finish_delivery",
            id=delivery.id,
            fence=delivery.fence,
            state=state,
            sent_at=stamp(now) if state is DeliveryState.SENT else None,
            platform_id=platform_id,
            error=error,
        )
        if finished is None:
            raise LeaseLost("Somebody else sends this reply", id=str(delivery.id))
        chronicle.tell(EventKind(f"delivery.{state}"), delivery.id)


def reclaim(
    tx: Transaction, *, dead: frozenset[OwnerId], rules: Rules, now: datetime
) -> list[DeliveryId]:
    """Take back what dead senders were sending: nobody knows whether it was seen."""
    reclaimed: list[DeliveryId] = []
    for row in sorted(tx.all("list_sending"), key=lambda row: row.number("session_key")):
        if OwnerId(row.text("owner")) in dead or is_over(
            row.moment("lease_until"), rules.lease, now
        ):
            reclaimed += _reclaim(tx, row, now)
    return reclaimed


def _reclaim(tx: Transaction, row: Row, now: datetime) -> list[DeliveryId]:
    listed = delivery_from(expect(tx, "read_delivery", id=row.number("id")))
    delivery = replace(listed, fence=row.number("fence"))
    why = "The program stopped while this was being sent."
    try:
        not_sent(tx, delivery, SendOutcome.AMBIGUOUS, why, retry_after=None, now=now)
    except LeaseLost:
        return []  # Another process was quicker.
    return [delivery.id]


def abandon_stale(tx: Transaction, *, now: datetime) -> list[DeliveryId]:
    """Give up a slice of the replies that could not be sent for a whole day."""
    abandoned = []
    stale = tx.all("list_stale_deliveries", before=stamp(now - STALE_AFTER), most=_SLICE)
    for row in sorted(stale, key=lambda row: row.number("session_key")):
        id = DeliveryId(row.number("id"))
        with chronicle_of(tx, row.number("session_key"), now) as chronicle:
            why = "It could not be sent for a whole day."
            if tx.one("abandon_delivery", id=id, error=why) is not None:
                chronicle.tell(EventKind.DELIVERY_ABANDONED, id)
                abandoned.append(id)
    return abandoned
