"""Background tasks: what is done beside the turns, a little at a time, and never in their way."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeAlias

from threadline.core.errors import ThreadlineError, sentence_of
from threadline.gateway.intervals import end_tasks

log = logging.getLogger("threadline.gateway")

AT_ONCE = 2
"""So many chores are done at a time."""
MOST_WAITING = 200
"""More than these are not begun: nobody waits for any of them."""

Chore: TypeAlias = Callable[[], Awaitable[None]]


class BackgroundTasks:
    """Does small things in the background; one that fails is a line in the log."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        """Begin with nothing to do."""
        self._free = asyncio.Semaphore(at_once)
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def begin(self, name: str, chore: Chore) -> None:
        """Do something in the background, unless the same is under way, or too much is."""
        if name in self._tasks or len(self._tasks) >= MOST_WAITING:
            return
        task = asyncio.create_task(self._do(name, chore), name=name)
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name, None))

    async def settle(self) -> None:
        """Wait until nothing is left to do."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def close(self, within: timedelta) -> None:
        """End what is under way; what does not end is left to itself."""
        await end_tasks(set(self._tasks.values()), within)

    async def _do(self, name: str, chore: Chore) -> None:
        async with self._free:
            try:
                await chore()
            except ThreadlineError as error:
                log.warning("It is left undone to %s: %s", name, sentence_of(error))
