"""Streaming: an answer that is a delivery from its first byte, and grows while its turn runs."""

from datetime import datetime

from threadline.core.delivery import Delivery, DeliveryState
from threadline.core.errors import Conflict, LeaseLost
from threadline.core.event import EventKind
from threadline.core.rules import Rules
from threadline.core.turn import Lease, OwnerId
from threadline.sessions.chronicle import Chronicle, open_chronicle
from threadline.sessions.deliveries.owe import add_delivery, next_part
from threadline.sessions.deliveries.parcel import Parcel, read_parcel
from threadline.sessions.turns.output import prove
from threadline.storage.database import Transaction
from threadline.storage.moments import stamp


def open_stream(
    tx: Transaction, lease: Lease, *, owner: OwnerId, rules: Rules, now: datetime
) -> Parcel | None:
    """Make the delivery of a running turn before anything of it is shown; None: it goes elsewhere.

    The lease of the turn guards it. One that was cut off goes on in the same delivery, and with
    the same messages on the platform. As long as something is owed there from before, nothing
    may be shown (`Conflict`).
    """
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        prove(chronicle, lease, rules)
        place = tx.one("read_stream_place", turn_id=lease.turn_id)
        if place is None:
            return None
        if place.number("before"):
            raise Conflict("Something else has to be said there first", id=str(lease.turn_id))
        return read_parcel(tx, _open(chronicle, lease, place.number("address_key"), owner))


def _open(chronicle: Chronicle, lease: Lease, address_key: int, owner: OwnerId) -> int:
    tx, turn_id = chronicle.tx, lease.turn_id
    last = tx.one("read_last_part", turn_id=turn_id, address_key=address_key)
    if last is not None and last["until_seq"] is None:
        tx.one("reopen_stream", id=last.number("id"), streamed_by=owner, now=chronicle.at)
        return last.number("id")
    part, after_seq = next_part(tx, turn_id, address_key)
    id = add_delivery(
        chronicle,
        turn_id,
        address_key,
        state=DeliveryState.SENDING,
        part=part,
        after_seq=after_seq,
        until_seq=None,
        streamed_by=owner,
    )
    chronicle.tell(EventKind.DELIVERY_SENDING, id)
    return id


def doubt_stream(tx: Transaction, delivery: Delivery, *, now: datetime) -> None:
    """Record that the platform did not say whether it took a message of a growing answer."""
    if tx.one("doubt_stream", id=delivery.id, fence=delivery.fence, now=stamp(now)) is None:
        raise LeaseLost("This answer no longer grows here", id=str(delivery.id))
