"""Album buffer: the parts of an album come in calls of their own, and are taken in together."""

import asyncio
import logging
from dataclasses import dataclass, field
from datetime import timedelta

from threadline.core.errors import StorageError, ThreadlineError
from threadline.platforms.telegram.update_processor import UpdateProcessor
from threadline.platforms.telegram.updates import ButtonPress, IgnoredUpdate, IncomingMessage

log = logging.getLogger("threadline.platforms.telegram")


@dataclass(slots=True)
class _AlbumParts:
    """The parts of one album that have come so far."""

    parts: list[IncomingMessage] = field(default_factory=list)
    taking: asyncio.Task[None] | None = None


class AlbumBuffer:
    """Takes in what is called in; each caller hears of it when its part is on disk.

    A server that brings the parts of an album at once is answered for all of them together. One
    that waits for each answer gets it after a short quiet: then the next parts change the message
    that the first one became.
    """

    def __init__(self, intake: UpdateProcessor, quiet: timedelta) -> None:
        """Take in through an intake."""
        self._intake = intake
        self._quiet = quiet.total_seconds()
        self._heaps: dict[tuple[int, str], _AlbumParts] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def take(self, raw: object) -> None:
        """Take in one update; when this returns it is on disk."""
        news = self._intake.read(raw)
        if isinstance(news, IgnoredUpdate | ButtonPress) or news.album is None:
            await self._intake.take([news])
        else:
            await self._wait(self._add(news.album, news))

    def close(self) -> None:
        """Let go of what is not taken in yet: it is brought again."""
        for task in self._tasks:
            task.cancel()

    def _add(self, album: str, part: IncomingMessage) -> asyncio.Task[None]:
        heap = self._heaps.setdefault((part.chat, album), _AlbumParts())
        heap.parts.append(part)
        if heap.taking is None:
            heap.taking = asyncio.create_task(self._take((part.chat, album)), name="album")
            self._tasks.add(heap.taking)
            heap.taking.add_done_callback(self._take_end)
        return heap.taking

    def _take_end(self, taking: asyncio.Task[None]) -> None:
        self._tasks.discard(taking)
        error = None if taking.cancelled() else taking.exception()
        if error is not None and not isinstance(error, ThreadlineError):
            # Whoever waited for it may have gone away.
            log.error("An album was not taken in", exc_info=error)

    async def _take(self, key: tuple[int, str]) -> None:
        count = 0
        while count != len(self._heaps[key].parts):
            count = len(self._heaps[key].parts)
            await asyncio.sleep(self._quiet)
        await self._intake.take(self._heaps.pop(key).parts)

    async def _wait(self, taking: asyncio.Task[None]) -> None:
        """Wait for an album that others wait for too: who goes away does not end it."""
        await asyncio.wait({taking})
        if taking.cancelled():
            raise StorageError("The gateway is about to stop", hint="Bring it again in a moment")
        taking.result()
