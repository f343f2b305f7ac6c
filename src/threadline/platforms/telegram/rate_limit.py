"""Rate limit: how much may be sent, so that Telegram never has to say that it is too much."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from msgspec import Struct

from threadline.core.delivery import SendOutcome
from threadline.core.platform import SendFailed

PATIENCE = 3.0
"""Seconds that a message waits here for its time; if that is further off, the ledger waits."""
_REMEMBERED = 10_000


class TokenBucket(Struct, frozen=True):
    """So many messages at once, and from then on one in so many seconds."""

    burst: int
    every: float


IN_CHAT = TokenBucket(3, 1.0)
IN_GROUP = TokenBucket(5, 3.0)
"""Twenty a minute."""
OVERALL = TokenBucket(25, 1 / 25)
_ALL = ""


class TelegramRateLimit:
    """Knows when the next message may go to a chat, and to any."""

    def __init__(
        self,
        clock: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Begin with everything allowed; the clock is that of the running loop."""
        self._clock = clock or (lambda: asyncio.get_running_loop().time())
        self._sleep = sleep
        self._full_at: dict[str, float] = {}
        """When each chat's allowance will be whole again."""
        self._held_until: dict[str, float] = {}

    async def take(self, chat: str) -> None:
        """Wait until a message may go to a chat, or refuse it if that takes too long."""
        now = self._clock()
        pause = max(
            self._held_until.get(chat, now) - now,
            self._pause(_ALL, OVERALL, now),
            self._pause(chat, _allowance(chat), now),
        )
        if pause > PATIENCE:
            raise SendFailed(
                "Too much is being sent to this chat",
                outcome=SendOutcome.REJECTED,
                retry_after=timedelta(seconds=pause),
            )
        # Taken before the wait, so that whoever comes meanwhile goes behind.
        self._spend(_ALL, OVERALL, now)
        self._spend(chat, _allowance(chat), now)
        if pause > 0:
            await self._sleep(pause)

    def hold(self, chat: str, span: timedelta) -> None:
        """Let nothing go to a chat for a while, because Telegram said so."""
        self._held_until[chat] = self._clock() + span.total_seconds()
        self._forget()

    def _pause(self, key: str, allowance: TokenBucket, now: float) -> float:
        full_at = self._full_at.get(key, now)
        return full_at - now - (allowance.burst - 1) * allowance.every

    def _spend(self, key: str, allowance: TokenBucket, now: float) -> None:
        self._full_at[key] = max(self._full_at.get(key, now), now) + allowance.every
        self._forget()

    def _forget(self) -> None:
        """Forget chats whose allowance is whole, when there are many."""
        for moments in (self._full_at, self._held_until):
            if len(moments) > _REMEMBERED:
                now = self._clock()
                for key in [key for key, moment in moments.items() if moment <= now]:
                    del moments[key]


def _allowance(chat: str) -> TokenBucket:
    # The ids of groups and channels are below zero.
    return IN_GROUP if chat.startswith(("-", "@")) else IN_CHAT
