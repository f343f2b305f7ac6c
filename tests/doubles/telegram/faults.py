"""Trouble: what goes wrong on the wire, on demand."""

import math
from collections import defaultdict, deque
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase

from tests.doubles.telegram.chats import Chat, ChatKind
from tests.doubles.telegram.refusals import Refusal, flood

SPEAKING = "send[!C]*|edit*"
"""The methods that show something to people."""


class Mishap(StrEnum):
    """One way in which a call goes wrong."""

    REFUSED = "refused"
    """It is answered with an error."""
    HANG = "hang"
    """It is never answered, and does nothing."""
    DROPPED = "dropped"
    """The connection breaks before it does anything."""
    SILENCED = "silenced"
    """It is done, and the connection breaks before the answer."""
    MANGLED = "mangled"
    """It is done, and the answer is no JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A mishap that is still to come."""

    mishap: Mishap
    methods: str
    refusal: Refusal | None = None


def is_among(method: str, methods: str) -> bool:
    """Tell whether a method is among those that some patterns name, with `|` between them."""
    return any(fnmatchcase(method, one) for one in methods.split("|"))


class Weather:
    """The mishaps that are still to come, in the order in which they were asked for."""

    def __init__(self) -> None:
        """Begin with a clear sky."""
        self._coming: deque[Planned] = deque()

    def plan(self, planned: Planned, times: int) -> None:
        """Let the next calls go wrong."""
        self._coming.extend([planned] * times)

    def clear(self) -> None:
        """Let everything go well from now on."""
        self._coming.clear()

    def meet(self, method: str) -> Planned | None:
        """Take the next mishap that is meant for a method."""
        planned = next((one for one in self._coming if is_among(method, one.methods)), None)
        if planned is not None:
            self._coming.remove(planned)
        return planned


class Limits:
    """How much may be said: about one message a second in a chat, and 20 a minute in a group."""

    def __init__(self, *, burst: int = 3, group_minute: int = 20, everywhere: int = 30) -> None:
        """Choose what a dm may take at once, a group in a minute, and all chats in a second."""
        self._burst = burst
        self._group_minute = group_minute
        self._everywhere = everywhere
        self._said: dict[int, list[datetime]] = defaultdict(list)

    def spend(self, chat: Chat, now: datetime) -> None:
        """Count one message, or ask for patience."""
        everything = [at for said in self._said.values() for at in said]
        self._check(everything, now, self._everywhere, 1)
        said = self._said[chat.id]
        said[:] = [at for at in said if (now - at).total_seconds() < 60]
        if chat.kind is ChatKind.PRIVATE:
            self._check(said, now, self._burst, self._burst)
        else:
            self._check(said, now, self._group_minute, 60)
        said.append(now)

    def _check(self, said: list[datetime], now: datetime, most: int, seconds: int) -> None:
        ages = sorted((now - at).total_seconds() for at in said)
        if len(ages) >= most and ages[most - 1] < seconds:
            raise flood(max(math.ceil(seconds - ages[most - 1]), 1))
