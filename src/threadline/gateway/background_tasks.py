"""Background tasks: work that nothing waits for, bounded in number, whose failures are logged."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from typing import Any

from threadline.core.errors import ThreadlineError, sentence_of

log = logging.getLogger("threadline.gateway")

MOST_TASKS = 200
"""How many tasks of one kind may be under way or wait for their start."""


def log_failure(task: asyncio.Task[Any], log: logging.Logger = log) -> None:
    """Log why a task failed: an expected error as a sentence, any other with its traceback.

    Add this as a done callback to each task that nothing awaits.
    """
    error = None if task.cancelled() else task.exception()
    if isinstance(error, ThreadlineError):
        log.warning("Background task %s failed: %s", task.get_name(), sentence_of(error))
    elif error is not None:
        log.error("Background task %s failed", task.get_name(), exc_info=error)


class BackgroundTasks:
    """Runs tasks that nothing waits for, and logs those that fail.

    At most `most` are under way. One more is not started, which is logged: wait for `free` first
    where the work must not be lost.
    """

    def __init__(self, *, most: int = MOST_TASKS, at_once: int = MOST_TASKS) -> None:
        """Start without tasks; only `at_once` of them run at a time, and the others wait."""
        self._most = most
        self._slots = asyncio.Semaphore(at_once)
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """Return how many tasks are under way or wait for their start."""
        return len(self._tasks)

    def begin(self, name: str, work: Callable[[], Awaitable[None]]) -> bool:
        """Start a task; return False if too many are under way."""
        if len(self._tasks) >= self._most:
            log.warning("Background task %s was left out: %s are under way", name, self._most)
            return False
        task = asyncio.create_task(self._run(work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._end)
        return True

    def begin_once(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Start a task unless one of the same name is under way, or too many are."""
        if all(task.get_name() != name for task in self._tasks):
            self.begin(name, work)

    async def free(self) -> None:
        """Wait until one more task may be started."""
        while len(self._tasks) >= self._most:
            await asyncio.wait(set(self._tasks), return_when=asyncio.FIRST_COMPLETED)

    async def settle(self) -> None:
        """Wait until no task is left."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self, within: timedelta) -> None:
        """Cancel the tasks, and wait for their end for a while."""
        await end_tasks(set(self._tasks), within)

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._slots:
            await work()

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        log_failure(task)


async def end_tasks(tasks: Collection[asyncio.Task[None]], within: timedelta) -> None:
    """Cancel tasks and wait for their end, for a while; one that does not end is left to itself."""
    for task in tasks:
        task.cancel()
    if tasks:
        _, running = await asyncio.wait(set(tasks), timeout=within.total_seconds())
        for task in running:
            log.warning("A cancelled task goes on: %s", task.get_name())
