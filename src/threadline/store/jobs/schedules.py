"""Schedules: when a job is due, from a cron expression, an interval, a day's time or a moment.

    0 9 * * 1-5          cron: minute, hour, day of month, month, day of week
    every 15m            an interval in minutes, hours or days (m, h, d), from when the job was made
    every day 9:00       also `weekday`, `weekend`, or days by name: `every mon,thu 17:30`
    at 2026-03-01T09:00  once

Times are those of the job's time zone. A time that the clock skips in spring comes right after the
gap; one that it shows twice in autumn comes once.
"""

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from cronsim import CronSim, CronSimError
from msgspec import Struct

from threadline.core.errors import Invalid
from threadline.core.reset_policy import zone
from threadline.core.validation import checked_moment, checked_text, unfit

SCHEDULE_LIMIT = 200
"""Characters."""
SHORTEST_INTERVAL = timedelta(minutes=1)
LONGEST_INTERVAL = timedelta(days=366)

_EVERY = re.compile(r"every\s+(?P<number>[0-9]{1,6})\s*(?P<unit>[a-z]+)")
_DAYS_AT = re.compile(r"every\s+(?P<days>[a-z]+(?:\s*,\s*[a-z]+)*)\s+(?:at\s+)?(?P<time>[0-9:]+)")
_AT = re.compile(r"at\s+(?P<moment>\S+(?:\s+\S+)?)", re.IGNORECASE)
_TIME = re.compile(r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-9]{2}))?")
_UNITS = {
    **dict.fromkeys(("m", "min", "minute", "minutes"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hour", "hours"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks"), timedelta(days=7)),
}
_DAY_NAMES = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_DAYS = {
    "day": "*",
    "weekday": "1-5",
    "weekend": "6,0",
    **{name: str(n) for n, name in enumerate(_DAY_NAMES)},
    **{name[:3]: str(n) for n, name in enumerate(_DAY_NAMES)},
}
_FORMS = "a cron expression (0 9 * * *), every 15m, every day 9:00, or at 2026-03-01T09:00"
_TRIES = 400
"""Moments that are tried, where clocks were put back and a time seems to come again."""


class ScheduleKind(StrEnum):
    """What sort of schedule it is."""

    CRON = "cron"
    INTERVAL = "interval"
    MOMENT = "moment"


class Schedule(Struct, frozen=True, kw_only=True):
    """When something is due, by the clock of one time zone."""

    kind: ScheduleKind
    timezone: str
    cron: str = ""
    interval: timedelta = timedelta(0)
    moment: datetime | None = None

    def after(self, moment: datetime, *, since: datetime) -> datetime | None:
        """Give the next moment after one; intervals count since another. None: never again."""
        moment = checked_moment(moment, "moment")
        match self.kind:
            case ScheduleKind.MOMENT:
                return self.moment if self.moment is not None and self.moment > moment else None
            case ScheduleKind.INTERVAL:
                return _interval_after(self.interval, moment, since)
            case ScheduleKind.CRON:
                return _cron_after(self.cron, self.timezone, moment)


def parse_schedule(text: str, timezone: str) -> Schedule:
    """Read a schedule as somebody wrote it, for a time zone by its IANA name."""
    written = " ".join(checked_text(text, "schedule", SCHEDULE_LIMIT).split())
    zone(timezone)
    lowered = written.lower()
    if form := _EVERY.fullmatch(lowered):
        return _interval(form["number"], form["unit"], timezone)
    if form := _DAYS_AT.fullmatch(lowered):
        cron = _cron_of_days(form["days"], form["time"])
        return Schedule(kind=ScheduleKind.CRON, timezone=timezone, cron=cron)
    if form := _AT.fullmatch(written):
        moment = _local_moment(form["moment"], timezone)
        return Schedule(kind=ScheduleKind.MOMENT, timezone=timezone, moment=moment)
    return Schedule(kind=ScheduleKind.CRON, timezone=timezone, cron=_checked_cron(written))


def next_times(text: str, timezone: str, *, now: datetime, most: int) -> tuple[datetime, ...]:
    """Tell when a job would be due, if it were made now with such a schedule."""
    schedule, times = parse_schedule(text, timezone), [now]
    while len(times) <= most and (due := schedule.after(times[-1], since=now)) is not None:
        times.append(due)
    return tuple(times[1:])


def _interval(number: str, unit: str, timezone: str) -> Schedule:
    if unit not in _UNITS:
        raise Invalid(f"“{unit}” is not a unit of time", hint="Write m, h or d: every 15m")
    span = int(number) * _UNITS[unit]
    if not SHORTEST_INTERVAL <= span <= LONGEST_INTERVAL:
        raise unfit(f"every {number}{unit}", "schedule", "from every 1m to every 366d")
    return Schedule(kind=ScheduleKind.INTERVAL, timezone=timezone, interval=span)


def _cron_of_days(days: str, time: str) -> str:
    form = _TIME.fullmatch(time)
    hour, minute = (int(form["hour"]), int(form["minute"] or 0)) if form else (24, 0)
    if hour > 23 or minute > 59:
        raise Invalid(f"“{time}” is not a time of day", hint="Write it as 9:00 or 17:30")
    names = [name.strip() for name in days.split(",")]
    for name in names:
        if name.removesuffix("s") not in _DAYS and name not in _DAYS:
            raise Invalid(
                f"“{name}” is not a day", hint="Write day, weekday, weekend, monday, mon …"
            )
    numbers = [_DAYS.get(name) or _DAYS[name.removesuffix("s")] for name in names]
    return f"{minute} {hour} * * {'*' if '*' in numbers else ','.join(numbers)}"


def _checked_cron(text: str) -> str:
    if len(text.split()) != 5:
        raise Invalid(f"“{text[:60]}” is not a schedule", hint=f"Write {_FORMS}")
    try:
        CronSim(text, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        wrong = str(error).lower()
        raise Invalid(
            f"“{text[:60]}” is not a cron expression: {wrong}", hint=f"Write {_FORMS}"
        ) from None
    return text


def _local_moment(text: str, timezone: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Invalid(
            f"“{text[:60]}” is not a date and time", hint="Write it as at 2026-03-01T09:00"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone(timezone))
    return checked_moment(moment, "moment")


def _interval_after(interval: timedelta, moment: datetime, since: datetime) -> datetime | None:
    times = max((moment - since) // interval + 1, 1)
    try:
        return since + times * interval
    except OverflowError:
        return None


def _cron_after(cron: str, timezone: str, moment: datetime) -> datetime | None:
    """Find the next time of a cron expression.

    Where clocks are put back, the library may name a wall time of the hour that is over; then the
    one after it is asked for.
    """
    try:
        found = CronSim(cron, moment.astimezone(zone(timezone)))
        for _ in range(_TRIES):
            due = next(found).astimezone(UTC)
            if due > moment:
                return due
    except (StopIteration, OverflowError, CronSimError):
        pass
    return None
