"""Settings: those that decide what happens to a message."""

from collections.abc import Mapping
from datetime import timedelta, tzinfo
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from threadline.core.access import AccessRules, Approvers
from threadline.core.budget import SpendCaps
from threadline.core.delivery import MAX_REPEATS
from threadline.core.errors import Invalid
from threadline.core.person import PeopleMode
from threadline.core.reset_policy import Policies
from threadline.core.retention import Retention
from threadline.core.route import Scopes, canonical_profile
from threadline.core.session import BusyMode
from threadline.core.target import Target
from threadline.core.turn import ANSWER_WITHIN, FRESHNESS, LEASE, MAX_ATTEMPTS, QUEUE_CAP
from threadline.core.validation import checked_count, checked_span


class EditMode(StrEnum):
    """What an edit does to a turn that has begun."""

    NOTE = "note"
    """The agent sees a note at its next turn."""
    RERUN = "rerun"
    """If it was the last turn, it is run again."""


class Settings(Struct, frozen=True, kw_only=True):
    """Everything a verb must know of the configuration."""

    policies: Policies = field(default_factory=Policies)
    scopes: Scopes = field(default_factory=Scopes)
    scopes_by_platform: Mapping[str, Scopes] = field(default_factory=dict)
    busy: BusyMode = BusyMode.QUEUE
    busy_by_platform: Mapping[str, BusyMode] = field(default_factory=dict)
    edits: EditMode = EditMode.NOTE
    people: PeopleMode = PeopleMode.APART
    spend: SpendCaps = field(default_factory=SpendCaps)
    retention: Retention = field(default_factory=Retention)
    lease: timedelta = LEASE
    freshness: timedelta = FRESHNESS
    """How long an interrupted turn may be resumed; zero or less: always."""
    max_attempts: int = MAX_ATTEMPTS
    max_repeats: int = MAX_REPEATS
    """How often a reply is sent again that a crash interrupted."""
    queue_cap: int = QUEUE_CAP
    answer_within: timedelta = ANSWER_WITHIN
    approvers: Approvers = field(default_factory=Approvers)
    approvers_by_profile: Mapping[str, Approvers] = field(default_factory=dict)
    access: AccessRules | None = None
    """By which ranks are checked again when an approval is stored; None: the caller has done so."""
    homes: Mapping[str, Target] = field(default_factory=dict)
    """Where unasked messages go, by platform, until somebody says otherwise there."""
    models: tuple[str, ...] = ()
    """The names that /model offers; with none, any name may be chosen."""

    def __post_init__(self) -> None:
        """Refuse numbers with which nothing could ever run."""
        if checked_span(self.lease, "lease") <= timedelta(0):
            raise Invalid(f"A lease of {self.lease} would be over before it began")
        checked_count(self.max_attempts, "max_attempts", 1)
        checked_count(self.max_repeats, "max_repeats")
        checked_count(self.queue_cap, "queue_cap", 1)

    def in_zone(self, machine: tzinfo) -> "Settings":
        """Return the same rules with this time zone where they name none."""
        policies, spend = self.policies.in_zone(machine), self.spend.in_zone(machine)
        return replace(self, policies=policies, spend=spend)

    def scopes_for(self, platform: str) -> Scopes:
        """Answer how conversations are shared on a platform."""
        return self.scopes_by_platform.get(platform, self.scopes)

    def busy_for(self, platform: str) -> BusyMode:
        """Answer what becomes of messages that arrive while a turn runs there."""
        return self.busy_by_platform.get(platform, self.busy)

    def approvers_for(self, profile: str) -> Approvers:
        """Return who may approve tools that change something, in a profile."""
        return self.approvers_by_profile.get(canonical_profile(profile), self.approvers)

    def is_fresh(self, age: timedelta) -> bool:
        """Tell whether something of this age may still be taken up again."""
        return self.freshness <= timedelta(0) or age < self.freshness
