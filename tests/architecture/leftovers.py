"""Finds what a test leaves behind: tasks on the loop, and threads nobody ended."""

import asyncio
import threading
from collections.abc import Set as AbstractSet
from typing import TypeAlias

from threadline.testing.deadline import HANG_SECONDS

GRACE = HANG_SECONDS
"""Seconds for a thread that was told to end to get there."""

TICKS = 5
"""Turns of the loop for a task that was told to end to get there."""

Task: TypeAlias = asyncio.Task[object]


def running_tasks() -> frozenset[Task]:
    """Answer all tasks of this loop that have not ended, but for those that run the test."""
    return frozenset(task for task in asyncio.all_tasks() if "TestRunner." not in _name(task))


async def tasks_left(before: AbstractSet[Task]) -> list[str]:
    """Name the tasks that were not there before and do not end by themselves."""
    for _ in range(TICKS):
        if not running_tasks() - before:
            break
        await asyncio.sleep(0)
    return sorted(_name(task) for task in running_tasks() - before)


def threads_left(before: AbstractSet[threading.Thread], grace: float | None = None) -> list[str]:
    """Name the threads that were not there before and would outlive their owner.

    Those are the ones that keep a process from ending, and our own, which somebody has to close.
    """
    new = [thread for thread in threading.enumerate() if thread not in before]
    stubborn = [thread for thread in new if not thread.daemon or "threadline" in thread.name]
    for thread in stubborn:
        thread.join(GRACE if grace is None else grace)
    return sorted(thread.name for thread in stubborn if thread.is_alive())


def _name(task: Task) -> str:
    coroutine = task.get_coro()
    return getattr(coroutine, "__qualname__", str(coroutine))
