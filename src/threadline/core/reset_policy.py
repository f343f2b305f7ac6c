"""Reset policy: when a conversation starts afresh, and what goes over into the new session."""

import re
from bisect import bisect_left
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from zoneinfo import ZoneInfo

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from threadline.core.address import Kind
from threadline.core.session import Cause
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_moment,
    checked_text,
    unfit,
)

SHORTEST_IDLE = timedelta(minutes=1)
LONGEST_IDLE = timedelta(days=36_500)
CARRY_LIMIT = 1_000
"""Messages."""

_DAY = timedelta(days=1)
_SECOND = timedelta(seconds=1)
_LAST_MESSAGES = re.compile(r"last ([0-9]{1,6}) messages?")


class ResetMode(StrEnum):
    """What ends a session."""

    NONE = "none"
    IDLE = "idle"
    DAILY = "daily"
    BOTH = "both"
    """Whichever comes first."""
    DAILY_AND_IDLE = "daily_and_idle"
    """The day has turned, and it has been silent for long."""


class CarryKind(StrEnum):
    """What sort of thing goes over into the new session."""

    NOTHING = "nothing"
    SUMMARY = "summary"
    LAST = "last"


class Carry(Struct, frozen=True, kw_only=True):
    """What goes over into the new session."""

    kind: CarryKind = CarryKind.NOTHING
    messages: int = 0
    """How many of the last ones, where that is what goes over."""

    def __post_init__(self) -> None:
        """Refuse a number of messages where none belongs, and none where one does."""
        force_setattr(self, "kind", checked_choice(self.kind, "carry", CarryKind))
        least, most = (1, CARRY_LIMIT) if self.kind is CarryKind.LAST else (0, 0)
        if not least <= checked_count(self.messages, "messages to carry") <= most:
            raise unfit(self.messages, "messages to carry", f"from {least} to {most}")

    @classmethod
    def nothing(cls) -> "Carry":
        """Let the new session begin empty."""
        return cls()

    @classmethod
    def summary(cls) -> "Carry":
        """Let it begin with a summary of the old one."""
        return cls(kind=CarryKind.SUMMARY)

    @classmethod
    def last(cls, messages: int) -> "Carry":
        """Let it begin with the last messages of the old one."""
        return cls(kind=CarryKind.LAST, messages=messages)

    @classmethod
    def parse(cls, text: str) -> "Carry":
        """Read what `str` writes."""
        if last := _LAST_MESSAGES.fullmatch(checked_text(text, "carry")):
            return cls.last(int(last[1]))
        if text in {CarryKind.NOTHING, CarryKind.SUMMARY}:
            return cls(kind=CarryKind(text))
        raise unfit(text, "carry", "'nothing', 'summary' or 'last N messages'")

    def __str__(self) -> str:
        """Write it as in a configuration file."""
        return f"last {self.messages} messages" if self.kind is CarryKind.LAST else self.kind.value


