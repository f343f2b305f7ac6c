"""Keyed lock: what comes from one chat goes through one after the other, as it came."""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager


class KeyedLock:
    """One line for each chat. A line is there as long as somebody stands in it."""

    def __init__(self) -> None:
        """Begin with no line."""
        self._lines: dict[Hashable, tuple[asyncio.Lock, int]] = {}

    @asynccontextmanager
    async def within(self, chat: Hashable) -> AsyncIterator[None]:
        """Wait for those who came before, and let nobody pass meanwhile."""
        lock, standing = self._lines.get(chat, (asyncio.Lock(), 0))
        self._lines[chat] = (lock, standing + 1)
        try:
            async with lock:
                yield
        finally:
            lock, standing = self._lines[chat]
            if standing > 1:
                self._lines[chat] = (lock, standing - 1)
            else:
                del self._lines[chat]

    def __len__(self) -> int:
        """Tell how many lines there are."""
        return len(self._lines)
