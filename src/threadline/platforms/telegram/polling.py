"""Polling: news are asked for, and confirmed when everything before them is on disk."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from aiogram import Bot

from threadline.core.errors import PlatformError
from threadline.platforms.telegram.aiogram_session import GetRawUpdates
from threadline.platforms.telegram.albums import MOST_PARTS, count_settled, has_album
from threadline.platforms.telegram.errors import Flooded, to_platform_error
from threadline.platforms.telegram.update_processor import UpdateProcessor, by_chat
from threadline.platforms.telegram.updates import WANTED, id_of

log = logging.getLogger("threadline.platforms.telegram")

BATCH = 100
"""How many updates are read at once."""
LONG_SECONDS = 30
"""How long Telegram keeps us waiting when there is no news."""
LONGEST_PAUSE = timedelta(minutes=1)


class Poller:
    """Asks for updates until it is cancelled; what goes wrong it raises, and nothing is lost.

    An update is confirmed by asking for a later one, and that is done only when the gate has taken
    it. It begins without an offset: Telegram keeps by itself what was not confirmed.
    """

    def __init__(
        self,
        bot: Bot,
        intake: UpdateProcessor,
        *,
        quiet: timedelta,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Bring to an intake what a bot is told; an album is whole after so long a quiet."""
        self._bot = bot
        self._intake = intake
        self._quiet = quiet.total_seconds()
        self._sleep = sleep

    async def run(self) -> None:
        """Bring news for ever."""
        offset: int | None = None
        while True:
            batch = await self._next(offset)
            await self._bring(batch)
            if batch:
                offset = _after(batch)

    async def _next(self, offset: int | None) -> Sequence[object]:
        """Read what is new; an album is read again, unconfirmed, until nothing is added to it."""
        batch = await self._read(offset, LONG_SECONDS)
        for _ in range(MOST_PARTS):
            if not has_album(batch):
                break
            await self._sleep(self._quiet)
            again = await self._read(offset, 0)
            if count := count_settled(again, batch, BATCH):
                return again[:count]
            batch = again
        return batch

    async def _read(self, offset: int | None, seconds: int) -> Sequence[object]:
        asked = GetRawUpdates(
            offset=offset, limit=BATCH, timeout=seconds, allowed_updates=list(WANTED)
        )
        while True:
            try:
                async with to_platform_error():
                    return await self._bot(asked, request_timeout=seconds + 15)
            except Flooded as flooded:
                log.warning("%s", flooded)
                await self._sleep(min(flooded.retry_after, LONGEST_PAUSE).total_seconds())

    async def _bring(self, batch: Sequence[object]) -> None:
        """Take in a batch, many chats at a time, each in its order."""
        chats = by_chat(self._intake.read(raw) for raw in batch).values()
        takes = (self._intake.take(news) for news in chats)
        for failure in await asyncio.gather(*takes, return_exceptions=True):
            if failure is not None:
                raise failure


def _after(batch: Sequence[object]) -> int:
    numbers = [number for raw in batch if (number := id_of(raw)) is not None]
    if not numbers:
        # Without a number nothing can be confirmed, and the same would come for ever.
        raise PlatformError("Telegram brought updates without numbers")
    return max(numbers) + 1
