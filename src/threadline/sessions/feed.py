"""The feed: every event in order, from any place on, without a gap."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from threadline.core.errors import Conflict, Invalid
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.session import SessionId
from threadline.core.text import COUNT_LIMIT, checked_id
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

KEEP_EVENTS = timedelta(days=7)
PAGE = 500
_SLICE = 500


class FeedLost(Conflict):
    """The feed is no longer kept from this place on; load a snapshot again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPage:
    """A stretch of the feed and the place after it."""

    events: Sequence[Event]
    cursor: Cursor
    is_behind: bool
    """Something was committed that may only be shown after older transactions have ended."""


def read_feed(tx: Transaction, after: Cursor, most: int = PAGE) -> FeedPage:
    """Read the events after a place in the feed."""
    xid, id = place_of(after)
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


def prune_feed(tx: Transaction, *, now: datetime) -> int:
    """Delete a slice of the events that are older than a week; answer how many."""
    rows = tx.all("list_old_events", before=stamp(now - KEEP_EVENTS), most=_SLICE)
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


def place_of(cursor: Cursor) -> tuple[int, int]:
    """Read a cursor, so that places of one feed can be told apart: the greater one is later."""
    xid, dot, id = checked_id(cursor, "place in the feed").partition(".")
    if not dot or not (xid + id).isascii() or not xid.isdigit() or not id.isdigit():
        raise Invalid(f"{cursor[:40]!r} is no place in the feed", hint="Load a snapshot")
    if max(int(xid), int(id)) > COUNT_LIMIT:
        raise Invalid("There is no such place in the feed", hint="Load a snapshot")
    return int(xid), int(id)
