"""Feed: every change of the store, in one order that all processes see alike."""

from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager

from threadline.core.event import Cursor, Event
from threadline.database.port import Watch
from threadline.store import feed
from threadline.store.library.group import Group


class FeedGroup(Group):
    """Every change of the store, in one order that all processes see alike."""

    async def end(self) -> Cursor:
        """Return the place at which the feed ends now.

        >>> begin = await store.feed.end()
        """
        return await self._db.read(feed.feed_end)

    async def read(self, after: Cursor, most: int = feed.PAGE) -> feed.FeedPage:
        """Return a page of the feed after a place.

        >>> arrival = await store.receive(heard("When do we plant?"))
        >>> len((await store.feed.read(begin)).events) > 0
        True
        """
        return await self._db.read(feed.read_feed, after, most)

    async def follow(self, after: Cursor | None = None) -> AsyncGenerator[Event, None]:
        """Follow the feed from a place on, or from now; it never skips an event and never ends.

        >>> async for event in store.feed.follow(begin):
        ...     if event.session_id == arrival.session_id:
        ...         break
        """
        async for event in feed.follow(self._db, after):
            yield event

    def watch(self) -> AbstractContextManager[Watch]:
        """Notice commits of this process and of others.

        What is committed between two waits ends the next one at once, and so does the first.

        >>> with store.feed.watch() as watch:
        ...     assert await watch.wait()
        """
        return self._db.watch()
