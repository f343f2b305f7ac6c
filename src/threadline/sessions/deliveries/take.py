"""Taking: a sender takes what is due under a lease, keeps the lease, or gives it back."""

import json
from collections.abc import Collection, Sequence
from datetime import datetime

from threadline.core.delivery import STALE_AFTER, Delivery, DeliveryId
from threadline.core.event import EventKind
from threadline.core.rules import Rules
from threadline.core.turn import OwnerId
from threadline.sessions.deliveries.parcel import Parcel, in_lock_order, read_parcel, telling
from threadline.storage.database import SqlValue, Transaction, expect
from threadline.storage.moments import stamp


def take_deliveries(
    tx: Transaction,
    platforms: Collection[str] | None = None,
    *,
    owner: OwnerId,
    rules: Rules,
    now: datetime,
    most: int,
) -> list[Parcel]:
    """Take deliveries that are due, at most one of each address, so that order is kept."""
    parcels = []
    due = tx.all(
        "list_due",
        now=stamp(now),
        owed_since=stamp(now - STALE_AFTER),
        most=most,
        platforms=_listed(platforms),
    )
    for row in in_lock_order(due):
        id = row.number("id")
        with telling(tx, row.number_or_none("session_key"), now) as tell:
            taken = tx.one(
                "take_delivery",
                id=id,
                owner=owner,
                lease_until=stamp(now + rules.lease),
                now=stamp(now),
            )
            if taken is not None:
                tell(EventKind.DELIVERY_SENDING, id)
                parcels.append(read_parcel(tx, id))
    return parcels


def next_due(
    tx: Transaction, platforms: Collection[str] | None = None, *, now: datetime
) -> datetime | None:
    """Tell when the next delivery is due that is not yet; None: there is none."""
    row = expect(tx, "find_next_due", now=stamp(now), platforms=_listed(platforms))
    return row.moment_or_none("due_at")


def give_back(tx: Transaction, deliveries: Sequence[Delivery], *, now: datetime) -> None:
    """Owe deliveries again as if they had never been taken."""
    fences = {delivery.id: delivery.fence for delivery in deliveries}
    rows = [row for id in fences if (row := tx.one("read_delivery", id=id)) is not None]
    for row in in_lock_order(rows):
        id = DeliveryId(row.number("id"))
        with telling(tx, row.number_or_none("session_key"), now) as tell:
            if tx.one("give_back_delivery", id=id, fence=fences[id]) is not None:
                tell(EventKind.DELIVERY_PENDING, id)


def renew(
    tx: Transaction, deliveries: Sequence[Delivery], *, rules: Rules, now: datetime
) -> frozenset[DeliveryId]:
    """Prolong the leases of what is being sent; answer those that are lost."""
    until = stamp(now + rules.lease)
    return frozenset(
        delivery.id
        for delivery in deliveries
        if tx.one("renew_delivery", id=delivery.id, fence=delivery.fence, lease_until=until) is None
    )


def _listed(platforms: Collection[str] | None) -> SqlValue:
    return None if platforms is None else json.dumps(sorted(platforms))
