"""Memory for bodies whose signature has not been checked yet."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from threadline.core.errors import StorageError

UNVERIFIED_LIMIT = 32_000_000
"""Bytes of all requests to all webhooks together."""


class HeldBytes:
    """The bytes that one request holds."""

    def __init__(self, budget: "BodyMemory", deadline: asyncio.Timeout) -> None:
        """Begin with none."""
        self._budget, self._deadline = budget, deadline
        self.size = 0

    def add(self, size: int) -> None:
        """Count bytes that have come; if all hold too many, the oldest requests are dropped."""
        self.size += size
        self._budget.add(size, self)

    def drop(self) -> None:
        """End the request: it raises `StorageError` where it waits for its body."""
        self._deadline.reschedule(asyncio.get_running_loop().time())


class BodyMemory:
    """A limit for the bytes that requests hold in sum.

    A sender with the secret is verified as soon as its last byte is there, so that the oldest
    requests are most likely those of others, who hold bytes without ever completing a body.
    """

    def __init__(self, most: int = UNVERIFIED_LIMIT) -> None:
        """Begin with nothing held."""
        self._most = most
        self._holdings: dict[HeldBytes, None] = {}
        self.used = 0

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[HeldBytes]:
        """Hold the bytes of one request for as long as this lasts."""
        try:
            async with asyncio.timeout(None) as deadline:
                holding = HeldBytes(self, deadline)
                self._holdings[holding] = None
                try:
                    yield holding
                finally:
                    self._release(holding)
        except TimeoutError:
            raise StorageError(
                "Too many requests are not verified yet", hint="Try again in a moment"
            ) from None

    def add(self, size: int, holding: HeldBytes) -> None:
        """Count bytes, and drop the oldest other requests until what is held fits."""
        self.used += size
        for oldest in [one for one in self._holdings if one is not holding]:
            if self.used <= self._most:
                return
            self._release(oldest)
            oldest.drop()

    def _release(self, holding: HeldBytes) -> None:
        if holding in self._holdings:
            del self._holdings[holding]
            self.used -= holding.size


UNVERIFIED = BodyMemory()
"""Shared by all webhooks of the process."""
