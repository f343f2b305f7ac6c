"""The feed: every event in order, from any place on, without a gap."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct

from threadline.core.delivery import DeliveryId, DeliveryState
from threadline.core.errors import Conflict, Invalid, LeaseLost, NotFound
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.session import SessionId
from threadline.core.turn import LEASE, OwnerId, TurnId, is_over
from threadline.core.validation import COUNT_LIMIT, checked_id
from threadline.database.port import Row, Transaction, expect
from threadline.database.timestamps import stamp

KEEP_EVENTS = timedelta(days=7)
PAGE = 500
_SLICE = 500


class FeedLost(Conflict):
    """The feed is no longer kept from this place on; load a snapshot again."""


class FeedPage(Struct, frozen=True, kw_only=True):
    """A stretch of the feed and the place after it."""

    events: Sequence[Event]
    cursor: Cursor
    is_behind: bool
    """Something was committed that may only be shown after older transactions have ended."""


def read_feed(tx: Transaction, after: Cursor, most: int = PAGE) -> FeedPage:
    """Read the events after a place in the feed."""
    xid, id = parse_cursor(after)
    floor, end = expect(tx, "read_feed_floor"), expect(tx, "read_feed_end")
    if (xid, id) < _pair(floor):
        raise FeedLost(id=after)
    if (xid, id) > _pair(end):
        # Another database made it, or a backup took the place of what it was made in.
        raise FeedLost("The feed has not come to this place", id=after, hint="Load a snapshot")
    rows = tx.all("read_feed", xid=xid, id=id, most=most)
    events = [_event_from(row) for row in rows]
    behind = end.number("behind") > 0
    return FeedPage(events=events, cursor=events[-1].cursor if events else after, is_behind=behind)


def feed_end(tx: Transaction) -> Cursor:
    """Answer the place at which the feed stands in this transaction."""
    return _cursor(expect(tx, "read_feed_end"))


def prune_feed(tx: Transaction) -> int:
    """Delete a slice of the events that are older than a week; answer how many."""
    rows = tx.all("list_old_events", before=stamp(tx.now - KEEP_EVENTS), most=_SLICE)
    if rows:
        tx.run_many("drop_event", [{"id": row.number("id")} for row in rows])
        last = rows[-1]
        tx.run("raise_feed_floor", xid=last.number("xid"), id=last.number("id"))
    return len(rows)


def _event_from(row: Row) -> Event:
    session_id = row.text_or_none("session_id")
    return Event(
        cursor=_cursor(row),
        kind=EventKind(row.text("kind")),
        session_id=None if session_id is None else SessionId(session_id),
        revision=row.number("revision"),
        subject=row.number_or_none("subject"),
        at=row.moment("at"),
    )


def _pair(row: Row) -> tuple[int, int]:
    return row.number("xid"), row.number("id")


def _cursor(row: Row) -> Cursor:
    return Cursor(f"{row.number('xid')}.{row.number('id')}")


def parse_cursor(cursor: Cursor) -> tuple[int, int]:
    """Read a cursor, so that places of one feed can be told apart: the greater one is later."""
    xid, dot, id = checked_id(cursor, "place in the feed").partition(".")
    if not dot or not (xid + id).isascii() or not xid.isdigit() or not id.isdigit():
        raise Invalid(f"{cursor[:40]!r} is no place in the feed", hint="Load a snapshot")
    if max(int(xid), int(id)) > COUNT_LIMIT:
        raise Invalid("There is no such place in the feed", hint="Load a snapshot")
    return int(xid), int(id)


class LostDelivery(Struct, frozen=True, kw_only=True):
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
    tx: Transaction, name: str, *, owner: OwnerId, dead: frozenset[OwnerId]
) -> Cursor | None:
    """Take over the telling of a follower; None: another process tells them.

    A new follower begins here and now: of what was before they are not told.
    """
    tx.run("enter_follower", name=checked_id(name, "name of a follower"), cursor=feed_end(tx))
    row = expect(tx, "read_follower", name=name)
    holder = row.text_or_none("owner")
    is_held = holder is not None and holder != owner and holder not in dead
    if is_held and not is_over(row.moment("lease_until"), LEASE, tx.now):
        return None
    until = stamp(tx.now + LEASE)
    taken = tx.one("take_follower", name=name, owner=owner, from_owner=holder, lease_until=until)
    return None if taken is None else Cursor(taken.text("cursor"))


def move_follower(tx: Transaction, name: str, cursor: Cursor, *, owner: OwnerId) -> None:
    """Write down how far a follower has been told, and keep the telling ours."""
    until = stamp(tx.now + LEASE)
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
