"""Lease: a sender takes what is due under a lease, keeps the lease, or gives it back."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from threadline.core.delivery import Delivery, DeliveryId
from threadline.core.event import EventKind
from threadline.core.turn import CLOCK_SLACK, OwnerId
from threadline.database.port import Row, SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.deliveries.payload import DeliveryPayload, in_lock_order, read_parcel, telling


def lease_deliveries(
    tx: Transaction, platforms: Collection[str] | None = None, *, owner: OwnerId, most: int
) -> list[DeliveryPayload]:
    """Take deliveries that are due, at most one of each address, so that order is kept."""
    parcels = []
    due = tx.all(
        "list_due",
        owner=owner,
        now=stamp(tx.now),
        latest=_latest(tx.now),
        most=most,
        platforms=_listed(platforms),
    )
    for row in in_lock_order(due):
        id = row.number("id")
        with telling(tx, row.number_or_none("session_key")) as tell:
            taken = tx.one(
                "take_delivery",
                id=id,
                owner=owner,
                lease_until=stamp(tx.now + tx.settings.lease),
                now=stamp(tx.now),
                latest=_latest(tx.now),
            )
            if taken is not None:
                tell(EventKind.DELIVERY_SENDING, id)
                parcels.append(read_parcel(tx, id))
    return parcels


def next_due(
    tx: Transaction, platforms: Collection[str] | None = None, *, owner: OwnerId
) -> datetime | None:
    """Return when the next delivery that can be taken is or was due; None: there is none."""
    row = expect(
        tx,
        "find_next_due",
        owner=owner,
        now=stamp(tx.now),
        latest=_latest(tx.now),
        platforms=_listed(platforms),
    )
    return row.moment_or_none("due_at")


def return_deliveries(tx: Transaction, deliveries: Sequence[Delivery]) -> None:
    """Owe deliveries again as if they had never been taken."""
    fences = {delivery.id: delivery.fence for delivery in deliveries}
    for row in _in_lock_order(tx, fences):
        id = DeliveryId(row.number("id"))
        with telling(tx, row.number_or_none("session_key")) as tell:
            if tx.one("give_back_delivery", id=id, fence=fences[id]) is not None:
                tell(EventKind.DELIVERY_PENDING, id)


def renew_deliveries(tx: Transaction, deliveries: Sequence[Delivery]) -> frozenset[DeliveryId]:
    """Prolong the leases of what is being sent; answer those that are lost."""
    until = stamp(tx.now + tx.settings.lease)
    fences = {delivery.id: delivery.fence for delivery in deliveries}
    lost = set(fences)
    for row in _in_lock_order(tx, fences):
        id = DeliveryId(row.number("id"))
        if tx.one("renew_delivery", id=id, fence=fences[id], lease_until=until) is not None:
            lost.discard(id)
    return frozenset(lost)


def _in_lock_order(tx: Transaction, ids: Iterable[DeliveryId]) -> list[Row]:
    return in_lock_order([row for id in ids if (row := tx.one("read_delivery", id=id)) is not None])


def _latest(now: datetime) -> int:
    """Return the latest time that can have been stored, unless the clock was set back since."""
    return stamp(now + CLOCK_SLACK)


def _listed(platforms: Collection[str] | None) -> SqlValue:
    return None if platforms is None else json.dumps(sorted(platforms))
