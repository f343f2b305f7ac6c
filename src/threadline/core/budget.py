"""Budget: caps in US dollars, and whether a turn may still be paid for."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from decimal import Decimal
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from threadline.core.reset_policy import readings
from threadline.core.validation import checked_type, unfit

WARN_AT = Decimal("0.8")
"""The share of a cap from which on a warning is given."""
CAP_LIMIT = Decimal(10) ** 9
"""US dollars."""

_CENTS, _BILLIONTHS = 2, 9
"""Digits after the point; costs are stored in billionths of a dollar."""
_DAY = timedelta(days=1)


class CapKind(StrEnum):
    """What a cap is set on."""

    PERSON_DAY = "person_day"
    PERSON_MONTH = "person_month"
    SESSION = "session"
    DAY = "day"
    """All that the installation spends in a day."""
    MONTH = "month"


_NAMES = {
    CapKind.PERSON_DAY: "what you may spend in a day",
    CapKind.PERSON_MONTH: "what you may spend in a month",
    CapKind.SESSION: "what this conversation may cost",
    CapKind.DAY: "what may be spent here in a day",
    CapKind.MONTH: "what may be spent here in a month",
}


class Period(Struct, frozen=True, kw_only=True):
    """A day or a month by the clock of one time zone."""

    name: str
    begins_at: datetime
    ends_at: datetime


class SpendCaps(Struct, frozen=True, kw_only=True):
    """How much may be spent, in US dollars; None: as much as it takes.

    What a turn will cost is not known before, so a cap is passed by what runs when it is reached.
    """

    person_day: Decimal | None = None
    person_month: Decimal | None = None
    session: Decimal | None = None
    day: Decimal | None = None
    month: Decimal | None = None
    timezone: tzinfo | None = None
    """Whose days and months these are; None: those of the machine."""

    def __post_init__(self) -> None:
        """Refuse a cap that could not be held against any sum."""
        for kind in CapKind:
            cap = getattr(self, kind)
            if cap is not None and not (
                checked_type(cap, kind, Decimal).is_finite() and 0 <= cap <= CAP_LIMIT
            ):
                raise unfit(cap, kind, f"from 0 to {CAP_LIMIT:,} US dollars")
        if self.timezone is not None:
            checked_zone(self.timezone)

    def in_zone(self, machine: tzinfo) -> "SpendCaps":
        """Return the same caps with this time zone, unless they have one of their own."""
        return self if self.timezone is not None else replace(self, timezone=machine)

    @property
    def is_set(self) -> bool:
        """Whether there is any cap at all."""
        return any(True for _ in self.each())

    @property
    def is_personal(self) -> bool:
        """Whether a cap counts what one person spends."""
        return self.person_day is not None or self.person_month is not None

    def each(self) -> Iterator[tuple[CapKind, Decimal]]:
        """Walk over the caps that are set."""
        for kind in CapKind:
            cap: Decimal | None = getattr(self, kind)
            if cap is not None:
                yield kind, cap

    def period(self, kind: CapKind, now: datetime) -> Period | None:
        """Answer the day or month in which a cap counts; None: from the beginning on."""
        today = now.astimezone(self.timezone).date()
        if kind in {CapKind.PERSON_DAY, CapKind.DAY}:
            return self._period(f"{today:%Y-%m-%d}", today, today + _DAY)
        if kind in {CapKind.PERSON_MONTH, CapKind.MONTH}:
            first = today.replace(day=1)
            return self._period(f"{today:%Y-%m}", first, (first + 31 * _DAY).replace(day=1))
        return None

    def _period(self, name: str, first: date, end: date) -> Period:
        begins_at, ends_at = midnight(first, self.timezone), midnight(end, self.timezone)
        return Period(name=name, begins_at=begins_at, ends_at=ends_at)


def checked_zone(value: object) -> tzinfo:
    """Take a time zone."""
    if isinstance(value, tzinfo):
        return value
    raise unfit(value, "timezone", "a tzinfo, such as ZoneInfo('Europe/Berlin')")


def midnight(day: date, timezone: tzinfo | None) -> datetime:
    """Return the time at which a local day begins: the first midnight, or the end of its gap."""
    wall = datetime.combine(day, time(0))
    first, second = readings(wall, timezone)
    return first if first.astimezone(timezone).replace(tzinfo=None) == wall else second


class Spending(Struct, frozen=True, kw_only=True):
    """What was spent under one cap, so far."""

    kind: CapKind
    limit: Decimal
    spent: Decimal
    unpriced: int
    """Calls whose cost nobody knows; they count as nothing."""
    subject: str
    """Who or what the cap is on."""
    period: Period | None

    @property
    def is_refused(self) -> bool:
        """Whether nothing more may be spent."""
        return self.spent >= self.limit

    @property
    def is_warned(self) -> bool:
        """Whether the cap is near, or reached."""
        return self.spent >= self.limit * WARN_AT

    def sentence(self, timezone: tzinfo | None = UTC) -> str:
        """Return how much of the cap is spent, and when the next period begins."""
        reached = "has reached its limit" if self.is_refused else "is nearly used up"
        spent, limit = self._amounts()
        words = [f"{_NAMES[self.kind]} {reached}: ${spent} of ${limit}."]
        if self.period is not None:
            anew = self.period.ends_at.astimezone(timezone)
            words.append(f"It begins anew on {anew:%Y-%m-%d at %H:%M}.")
        if self.unpriced:
            words.append(f"What {self.unpriced} calls cost is not known; they count as nothing.")
        return " ".join(words)[:1].upper() + " ".join(words)[1:]

    def _amounts(self) -> tuple[str, str]:
        """Write both sums in cents, or finer where cents would show the wrong relation."""
        digits = _CENTS
        while digits < _BILLIONTHS and not self._is_shown_with(digits):
            digits += 1
        return _money(self.spent, digits), _money(self.limit, digits)

    def _is_shown_with(self, digits: int) -> bool:
        spent, limit = round(self.spent, digits), round(self.limit, digits)
        return limit == self.limit and (spent < limit) is (self.spent < self.limit)


def _money(amount: Decimal, digits: int = _CENTS) -> str:
    return f"{amount:,.{digits}f}"


class SpendVerdict(Struct, frozen=True, kw_only=True):
    """Whether a turn may be paid for, and what the person is told."""

    refused: Spending | None = None
    """The cap that is reached: nothing may be called."""
    warned: tuple[Spending, ...] = field(default=())
    """Caps that are near, and of which nobody was told yet in this period."""
