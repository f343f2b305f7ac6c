"""Sections: settings that belong together. Of each: its default, limits, help and an example.

What a setting must be follows from its type; where that is not enough, `must_be` says it. Help,
limits and default are written here alone: the reference, `threadline config`, the file that
`threadline init` writes and the web app show them from here.
"""

from collections.abc import Callable
from datetime import timedelta, tzinfo
from decimal import Decimal
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from threadline.core.address import Kind
from threadline.core.budget import CAP_LIMIT, CapKind, SpendCaps
from threadline.core.delivery import MAX_REPEATS
from threadline.core.errors import Invalid
from threadline.core.reset_policy import CARRY_LIMIT, Carry, ResetMode, ResetPolicy, zone
from threadline.core.retention import Retention
from threadline.core.route import Scopes, Sharing
from threadline.core.session import BusyMode, Origin
from threadline.core.validation import checked_id, checked_name, checked_text

YEAR = 31_536_000
"""Seconds."""
NAME_FORM = "1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit"

T = TypeVar("T")


def valid(check: Callable[[T], object]) -> AfterValidator:
    """Return a validator that refuses a value if `check` raises `Invalid`."""

    def validate(value: T) -> T:
        try:
            check(value)
        except Invalid as error:
            raise ValueError(str(error)) from error
        return value

    return AfterValidator(validate)


def must_be(words: str, **limits: Any) -> Any:
    """Say in words what a setting must be, beside what pydantic checks."""
    return Field(json_schema_extra={"must_be": words}, **limits)


Minutes = Annotated[int, Field(ge=1, le=52_560_000)]
Days = Annotated[int, Field(ge=1, le=36_500, examples=[365])]
Dollars = Annotated[Decimal, Field(ge=0, le=CAP_LIMIT, allow_inf_nan=False, examples=[20])]
Text = Annotated[str, valid(lambda text: checked_text(text, "setting"))]
Name = Annotated[str, valid(lambda name: checked_name(name, "name")), must_be(NAME_FORM)]
Zone = Annotated[
    str,
    valid(lambda name: zone(checked_id(name, "setting"))),
    must_be("the IANA name of a time zone, such as Europe/Berlin", examples=["Europe/Berlin"]),
]
CarryOver = Annotated[
    str,
    valid(lambda text: Carry.parse(checked_id(text, "setting"))),
    must_be(f"'nothing', 'summary' or 'last N messages' with N from 1 to {CARRY_LIMIT}"),
]


