"""Live reply: an answer that is a delivery from its first byte, and grows while its turn runs."""

from msgspec import Struct

from threadline.core.delivery import Delivery, DeliveryId, DeliveryState
from threadline.core.errors import Conflict, LeaseLost
from threadline.core.event import EventKind
from threadline.core.turn import Lease, OwnerId
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.deliveries.create import LastPart, add_delivery, next_part
from threadline.store.deliveries.payload import DeliveryPayload, read_parcel
from threadline.store.session_writer import SessionWriter, write_session
from threadline.store.turns.output import prove


class _StreamPlace(Struct, frozen=True, kw_only=True):
    """Where a turn may stream its answer, and how much is owed there from before."""

    address_key: int
    before: int


def open_stream(tx: Transaction, lease: Lease, *, owner: OwnerId) -> DeliveryPayload | None:
    """Make the delivery of a running turn before anything of it is shown; None: it goes elsewhere.

    The lease of the turn guards it. One that was cut off goes on in the same delivery, and with
    the same messages on the platform. As long as something is owed there from before, nothing
    may be shown (`Conflict`).
    """
    with write_session(tx, lease.session_id) as writer:
        prove(writer, lease)
        place = tx.one("read_stream_place", _StreamPlace, turn_id=lease.turn_id)
        if place is None:
            return None
        if place.before:
            raise Conflict("Something else has to be said there first", id=str(lease.turn_id))
        return read_parcel(tx, _open(writer, lease, place.address_key, owner))


def _open(writer: SessionWriter, lease: Lease, address_key: int, owner: OwnerId) -> int:
    tx, turn_id = writer.tx, lease.turn_id
    last = tx.one("read_last_part", LastPart, turn_id=turn_id, address_key=address_key)
    if last is not None and last.until_seq is None:
        tx.exists("reopen_stream", id=last.id, streamed_by=owner, now=writer.at)
        return last.id
    part, after_seq = next_part(tx, turn_id, address_key)
    id = add_delivery(
        writer,
        turn_id,
        address_key,
        state=DeliveryState.SENDING,
        part=part,
        after_seq=after_seq,
        until_seq=None,
        streamed_by=owner,
    )
    writer.tell(EventKind.DELIVERY_SENDING, id)
    return id


def doubt_stream(tx: Transaction, delivery: Delivery) -> None:
    """Record that the platform did not say whether it took a message of a growing answer."""
    if not tx.exists("doubt_stream", id=delivery.id, fence=delivery.fence, now=stamp(tx.now)):
        raise LeaseLost("This answer no longer grows here", id=str(delivery.id))


def is_kept(tx: Transaction, id: DeliveryId, *, owner: OwnerId) -> bool:
    """Return whether an answer is kept for the process that streamed it, or carried by it."""
    return tx.exists("find_kept", id=id, owner=owner, now=stamp(tx.now))
