"""Sections: settings that belong together, and what each of them must be."""

from collections.abc import Callable
from datetime import timedelta, tzinfo
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from threadline.core.address import Kind
from threadline.core.budget import CAP_LIMIT, CapKind, SpendCaps
from threadline.core.delivery import MAX_REPEATS
from threadline.core.errors import Invalid
from threadline.core.person import PeopleMode
from threadline.core.reset_policy import CARRY_LIMIT, Carry, ResetMode, ResetPolicy, zone
from threadline.core.retention import Retention
from threadline.core.route import Scopes, Sharing
from threadline.core.session import BusyMode, Origin
from threadline.core.settings import EditMode
from threadline.core.validation import checked_id

_YEAR = 31_536_000

# What each setting must be stands beside it: an error tells it.
Flag = Annotated[bool, Field(description="true or false")]
Hour = Annotated[int, Field(ge=0, le=23, description="a whole number from 0 to 23")]
Minutes = Annotated[int, Field(ge=1, le=52_560_000, description="a whole number from 1 on")]
Lease = Annotated[int, Field(ge=1, le=_YEAR, description="a whole number of seconds, from 1 on")]
Drain = Annotated[int, Field(ge=0, le=_YEAR, description="a whole number of seconds, from 0 on")]
Freshness = Annotated[
    int, Field(ge=-_YEAR, le=_YEAR, description="a whole number of seconds; 0 means always fresh")
]
Mode = Annotated[ResetMode, Field(description=f"one of {', '.join(ResetMode)}")]
Share = Annotated[Sharing, Field(description=f"one of {', '.join(Sharing)}")]
Busy = Annotated[BusyMode, Field(description=f"one of {', '.join(BusyMode)}")]
Edits = Annotated[EditMode, Field(description=f"one of {', '.join(EditMode)}")]
_DOLLARS = f"a number of US dollars from 0 to {CAP_LIMIT:,}"
Dollars = Annotated[Decimal, Field(ge=0, le=CAP_LIMIT, allow_inf_nan=False)]
_DAYS = "a whole number of days, from 1 to 36,500"
Days = Annotated[int, Field(ge=1, le=36_500, description=_DAYS)]
Megabytes = Annotated[int, Field(ge=1, le=10**9, description="a whole number from 1 on")]
Repeats = Annotated[int, Field(ge=0, le=100, description="a whole number from 0 to 100")]
People = Annotated[PeopleMode, Field(description=f"one of {', '.join(PeopleMode)}")]


class Section(BaseModel):
    """Settings that belong together; a name that is not among them is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Reset(Section):
    """One reset policy. It holds as a whole: nothing is taken from another one."""

    mode: Mode = ResetMode.NONE
    idle_minutes: Minutes = 1440
    at_hour: Hour = 4
    timezone: str | None = Field(
        default=None, description="the IANA name of a time zone, such as Europe/Berlin"
    )
    notify: Flag = True
    carry: str = Field(
        default="nothing",
        description=f"'nothing', 'summary' or 'last N messages' with N from 1 to {CARRY_LIMIT}",
    )

    @field_validator("timezone", "carry")
    @classmethod
    def _can_be_read(cls, text: str | None, about: ValidationInfo) -> str | None:
        if text is not None:
            tried(zone if about.field_name == "timezone" else Carry.parse, text)
        return text

    def policy(self, machine: tzinfo) -> ResetPolicy:
        """Make the policy; without a time zone of its own it lives in the machine's."""
        return ResetPolicy(
            mode=self.mode,
            idle=timedelta(minutes=self.idle_minutes),
            at_hour=self.at_hour,
            timezone=machine if self.timezone is None else zone(self.timezone),
            notify=self.notify,
            carry=Carry.parse(self.carry),
        )


class Resets(Section):
    """Which reset policy holds where: the platform's, else the kind's, else the default."""

    default: Reset = Reset()
    kinds: dict[Kind, Reset] = Field(default={}, description=f"one of {', '.join(Kind)}")
    platforms: dict[str, Reset] = Field(default={}, description="tables named after platforms")


class PlatformSharing(Section):
    """How conversations are shared on one platform; what is not said is as everywhere."""

    groups: Share | None = Field(default=None, description=f"one of {', '.join(Sharing)}")
    threads: Share | None = Field(default=None, description=f"one of {', '.join(Sharing)}")


class Shares(Section):
    """How conversations are shared, outside of threads and inside of them."""

    groups: Share = Sharing.MEMBER
    threads: Share = Sharing.SHARED
    platforms: dict[str, PlatformSharing] = Field(
        default={}, description="tables named after platforms"
    )

    def on(self, platform: str) -> Scopes:
        """Answer how conversations are shared on a platform."""
        own = self.platforms.get(platform, PlatformSharing())
        return Scopes(groups=own.groups or self.groups, threads=own.threads or self.threads)


class BusyModes(Section):
    """What becomes of messages that arrive while a turn runs."""

    default: Busy = BusyMode.QUEUE
    platforms: dict[str, Busy] = Field(default={}, description=f"one of {', '.join(BusyMode)}")


class Deliveries(Section):
    """How replies are sent."""

    max_repeats: Repeats = MAX_REPEATS


class Spend(Section):
    """How much may be spent, in US dollars; what is not said has no limit."""

    person_day: Dollars | None = Field(default=None, description=_DOLLARS)
    person_month: Dollars | None = Field(default=None, description=_DOLLARS)
    session: Dollars | None = Field(default=None, description=_DOLLARS)
    day: Dollars | None = Field(default=None, description=_DOLLARS)
    month: Dollars | None = Field(default=None, description=_DOLLARS)
    timezone: str | None = Field(
        default=None, description="the IANA name of a time zone, such as Europe/Berlin"
    )

    @field_validator("timezone")
    @classmethod
    def _can_be_read(cls, text: str | None) -> str | None:
        if text is not None:
            tried(zone, text)
        return text

    def caps(self, machine: tzinfo) -> SpendCaps:
        """Make the caps; without a time zone of their own their days are the machine's."""
        limits = {kind.value: getattr(self, kind) for kind in CapKind}
        own = machine if self.timezone is None else zone(self.timezone)
        return SpendCaps(**limits, timezone=own)


class Retain(Section):
    """How long conversations are kept, and how much of them; what is not said is kept for ever.

    The rule of the origin wins, then the platform's, then the kind's, then `days`.
    """

    days: Days | None = Field(default=None, description=_DAYS)
    origins: dict[Origin, Days] = Field(default={}, description=_DAYS)
    platforms: dict[str, Days] = Field(default={}, description=_DAYS)
    kinds: dict[Kind, Days] = Field(default={}, description=_DAYS)
    megabytes: Megabytes | None = Field(default=None, description="a whole number from 1 on")
    unbind_after_days: Days | None = Field(default=None, description=_DAYS)

    def retention(self) -> Retention:
        """Make the rules."""

        def span(days: int | None) -> timedelta | None:
            return None if days is None else timedelta(days=days)

        return Retention(
            keep=span(self.days),
            by_origin={one: timedelta(days=days) for one, days in self.origins.items()},
            by_platform={one: timedelta(days=days) for one, days in self.platforms.items()},
            by_kind={one: timedelta(days=days) for one, days in self.kinds.items()},
            most_bytes=None if self.megabytes is None else self.megabytes * 1_000_000,
            unbind_after=span(self.unbind_after_days),
        )


def tried(read: Callable[[str], object], text: str) -> None:
    """Let pydantic know in its own way that a text cannot be read."""
    try:
        read(checked_id(text, "setting"))
    except Invalid as error:
        raise ValueError(str(error)) from error
