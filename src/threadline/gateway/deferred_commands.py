"""Deferred commands: commands that wait until the turns before them have ended."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeAlias

from threadline.database.port import Database
from threadline.gateway.intervals import attempt
from threadline.store.commands.context import DeferredCommandResult
from threadline.store.commands.execute import execute_waiting

OnWaited: TypeAlias = Callable[[DeferredCommandResult], Awaitable[None]]
"""Hears of a command that had waited and was carried out."""
APART = timedelta(milliseconds=20)
"""So long after a look for waiting commands comes the next one, at the earliest."""


class DeferredCommands:
    """Carries out waiting commands as soon as their time has come."""

    def __init__(
        self, database: Database, on_done: Callable[[], None], on_waited: OnWaited | None = None
    ) -> None:
        """Look after a store; `on_done` hears that turns which stood behind may go on.

        `on_waited` hears what came of each command, and does what it leaves to do.
        """
        self._db = database
        self._on_done = on_done
        self._on_waited = on_waited
        self._news = asyncio.Event()

    def hear(self) -> None:
        """Take in that turns have ended."""
        self._news.set()

    async def run(self) -> None:
        """Carry out what waits, until cancelled, each time that turns have ended."""
        while True:
            await self._news.wait()
            self._news.clear()
            await attempt(self.work_off)
            await asyncio.sleep(APART.total_seconds())

    async def work_off(self) -> bool:
        """Carry out the commands whose time has come; tell whether there were any."""
        done = await execute_waiting(self._db)
        if done:
            self._on_done()
        if self._on_waited is not None:
            for waited in done:
                await self._on_waited(waited)
        return bool(done)
