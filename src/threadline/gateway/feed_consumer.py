"""Feed consumer: reads every event of the feed, also after the database was away."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from threadline.core.errors import StorageError
from threadline.core.event import Cursor, Event
from threadline.database.port import Database
from threadline.gateway.intervals import NO_STORAGE
from threadline.gateway.running_turn import end_iterator
from threadline.store.feed import FeedLost, follow

log = logging.getLogger("threadline.gateway")


async def follow_feed(
    database: Database,
    cursor: Cursor | None,
    notice: Callable[[Event], Awaitable[None]],
    on_gap: Callable[[], None],
) -> None:
    """Hand on every event from a place on, until cancelled; `on_gap` hears of missed ones."""
    while True:
        events = follow(database, cursor)
        try:
            async for event in events:
                await notice(event)
                cursor = event.cursor
        except FeedLost:
            # From now on, then; what was missed meanwhile is found by the beats.
            cursor = None
            on_gap()
        except StorageError as error:
            log.warning("The feed cannot be read: %s", error)
            await asyncio.sleep(NO_STORAGE.total_seconds())
        finally:
            await end_iterator(events)
