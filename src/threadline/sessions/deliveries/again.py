"""Again: what never arrived is owed once more, because somebody wants it to be."""

from datetime import datetime

from threadline.core.delivery import Delivery, DeliveryId
from threadline.core.errors import Conflict
from threadline.core.event import EventKind
from threadline.sessions.deliveries.parcel import read_parcel, require_delivery, telling
from threadline.sessions.records import delivery_from
from threadline.storage.database import Transaction
from threadline.storage.moments import stamp


def owe_again(tx: Transaction, id: DeliveryId, *, now: datetime) -> Delivery:
    """Owe something once more that was given up; what its platform has taken is not sent again.

    Words that stand in no transcript are forgotten when they are given up: they are gone.
    """
    row = require_delivery(tx, id)
    with telling(tx, row.number_or_none("session_key"), now) as tell:
        if tx.one("owe_again", id=id, now=stamp(now)) is None:
            raise Conflict("This was not lost", id=str(id), hint="It was sent, or still will be")
        parcel = read_parcel(tx, id)
        if not parcel.text and not parcel.attachments:
            raise Conflict("Its text was not kept", id=str(id), hint="Write it again")
        tell(EventKind.DELIVERY_PENDING, id)
    return parcel.delivery


def read_delivery(tx: Transaction, id: DeliveryId) -> Delivery:
    """Read how far a delivery got."""
    return delivery_from(require_delivery(tx, id))
