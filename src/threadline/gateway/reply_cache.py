"""Reply cache: what was said to somebody at once is said again when they bring the same again."""

from collections import OrderedDict
from datetime import datetime, timedelta
from typing import TypeAlias

from threadline.core.platform import ReceiveResult

MOST_RECALLED = 1000
"""So many of the latest answers are remembered."""
RECALLED_FOR = timedelta(minutes=5)
"""How long an answer is remembered."""

Key: TypeAlias = tuple[str, ...]
"""Who brought what."""


class ReplyCache:
    """Remembers the latest replies to commands, and pairing codes, for a few minutes.

    In memory only: they may hold what must not be kept, or somebody's words. Whoever brings a
    message again because the response got lost is answered as the first time.
    """

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._answers: OrderedDict[Key, tuple[datetime, ReceiveResult]] = OrderedDict()

    def keep(self, key: Key, taken: ReceiveResult, now: datetime) -> None:
        """Remember what came of something."""
        self._answers[key] = (now, taken)
        self._answers.move_to_end(key)
        while len(self._answers) > MOST_RECALLED or self._oldest() < now - RECALLED_FOR:
            self._answers.popitem(last=False)

    def find(self, key: Key, now: datetime) -> ReceiveResult | None:
        """Recall what came of something; None: that is not known any more."""
        at, taken = self._answers.get(key, (now, None))
        return taken if at >= now - RECALLED_FOR else None

    def forget(self) -> None:
        """Forget everything, as somebody wishes to be forgotten."""
        self._answers.clear()

    def _oldest(self) -> datetime:
        return next(iter(self._answers.values()))[0]
