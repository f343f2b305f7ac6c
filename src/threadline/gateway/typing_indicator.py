"""Typing indicator: people see that somebody writes, for as long as their turn runs."""

import asyncio
import logging
from datetime import timedelta

from threadline.core.address import Address
from threadline.core.errors import sentence_of
from threadline.core.platform import Platform

log = logging.getLogger("threadline.gateway")

TYPE_EVERY = timedelta(seconds=4)
"""How often a platform is told again that somebody writes."""
_LONGEST_PAUSE = timedelta(minutes=1)


async def show_typing(platform: Platform, address: Address) -> None:
    """Show that somebody writes, until cancelled; a platform that cannot is asked less often."""
    pause, task = TYPE_EVERY, asyncio.current_task()
    # Also if the platform swallowed that it was cancelled.
    while task is not None and not task.cancelling():
        try:
            async with asyncio.timeout(TYPE_EVERY.total_seconds()):
                await platform.show_typing(address)
            pause = TYPE_EVERY
        except Exception as error:  # noqa: BLE001 - to be seen writing is a courtesy
            log.debug("%s cannot show typing: %s", platform.name, sentence_of(error))
            pause = min(pause * 2, _LONGEST_PAUSE)
        await asyncio.sleep(pause.total_seconds())
