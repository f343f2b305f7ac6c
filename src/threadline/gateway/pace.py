"""Pace: how often a worker does what it does again and again."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from datetime import timedelta

from threadline.core.errors import ThreadlineError

log = logging.getLogger("threadline.gateway")

NO_STORAGE = timedelta(seconds=1)
"""How long to rest when the database did not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The beats of a worker."""

    checkpoint: timedelta = timedelta(seconds=1)
    """What was said is safe at the latest after this."""
    renew: timedelta | None = None
    """How often leases are renewed; None: three times in the life of a lease."""
    recover: timedelta = timedelta(seconds=5)
    """How often somebody looks for turns whose worker is gone, and for endings to be told."""
    index: timedelta = timedelta(seconds=1)
    """How often what was said is put into the search index."""
    sweep: timedelta = timedelta(minutes=5)
    """How often sessions and questions are looked at whose time may be over."""
    drain: timedelta = timedelta(seconds=20)
    """How long running turns may go on after a worker was asked to stop."""
    grace: timedelta = timedelta(seconds=2)
    """How long a cancelled agent or platform may take to end before it is left to itself."""
    inactivity: timedelta | None = timedelta(minutes=30)
    """How long an agent may say nothing before its turn is given up; None: as long as it likes."""


async def steadily(
    work: Callable[[], Awaitable[object]], every: timedelta, *, at_once: bool = False
) -> None:
    """Do something again and again; what failed today may work tomorrow."""
    if at_once:
        await weathered(work)
    while True:
        await asyncio.sleep(every.total_seconds())
        await weathered(work)


async def weathered(work: Callable[[], Awaitable[object]]) -> bool:
    """Do something once that is tried again anyway; False if it failed, which the log tells.

    Only errors of our family are weathered: a database that is away, or somebody who was quicker.
    """
    try:
        await work()
    except ThreadlineError as error:
        log.warning("Trying again later: %s", error)
        return False
    return True


async def end_tasks(tasks: Collection[asyncio.Task[None]], within: timedelta) -> None:
    """Cancel tasks and wait for their end, for a while; one that does not end is left to itself."""
    for task in tasks:
        task.cancel()
    if tasks:
        _, running = await asyncio.wait(set(tasks), timeout=within.total_seconds())
        for task in running:
            log.warning("A platform goes on with what was cancelled: %s", task.get_name())