class Section(BaseModel):
    """Settings that belong together; a name that is not among them is a mistake."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Reset(Section):
    """One reset policy. It holds as a whole: nothing is taken from another one."""

    mode: ResetMode = Field(
        default=ResetMode.NONE,
        description="What ends a conversation automatically: nothing, a silence, a new day, "
        "whichever of both comes first, or both together.",
    )
    idle_minutes: Minutes = Field(
        default=1440, description="How long a silence ends a conversation, if the mode says so."
    )
    at_hour: int = Field(default=4, ge=0, le=23, description="The hour at which a new day starts.")
    timezone: Zone | None = Field(
        default=None,
        description="Decides when a new day starts; if empty, the time zone of this machine.",
    )
    notify: bool = Field(
        default=True, description="Whether the next reply says why a new conversation was started."
    )
    carry: CarryOver = Field(
        default="nothing", description="What the new conversation takes over from the previous one."
    )

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
    """When a new conversation starts by itself: by platform, else by kind, else as for all."""

    default: Reset = Reset()
    kinds: dict[Kind, Reset] = Field(
        default={},
        description="Policies by kind of place, each with the same settings as the default.",
        examples=[{"group": {"mode": "daily"}}],
    )
    platforms: dict[str, Reset] = Field(
        default={},
        description="Policies by platform, with the same settings; they override kinds.",
        examples=[{"telegram": {"mode": "idle"}}],
    )


GroupSharing = Annotated[
    Sharing,
    Field(description="Whether each group member has their own conversation, or all share one."),
]
ThreadSharing = Annotated[
    Sharing, Field(description="Whether each person in a thread has their own conversation.")
]


class PlatformSharing(Section):
    """How conversations are shared on one platform; what is not said is as everywhere."""

    groups: GroupSharing | None = None
    threads: ThreadSharing | None = None


class Shares(Section):
    """How conversations are shared, outside of threads and inside of them."""

    groups: GroupSharing = Sharing.MEMBER
    threads: ThreadSharing = Sharing.SHARED
    platforms: dict[str, PlatformSharing] = Field(
        default={},
        description="Groups and threads by platform; what is left out is as for all.",
        examples=[{"slack": {"groups": "shared"}}],
    )

    def on(self, platform: str) -> Scopes:
        """Answer how conversations are shared on a platform."""
        own = self.platforms.get(platform, PlatformSharing())
        return Scopes(groups=own.groups or self.groups, threads=own.threads or self.threads)


class BusyModes(Section):
    """What happens to a message that arrives while a turn runs."""

    default: BusyMode = Field(
        default=BusyMode.QUEUE,
        description="What happens to a message that arrives while a turn runs: it waits, joins the "
        "message that waits, stops the turn, or reaches the agent while it works.",
    )
    platforms: dict[str, BusyMode] = Field(
        default={},
        description="What happens to such a message, by platform.",
        examples=[{"telegram": "collect"}],
    )


class Deliveries(Section):
    """How replies are sent."""

    max_repeats: int = Field(
        default=MAX_REPEATS,
        ge=0,
        le=100,
        description="How often a reply is sent again because the program stopped while it was "
        "being sent; after that it fails, and you can resend it.",
    )


class Spend(Section):
    """How much may be spent, in US dollars; what is not said has no limit."""

    person_day: Dollars | None = Field(
        default=None, description="How much one person may spend in a day; a warning comes at 80%."
    )
    person_month: Dollars | None = Field(
        default=None, description="How much one person may spend in a month."
    )
    session: Dollars | None = Field(
        default=None, description="How much one conversation may cost in total."
    )
    day: Dollars | None = Field(
        default=None, description="How much everybody together may spend in a day."
    )
    month: Dollars | None = Field(
        default=None, description="How much everybody together may spend in a month."
    )
    timezone: Zone | None = Field(
        default=None,
        description="Decides when days and months start; if empty, the time zone of this machine.",
    )

    def caps(self, machine: tzinfo) -> SpendCaps:
        """Make the caps; without a time zone of their own their days are the machine's."""
        limits = {kind.value: getattr(self, kind) for kind in CapKind}
        own = machine if self.timezone is None else zone(self.timezone)
        return SpendCaps(**limits, timezone=own)


class Retain(Section):
    """How long conversations are kept, and how much of them; what is not said is kept for ever.

    The rule of the origin wins, then the platform's, then the kind's, then `days`.
    """

    days: Days | None = Field(
        default=None,
        description="How long a conversation is kept after its last activity; if empty, forever.",
    )
    origins: dict[Origin, Days] = Field(
        default={},
        description="Days by who started it: a person, a job or an import; overrides platforms.",
        examples=[{"job": 30}],
    )
    platforms: dict[str, Days] = Field(
        default={}, description="Days by platform; overrides kinds.", examples=[{"telegram": 90}]
    )
    kinds: dict[Kind, Days] = Field(
        default={},
        description="Days by kind of place; overrides retention.days.",
        examples=[{"group": 90}],
    )
    megabytes: int | None = Field(
        default=None,
        ge=1,
        le=10**9,
        description="How much space all messages and attachments may take; the longest silent "
        "conversations are removed first.",
        examples=[5000],
    )
    unbind_after_days: Days | None = Field(
        default=None,
        description="How long a chat may be silent before its next message starts a new "
        "conversation; the transcript is kept.",
    )

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
