"""Intervals: how often loops run, how they retry, and how old a lease is."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from msgspec import Struct

from threadline.core.errors import StorageError, ThreadlineError

log = logging.getLogger("threadline.gateway")

NO_STORAGE = timedelta(seconds=1)
"""How long to rest when the database did not answer."""
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
T = TypeVar("T")


def uptime() -> float:
    """Return seconds since boot, including the time in which the machine was suspended."""
    return time.clock_gettime(_CLOCK)


class Intervals(Struct, frozen=True, kw_only=True):
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
    clock: Callable[[], float] = uptime
    """Seconds by which the age of leases is measured, also while the process is stopped."""


async def run_every(
    work: Callable[[], Awaitable[object]], every: timedelta, *, at_once: bool = False
) -> None:
    """Do something again and again; what failed today may work tomorrow."""
    if at_once:
        await attempt(work)
    while True:
        await asyncio.sleep(every.total_seconds())
        await attempt(work)


async def attempt(work: Callable[[], Awaitable[object]]) -> bool:
    """Do something once that is tried again anyway; False if it failed, which the log tells.

    Only errors of our family are weathered: a database that is away, or somebody who was quicker.
    """
    try:
        await work()
    except ThreadlineError as error:
        log.warning("Trying again later: %s", error)
        return False
    return True


async def retry_until_stored(write: Callable[[], Awaitable[T]], what: str) -> T:
    """Run a write until storage takes it, and log what waits; other errors are raised."""
    is_logged = False
    while True:
        try:
            done = await write()
        except StorageError as error:
            if not is_logged:
                log.warning("Storage failed, trying again until %s is stored: %s", what, error)
                is_logged = True
            await asyncio.sleep(NO_STORAGE.total_seconds())
        else:
            if is_logged:
                log.info("Storage is back: %s is stored", what)
            return done
