"""Retries: how often a model is asked again, and how long one waits before."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from threadline.agents.model.errors import Remedy, remedy_for, wait_asked_by

Sleep: TypeAlias = Callable[[float], Awaitable[object]]
Chance: TypeAlias = Callable[[], float]
"""Gives a number from 0 to 1."""


class RetryLimits(Struct, frozen=True, kw_only=True):
    """How long a model that does not answer is asked again; in seconds."""

    tries: int = 5
    first: float = 1.0
    longest: float = 20.0
    """Between two tries."""
    altogether: float = 60.0


class Retries:
    """Tells for the tries of one step whether, and when, there is another one."""

    def __init__(self, patience: RetryLimits, *, chance: Chance) -> None:
        """Begin with the first try."""
        self._patience = patience
        self._chance = chance
        self._failed = 0
        self._waited = 0.0

    def wait_after(self, error: BaseException) -> float | None:
        """Answer how long to wait after an error before the next try; None: there is none."""
        self._failed += 1
        if remedy_for(error) is not Remedy.WAIT or self._failed >= self._patience.tries:
            return None
        pause = self._pause(wait_asked_by(error))
        if self._waited + pause > self._patience.altogether:
            return None
        self._waited += pause
        return pause

    def _pause(self, asked: float | None) -> float:
        """Wait as long as the provider asked for, else longer each time.

        Many who were refused at the same moment shall not come back at the same moment.
        """
        own = min(self._patience.first * 2.0 ** (self._failed - 1), self._patience.longest)
        spread = own * (0.5 + self._chance() / 2)
        return spread if asked is None else max(asked, 0.0) + spread * 0.1
