"""Kills of a gateway with a Telegram bot, which serves before a double that outlives it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.crash.gateway.kill_runs import ServingVictim
from tests.crash.gateway.process_starter import nursery
from tests.crash.telegram.bot_users import CONVERSATIONS, Bureau

_CHILD = "tests.crash.telegram.child"
_LONGEST = 2.5
"""Seconds that it may serve: an answer may be changed once in a second."""


@asynccontextmanager
async def telegram_victim(
    where: str, seed: int, conversations: int = CONVERSATIONS
) -> AsyncIterator[ServingVictim]:
    """Have a bureau, and a nursery for the gateways that serve it."""
    bureau = Bureau(conversations=conversations)
    async with bureau.open() as url, nursery(_CHILD) as born:
        yield ServingVictim(where, seed, url, bureau, born, _LONGEST)