class ResetPolicy(Struct, frozen=True, kw_only=True):
    """When a session ends by itself, whether that is told, and what goes over."""

    mode: ResetMode = ResetMode.NONE
    idle: timedelta = timedelta(hours=24)
    at_hour: int = 4
    timezone: tzinfo | None = None
    """Where the day turns at that hour; None: in the time zone of the machine."""
    notify: bool = True
    carry: Carry = Carry()

    def __post_init__(self) -> None:
        """Refuse an hour that no clock shows, and a silence too short or too long to be meant."""
        force_setattr(self, "mode", checked_choice(self.mode, "mode", ResetMode))
        if not isinstance(self.idle, timedelta):
            raise unfit(self.idle, "idle", "a timedelta")
        if not SHORTEST_IDLE <= self.idle <= LONGEST_IDLE:
            raise unfit(self.idle, "idle", "from one minute to a hundred years")
        if checked_count(self.at_hour, "at_hour") > 23:
            raise unfit(self.at_hour, "at_hour", "from 0 to 23")
        if not isinstance(self.timezone, tzinfo | None):
            raise unfit(self.timezone, "timezone", "a tzinfo; `zone` finds one by its name")

    @property
    def zone_name(self) -> str:
        """The name of the time zone, as a person reads it."""
        return "local time" if self.timezone is None else str(self.timezone)

    def in_zone(self, machine: tzinfo) -> "ResetPolicy":
        """Return the same policy with this time zone, unless it has one of its own."""
        return self if self.timezone is not None else replace(self, timezone=machine)

    def expired_before(self, now: datetime) -> datetime | None:
        """Give the moment before which an activity is too long ago; None: it never is."""
        now = checked_moment(now, "now")
        silent_since = now - self.idle
        match self.mode:
            case ResetMode.NONE:
                return None
            case ResetMode.IDLE:
                return silent_since
            case ResetMode.DAILY:
                return self._day_began_at(now)
            case ResetMode.BOTH:
                return max(silent_since, self._day_began_at(now))
            case ResetMode.DAILY_AND_IDLE:
                return min(silent_since, self._day_began_at(now))

    def verdict(self, last_activity_at: datetime, now: datetime) -> Cause | None:
        """Tell why a session is over by now; None: it goes on."""
        last, now = checked_moment(last_activity_at, "last activity"), checked_moment(now, "now")
        limit = self.expired_before(now)
        if limit is None or last >= limit:
            return None
        if self.mode is ResetMode.BOTH:
            return Cause.IDLE if last < now - self.idle else Cause.DAILY
        return Cause.IDLE if self.mode is ResetMode.IDLE else Cause.DAILY

    def resets_at(self, last_activity_at: datetime) -> datetime | None:
        """Tell when a session is over in which nothing more happens; None: it never is."""
        last = checked_moment(last_activity_at, "last activity")
        match self.mode:
            case ResetMode.NONE:
                return None
            case ResetMode.IDLE:
                return last + self.idle
            case ResetMode.DAILY:
                return self._day_ends_at(last)
            case ResetMode.BOTH:
                return min(last + self.idle, self._day_ends_at(last))
            case ResetMode.DAILY_AND_IDLE:
                return max(last + self.idle, self._day_ends_at(last))

    def _day_ends_at(self, last: datetime) -> datetime:
        """Give the first moment after this one at which a day turns."""
        day = last.astimezone(self.timezone).date() - _DAY
        while (turn := _turn_of(day, self.at_hour, self.timezone)) is None or turn <= last:
            day += _DAY
        return turn

    def _day_began_at(self, now: datetime) -> datetime:
        """Give the latest moment, up to now, at which a day turned."""
        # Where clocks were put back across midnight, tomorrow may have begun already.
        day = now.astimezone(self.timezone).date() + _DAY
        while (turn := _turn_of(day, self.at_hour, self.timezone)) is None or turn > now:
            day -= _DAY
        return turn


class Policies(Struct, frozen=True, kw_only=True):
    """Which policy holds where; policies are never mixed."""

    default: ResetPolicy = ResetPolicy()
    by_kind: Mapping[Kind, ResetPolicy] = field(default_factory=dict)
    by_platform: Mapping[str, ResetPolicy] = field(default_factory=dict)

    def resolve(self, platform: str, kind: Kind) -> ResetPolicy:
        """Find the platform's policy, else the kind's, else the default."""
        return self.by_platform.get(platform) or self.by_kind.get(kind) or self.default

    def in_zone(self, machine: tzinfo) -> "Policies":
        """Return the same policies with this time zone where they have none of their own."""
        return Policies(
            default=self.default.in_zone(machine),
            by_kind={kind: own.in_zone(machine) for kind, own in self.by_kind.items()},
            by_platform={on: own.in_zone(machine) for on, own in self.by_platform.items()},
        )


def zone(name: str) -> tzinfo:
    """Find a time zone by its IANA name."""
    if name == "UTC":
        return UTC  # also where no time zone database is installed
    try:
        return ZoneInfo(name)
    except (LookupError, ValueError, TypeError, OSError):
        raise unfit(
            name, "timezone", "the IANA name of a time zone, such as Europe/Berlin"
        ) from None


def readings(wall: datetime, timezone: tzinfo | None) -> tuple[datetime, datetime]:
    """Return the two times that a local clock may mean, the earlier one first.

    They differ where the clocks change. As everywhere in `datetime`, the time zone None is that of
    the machine; of an hour that is skipped it reads `fold` the other way round.
    """
    both = (wall.replace(tzinfo=timezone, fold=fold).astimezone(UTC) for fold in (0, 1))
    first, second = sorted(both)
    return first, second


def _turn_of(day: date, hour: int, timezone: tzinfo | None) -> datetime | None:
    """Return the time at which a local day turns; None for a day that the calendar left out."""
    wall = datetime.combine(day, time(hour))
    first, second = readings(wall, timezone)
    if first.astimezone(timezone).replace(tzinfo=None) == wall:
        return first  # the hour comes once; or twice, and then the first one counts
    # The clocks skip this hour: the gap ends between the two readings.
    end = _first_second_at(wall, timezone, after=first, until=second)
    days_around = {moment.astimezone(timezone).date() for moment in (end - _SECOND, end)}
    return end if day in days_around else None


def _first_second_at(
    wall: datetime, timezone: tzinfo | None, *, after: datetime, until: datetime
) -> datetime:
    """Find the first second between two moments at which clocks show this time or a later one."""

    def is_reached(seconds: int) -> bool:
        return (after + seconds * _SECOND).astimezone(timezone).replace(tzinfo=None) >= wall

    return after + bisect_left(range((until - after) // _SECOND), True, key=is_reached) * _SECOND
