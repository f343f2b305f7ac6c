"""Serving: which gateways are at work, and how their platforms are."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from threadline.core.errors import SENTENCE_LIMIT
from threadline.core.text import checked_choice, checked_moment, checked_text
from threadline.core.turn import OwnerId

_UNHEARD_AFTER = timedelta(minutes=1)
SILENT_AFTER = timedelta(minutes=5)
"""An agent that has said nothing for so long counts as silent."""


class PlatformState(StrEnum):
    """Whether a platform can be reached."""

    CONNECTING = "connecting"
    """It has been begun, and has yet to say that it is there."""
    UP = "up"
    DOWN = "down"
    """It broke off, and is tried again after a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformHealth:
    """How a platform is, since when, and what went wrong last."""

    state: PlatformState
    since: datetime
    error: str | None = None
    """A sentence without secrets."""

    def __post_init__(self) -> None:
        """Refuse what cannot be kept."""
        checked_choice(self.state, "state of a platform", PlatformState)
        checked_moment(self.since, "since")
        if self.error is not None:
            checked_text(self.error, "error of a platform", SENTENCE_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """How many turns a gateway may run at a time, and how many it runs."""

    total: int = 0
    taken: int = 0
    silent: int = 0
    """Of those taken: by agents that have said nothing for `SILENT_AFTER`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayRow:
    """One gateway that serves a store."""

    owner: OwnerId
    host: str
    pid: int
    version: str
    url: str | None
    """Where its web server listens."""
    platforms: Mapping[str, PlatformHealth]
    started_at: datetime
    beat_at: datetime
    """When it was last heard of."""
    places: Places = Places()

    def is_silent(self, now: datetime) -> bool:
        """Tell whether it was not heard of for so long that it is stuck, if it lives."""
        return now - self.beat_at > _UNHEARD_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class Uptime:
    """How long a machine has been up, time asleep included; no change of its clock affects it."""

    boot: str
    """Identifies the start of the machine. Uptimes of different boots cannot be compared."""
    elapsed: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What there is to do in a store, and how large it is."""

    queued: int
    """Turns that wait for a worker."""
    running: int
    """Turns under way, those that wait for an answer included."""
    owed: int
    """Deliveries that wait to be sent."""
    size: int
    """Bytes of the database."""
