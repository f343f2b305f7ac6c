"""Followers: who is told of everything, how far they have come, and which process tells them."""

from dataclasses import dataclass
from datetime import datetime

from threadline.core.delivery import DeliveryId, DeliveryState
from threadline.core.errors import LeaseLost, NotFound
from threadline.core.event import Cursor
from threadline.core.session import SessionId
from threadline.core.text import checked_id
from threadline.core.turn import LEASE, OwnerId, TurnId, is_over
from threadline.sessions.feed import feed_end
from threadline.storage.database import Transaction, expect
from threadline.storage.moments import stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class LostDelivery:
    """A delivery that never arrived."""

    id: DeliveryId
    session_id: SessionId | None
    turn_id: TurnId | None
    platform: str
    state: DeliveryState
    attempts: int
    owed_at: datetime
    error: str | None


def holder_of(tx: Transaction, name: str) -> OwnerId | None:
    """Tell which process tells a follower; None: nobody does."""
    row = tx.one("read_follower", name=name)
    owner = None if row is None else row.text_or_none("owner")
    return None if owner is None else OwnerId(owner)


def begin_following(
    tx: Transaction, name: str, *, owner: OwnerId, dead: frozenset[OwnerId], now: datetime
) -> Cursor | None:
    """Take over the telling of a follower; None: another process tells them.

    A new follower begins here and now: of what was before they are not told.
    """
    tx.run("enter_follower", name=checked_id(name, "name of a follower"), cursor=feed_end(tx))
    row = expect(tx, "read_follower", name=name)
    holder = row.text_or_none("owner")
    is_held = holder is not None and holder != owner and holder not in dead
    if is_held and not is_over(row.moment("lease_until"), LEASE, now):
        return None
    until = stamp(now + LEASE)
    taken = tx.one("take_follower", name=name, owner=owner, from_owner=holder, lease_until=until)
    return None if taken is None else Cursor(taken.text("cursor"))


def move_follower(
    tx: Transaction, name: str, cursor: Cursor, *, owner: OwnerId, now: datetime
) -> None:
    """Write down how far a follower has been told, and keep the telling ours."""
    until = stamp(now + LEASE)
    if tx.one("move_follower", name=name, cursor=cursor, owner=owner, lease_until=until) is None:
        raise LeaseLost("Another process tells this follower", id=name)


def stop_following(tx: Transaction, name: str, cursor: Cursor | None, *, owner: OwnerId) -> None:
    """Let another process go on with the telling at once, from a place or from where it was."""
    tx.run("free_follower", name=name, cursor=cursor, owner=owner)


def lost_delivery(tx: Transaction, id: DeliveryId) -> LostDelivery:
    """Read what a follower is told of a delivery that never arrived."""
    row = tx.one("read_lost_delivery", id=id)
    if row is None:
        raise NotFound("There is no such delivery", id=str(id))
    session_id, turn_id = row.text_or_none("session_id"), row.number_or_none("turn_id")
    return LostDelivery(
        id=id,
        session_id=None if session_id is None else SessionId(session_id),
        turn_id=None if turn_id is None else TurnId(turn_id),
        platform=row.text("platform"),
        state=DeliveryState(row.text("state")),
        attempts=row.number("attempts"),
        owed_at=row.moment("owed_at"),
        error=row.text_or_none("error"),
    )
