"""Sending: one message to one platform, and a plain account of how that went."""

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar

from threadline.core.address import Address
from threadline.core.delivery import SendOutcome
from threadline.core.errors import Invalid, sentence_of
from threadline.core.platform import Outgoing, Platform, ReadBlob, SendFailed
from threadline.core.text import checked_id

SEND_WITHIN = timedelta(seconds=30)
"""How long a platform may take for one message."""
T = TypeVar("T")


async def send(platform: Platform, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
    """Show one message and answer the platform's id of it; whatever goes wrong is `SendFailed`."""
    id = await _within(platform.send(outgoing, read_blob), SendOutcome.AMBIGUOUS)
    try:
        return None if id is None else checked_id(id, "platform's id")
    except Invalid:
        return None  # It was taken; by an id that cannot be kept it cannot be changed later.


async def edit(platform: Platform, address: Address, message_id: str, text: str) -> None:
    """Let a message read differently. To do that twice is no harm: no failure is ambiguous."""
    await _within(platform.edit(address, message_id, text), SendOutcome.REJECTED)


async def _within(work: Awaitable[T], outcome: SendOutcome) -> T:
    try:
        async with asyncio.timeout(SEND_WITHIN.total_seconds()):
            return await work
    except SendFailed as error:
        if outcome is SendOutcome.REJECTED and error.outcome is SendOutcome.AMBIGUOUS:
            raise SendFailed(str(error), outcome=outcome, retry_after=error.retry_after) from error
        raise
    except TimeoutError as error:
        raise SendFailed("The platform did not answer in time", outcome=outcome) from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise SendFailed("The platform gave up", outcome=outcome) from error
    except Exception as error:
        raise SendFailed(sentence_of(error), outcome=outcome) from error
