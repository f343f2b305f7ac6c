"""The feed: every event in order, from any place on, without a gap."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct, field

from threadline.core.delivery import DeliveryId, DeliveryState
from threadline.core.errors import Conflict, Invalid, LeaseLost, NotFound
from threadline.core.event import Cursor, Event
from threadline.core.session import SessionId
from threadline.core.turn import LEASE, OwnerId, TurnId, is_over
from threadline.core.validation import COUNT_LIMIT, checked_id
from threadline.database.port import Database, Transaction, expect
from threadline.database.timestamps import stamp

KEEP_EVENTS = timedelta(days=7)
_READ_AGAIN = timedelta(milliseconds=20)
"""After a page that ends below a running transaction."""
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


class _FeedPlace(Struct, frozen=True, kw_only=True):
    """A place in the feed."""

    xid: int
    """The transaction that wrote the event; 0 on SQLite, which has one writer only."""
    id: int


class _FeedEnd(_FeedPlace, frozen=True, kw_only=True):
    """The end of the feed."""

    behind: int
    """1 if events are committed that may only be shown later."""


class _Follower(Struct, frozen=True, kw_only=True):
    """Which process tells a follower, and until when."""

    owner: OwnerId | None
    lease_until: datetime | None


def read_feed(tx: Transaction, after: Cursor, most: int = PAGE) -> FeedPage:
    """Read the events after a place in the feed."""
    xid, id = parse_cursor(after)
    floor = expect(tx, "read_feed_floor", _FeedPlace)
    end = expect(tx, "read_feed_end", _FeedEnd)
    if (xid, id) < (floor.xid, floor.id):
        raise FeedLost(id=after)
    if (xid, id) > (end.xid, end.id):
        # Another database made it, or a backup took the place of what it was made in.
        raise FeedLost("The feed has not come to this place", id=after, hint="Load a snapshot")
    events = tx.all("read_feed", Event, xid=xid, id=id, most=most)
    return FeedPage(
        events=events,
        cursor=events[-1].cursor if events else after,
        is_behind=end.behind > 0,
    )


def feed_end(tx: Transaction) -> Cursor:
    """Answer the place at which the feed stands in this transaction."""
    end = expect(tx, "read_feed_end", _FeedEnd)
    return Cursor(f"{end.xid}.{end.id}")


def prune_feed(tx: Transaction) -> int:
    """Delete a slice of the events that are older than a week; answer how many."""
    old = tx.all("list_old_events", _FeedPlace, before=stamp(tx.now - KEEP_EVENTS), most=_SLICE)
    if old:
        tx.run_many("drop_event", [{"id": place.id} for place in old])
        tx.run("raise_feed_floor", xid=old[-1].xid, id=old[-1].id)
    return len(old)


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
    follower = tx.one("read_follower", _Follower, name=name)
    return None if follower is None else follower.owner


def begin_following(
    tx: Transaction, name: str, *, owner: OwnerId, dead: frozenset[OwnerId]
) -> Cursor | None:
    """Take over the telling of a follower; None: another process tells them.

    A new follower begins here and now: of what was before they are not told.
    """
    tx.run("enter_follower", name=checked_id(name, "name of a follower"), cursor=feed_end(tx))
    follower = expect(tx, "read_follower", _Follower, name=name)
    holder = follower.owner
    is_held = holder is not None and holder != owner and holder not in dead
    if is_held and follower.lease_until and not is_over(follower.lease_until, LEASE, tx.now):
        return None
    until = stamp(tx.now + LEASE)
    return tx.one(
        "take_follower", Cursor, name=name, owner=owner, from_owner=holder, lease_until=until
    )


def move_follower(tx: Transaction, name: str, cursor: Cursor, *, owner: OwnerId) -> None:
    """Write down how far a follower has been told, and keep the telling ours."""
    until = stamp(tx.now + LEASE)
    if not tx.exists("move_follower", name=name, cursor=cursor, owner=owner, lease_until=until):
        raise LeaseLost("Another process tells this follower", id=name)


def stop_following(tx: Transaction, name: str, cursor: Cursor | None, *, owner: OwnerId) -> None:
    """Let another process go on with the telling at once, from a place or from where it was."""
    tx.run("free_follower", name=name, cursor=cursor, owner=owner)


def lost_delivery(tx: Transaction, id: DeliveryId) -> LostDelivery:
    """Read what a follower is told of a delivery that never arrived."""
    lost = tx.one("read_lost_delivery", LostDelivery, id=id)
    if lost is None:
        raise NotFound("There is no such delivery", id=str(id))
    return lost


async def follow(db: Database, after: Cursor | None = None) -> AsyncGenerator[Event, None]:
    """Follow the feed from a place on, or from now; it never skips an event and never ends."""
    cursor = await db.read(feed_end) if after is None else after
    reads = db.environment.state(SharedReads)
    with db.watch() as watch:
        is_behind = False
        while True:
            await watch.wait(_READ_AGAIN if is_behind else None)
            is_full = True
            # After a page that is not full nothing is left; what comes since rings again.
            while is_full:
                page = await reads.page_after(db, cursor, watch.rings)
                for event in page.events:
                    yield event
                cursor, is_behind = page.cursor, page.is_behind
                is_full = len(page.events) == PAGE


class _FeedRead(Struct, frozen=True, kw_only=True):
    """A read that is under way."""

    rings: int
    """How often the database had rung when it began: all that was committed by then is in it."""
    page: asyncio.Future[FeedPage | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """None: the read failed, and each follower reads for itself."""


class SharedReads:
    """The reads of the feed that are under way in this process.

    A commit wakes all followers, and those at the same place share one read.
    """

    def __init__(self) -> None:
        """Begin without any read."""
        self._reads: dict[Cursor, _FeedRead] = {}

    async def page_after(self, db: Database, cursor: Cursor, rings: int) -> FeedPage:
        """Read the events after a place, with everything that was committed `rings` rings ago."""
        while (read := self._reads.get(cursor)) is not None and read.rings >= rings:
            if (page := await asyncio.shield(read.page)) is not None:
                return page
        return await self._read(db, cursor, _FeedRead(rings=rings))

    async def _read(self, db: Database, cursor: Cursor, read: _FeedRead) -> FeedPage:
        self._reads[cursor] = read
        page = None
        try:
            page = await db.read(read_feed, cursor)
            return page
        finally:
            if self._reads.get(cursor) is read:
                del self._reads[cursor]
            read.page.set_result(page)


async def claim_follower(db: Database, name: str) -> Cursor | None:
    """Take over a follower from where it stands; None if another process has it.

    A new follower begins at the end of the feed. It belongs to this process while `move_follower`
    is called more often than once a minute, and until `stop_following`.
    """
    holder = await db.read(holder_of, checked_id(name, "name of a follower"))
    asked = frozenset() if holder is None else frozenset({holder})
    dead = await db.dead(asked - {db.owner})
    return await db.write(begin_following, name, owner=db.owner, dead=dead)


async def prune_whole_feed(db: Database) -> int:
    """Delete the events that are older than a week; return how many."""
    pruned = 0
    while count := await db.write(prune_feed):
        pruned += count
    return pruned
