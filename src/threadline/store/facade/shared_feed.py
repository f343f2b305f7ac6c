"""Shared feed: those of one process who stand at the same place of the feed read it together."""

import asyncio

from msgspec import Struct, field

from threadline.core.event import Cursor
from threadline.database.port import Database
from threadline.store.feed import FeedPage, read_feed


class _Look(Struct, frozen=True, kw_only=True):
    """A read that is under way."""

    rings: int
    """How often the database had rung when it began: all that was committed by then is in it."""
    page: asyncio.Future[FeedPage | None] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    """None: whoever looked could not go on, and everybody looks for themselves."""


class SharedFeed:
    """Reads the feed for all who follow it. A commit wakes them all, and one read is enough."""

    def __init__(self, database: Database) -> None:
        """Begin with nobody reading."""
        self._db = database
        self._looks: dict[Cursor, _Look] = {}

    async def page_after(self, cursor: Cursor, rings: int) -> FeedPage:
        """Read the events after a place, with everything that was committed `rings` rings ago."""
        while (look := self._looks.get(cursor)) is not None and look.rings >= rings:
            if (page := await asyncio.shield(look.page)) is not None:
                return page
        return await self._read(cursor, _Look(rings=rings))

    async def _read(self, cursor: Cursor, look: _Look) -> FeedPage:
        self._looks[cursor] = look
        page = None
        try:
            page = await self._db.read(read_feed, cursor)
            return page
        finally:
            if self._looks.get(cursor) is look:
                del self._looks[cursor]
            look.page.set_result(page)
