"""Signature log: requests without a valid signature are counted, and logged now and then."""

import logging
import time
from collections.abc import Callable, MutableMapping
from datetime import timedelta
from typing import Any

from starlette.types import Send

log = logging.getLogger("threadline.web")

TELL_EVERY = timedelta(minutes=1)
"""How often the log tells of one platform's, however many there are."""
_UNAUTHORIZED = 401


class Unsigned:
    """Watches what platforms answer, for requests that they turned away as not signed."""

    def __init__(
        self, count: Callable[[str], None], ticks: Callable[[], float] = time.monotonic
    ) -> None:
        """Count each with the name of its platform."""
        self._count = count
        self._ticks = ticks
        self._told_at: dict[str, float] = {}
        self._untold: dict[str, int] = {}

    def watch(self, platform: str, send: Send) -> Send:
        """Pass on what a platform answers to one request, and look at it."""

        async def passed_on(message: MutableMapping[str, Any]) -> None:
            if message.get("status") == _UNAUTHORIZED:
                self._notice(platform)
            await send(message)

        return passed_on

    def _notice(self, platform: str) -> None:
        self._count(platform)
        now, told_at = self._ticks(), self._told_at.get(platform)
        untold = self._untold.pop(platform, 0) + 1
        if told_at is not None and now - told_at < TELL_EVERY.total_seconds():
            self._untold[platform] = untold
            return
        self._told_at[platform] = now
        before = f", as were {untold - 1:,} before it" if untold > 1 else ""
        log.warning("A request to %s was not rightly signed%s", platform, before)
