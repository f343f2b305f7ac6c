"""Cancellation: work that is done to its end although its caller was cancelled."""

import asyncio
import logging
from collections.abc import Awaitable

from threadline.core.errors import ThreadlineError

log = logging.getLogger("threadline.database")


async def run_to_end(work: Awaitable[None]) -> None:
    """Run something to its end, however often the caller is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
    # What could not be done is found by its lease; the caller hears that it was cancelled.
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, ThreadlineError):
        log.error("What was begun before a cancellation failed", exc_info=error)
