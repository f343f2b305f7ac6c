"""The backlog: commands that wait until the turns before them have ended."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

from threadline.gateway.pace import weathered
from threadline.sessions.store import Store

APART = timedelta(milliseconds=20)
"""So long after a look for waiting commands comes the next one, at the earliest."""


class Backlog:
    """Carries out waiting commands as soon as their time has come."""

    def __init__(self, store: Store, on_done: Callable[[], None]) -> None:
        """Look after a store; `on_done` hears that turns which stood behind may go on."""
        self._store = store
        self._on_done = on_done
        self._news = asyncio.Event()

    def hear(self) -> None:
        """Take in that turns have ended."""
        self._news.set()

    async def run(self) -> None:
        """Carry out what waits, until cancelled, each time that turns have ended."""
        while True:
            await self._news.wait()
            self._news.clear()
            await weathered(self.work_off)
            await asyncio.sleep(APART.total_seconds())

    async def work_off(self) -> None:
        """Carry out the commands whose time has come."""
        if await self._store.run_waiting_commands():
            self._on_done()
