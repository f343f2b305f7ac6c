"""Recovery: what dead senders held, what is owed for too long, and what nobody needs."""

from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.address import Address
from threadline.core.delivery import KEEP_WORDS_OWED, STALE_AFTER, DeliveryId
from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.turn import CLOCK_SLACK, OwnerId, is_over
from threadline.core.validation import COUNT_LIMIT
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.clock import TRUSTED_AFTER, steady_for
from threadline.store.deliveries.payload import (
    OwedDelivery,
    in_lock_order,
    require_delivery,
    telling,
)
from threadline.store.deliveries.results import record_interruption

_SLICE = 50
_STOPPED = "The program stopped while this was being sent."


class _Sending(OwedDelivery, frozen=True, kw_only=True):
    """A delivery that a process is sending."""

    fence: int
    owner: OwnerId
    lease_until: datetime


class _HeldBack(OwedDelivery, frozen=True, kw_only=True):
    """A delivery that is kept for the process that streamed it."""

    streamed_by: OwnerId


def recover_deliveries(
    tx: Transaction, *, dead: frozenset[OwnerId], sending: frozenset[DeliveryId]
) -> list[DeliveryId]:
    """Take back what stopped processes were sending: it may have been seen, or not.

    What is in `sending` is sent by this process, which can tell better than a clock that was set.
    """
    reclaimed: list[DeliveryId] = []
    for held in in_lock_order(tx.all("list_sending", _Sending)):
        is_expired = held.id not in sending and is_over(held.lease_until, tx.settings.lease, tx.now)
        if held.owner in dead or is_expired:
            reclaimed += _reclaim(tx, held)
    _release(tx, dead)
    return reclaimed


def _reclaim(tx: Transaction, held: _Sending) -> list[DeliveryId]:
    delivery = replace(require_delivery(tx, held.id).delivery, fence=held.fence)
    try:
        record_interruption(tx, delivery, _STOPPED)
    except LeaseLost:
        return []  # Another process was quicker.
    return [delivery.id]


def _release(tx: Transaction, dead: frozenset[OwnerId]) -> None:
    """Let anybody carry what dead processes had streamed, and would have carried on."""
    for held in in_lock_order(tx.all("list_held_back", _HeldBack)):
        if held.streamed_by in dead:
            with telling(tx, held.session_key) as tell:
                if tx.exists("release_delivery", id=held.id, now=stamp(tx.now)):
                    tell(EventKind.DELIVERY_PENDING, held.id)


def abandon_stale(tx: Transaction) -> list[DeliveryId]:
    """Give up a slice of the replies that could not be sent for a day.

    After a jump of the clock or a downtime all of them are tried again first.
    """
    if steady_for(tx) < TRUSTED_AFTER:
        return []
    abandoned = []
    before, latest = stamp(tx.now - STALE_AFTER), stamp(tx.now + CLOCK_SLACK)
    stale = tx.all("list_stale_deliveries", OwedDelivery, before=before, latest=latest, most=_SLICE)
    for owed in in_lock_order(stale):
        with telling(tx, owed.session_key) as tell:
            why = "It could not be sent for a whole day."
            if tx.exists("abandon_delivery", id=owed.id, error=why):
                tell(EventKind.DELIVERY_ABANDONED, owed.id)
                abandoned.append(owed.id)
    return abandoned


class DeadTarget(Struct, frozen=True, kw_only=True):
    """A place to which nothing can be sent, until something can again."""

    key: int
    """By which it is told from others that became so at the same moment."""
    address: Address
    dead_at: datetime
    why: str | None


def dead_targets(
    tx: Transaction, *, before: tuple[datetime, int] | None, most: int
) -> list[DeadTarget]:
    """List the places to which nothing can be sent, the latest first."""
    at, key = (COUNT_LIMIT, 0) if before is None else (stamp(before[0]), before[1])
    return tx.all("list_dead_addresses", DeadTarget, before_at=at, before_key=key, most=most)


def clear_words(tx: Transaction) -> int:
    """Delete a slice of what belonged to no turn and was sent long ago; answer how many."""
    before = stamp(tx.now - KEEP_WORDS_OWED)
    old = tx.all("list_old_words", DeliveryId, before=before, most=_SLICE)
    for id in old:
        delete_delivery(tx, id)
    return len(old)


def delete_delivery(tx: Transaction, id: int) -> None:
    """Delete a delivery with all that is known of it."""
    tx.run("drop_pieces", id=id)
    tx.run("drop_delivery", id=id)
