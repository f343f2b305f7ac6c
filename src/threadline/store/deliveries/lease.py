"""Lease: a sender takes what is due under a lease, keeps the lease, or gives it back."""

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from threadline.core.delivery import Delivery, DeliveryId
from threadline.core.event import EventKind
from threadline.core.turn import CLOCK_SLACK, OwnerId
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.deliveries.payload import (
    DeliveryPayload,
    OwedDelivery,
    in_lock_order,
    read_parcel,
    telling,
)


def lease_deliveries(
    tx: Transaction, platforms: Collection[str] | None = None, *, owner: OwnerId, most: int
) -> list[DeliveryPayload]:
    """Take deliveries that are due, at most one of each address, so that order is kept."""
    parcels = []
    due = tx.all(
        "list_due",
        OwedDelivery,
        owner=owner,
        now=stamp(tx.now),
        latest=_latest(tx.now),
        most=most,
        platforms=_listed(platforms),
    )
    for owed in in_lock_order(due):
        with telling(tx, owed.session_key) as tell:
            is_taken = tx.exists(
                "take_delivery",
                id=owed.id,
                owner=owner,
                lease_until=stamp(tx.now + tx.settings.lease),
                now=stamp(tx.now),
                latest=_latest(tx.now),
            )
            if is_taken:
                tell(EventKind.DELIVERY_SENDING, owed.id)
                parcels.append(read_parcel(tx, owed.id))
    return parcels


def next_due(
    tx: Transaction, platforms: Collection[str] | None = None, *, owner: OwnerId
) -> datetime | None:
    """Return when the next delivery that can be taken is or was due; None: there is none."""
    return tx.one(
        "find_next_due",
        datetime,
        owner=owner,
        now=stamp(tx.now),
        latest=_latest(tx.now),
        platforms=_listed(platforms),
    )


def return_deliveries(tx: Transaction, deliveries: Sequence[Delivery]) -> None:
    """Owe deliveries again as if they had never been taken."""
    fences = {delivery.id: delivery.fence for delivery in deliveries}
    for owed in _in_lock_order(tx, fences):
        with telling(tx, owed.session_key) as tell:
            if tx.exists("give_back_delivery", id=owed.id, fence=fences[owed.id]):
                tell(EventKind.DELIVERY_PENDING, owed.id)


def renew_deliveries(tx: Transaction, deliveries: Sequence[Delivery]) -> frozenset[DeliveryId]:
    """Prolong the leases of what is being sent; answer those that are lost."""
    until = stamp(tx.now + tx.settings.lease)
    fences = {delivery.id: delivery.fence for delivery in deliveries}
    lost = set(fences)
    for owed in _in_lock_order(tx, fences):
        if tx.exists("renew_delivery", id=owed.id, fence=fences[owed.id], lease_until=until):
            lost.discard(owed.id)
    return frozenset(lost)


def _in_lock_order(tx: Transaction, ids: Iterable[DeliveryId]) -> list[OwedDelivery]:
    found = (tx.one("find_delivery", OwedDelivery, id=id) for id in ids)
    return in_lock_order([owed for owed in found if owed is not None])


def _latest(now: datetime) -> int:
    """Return the latest time that can have been stored, unless the clock was set back since."""
    return stamp(now + CLOCK_SLACK)


def _listed(platforms: Collection[str] | None) -> str | None:
    return None if platforms is None else json.dumps(sorted(platforms))
