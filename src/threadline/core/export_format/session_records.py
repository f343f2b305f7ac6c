"""Sessions of an export: turns, messages, usage, hidden ranges and read marks."""

from datetime import datetime

from msgspec import Struct

from threadline.core.errors import Invalid
from threadline.core.export_format.field_types import Parts, ProjectName, Title, checked_line
from threadline.core.export_format.file_records import (
    ExportedLine,
    PortableAddress,
    SenderReference,
)
from threadline.core.hidden_range import HiddenRangeKind
from threadline.core.json_codec import Count, Id, Key
from threadline.core.message import Role
from threadline.core.project import PROJECT_NAME_LIMIT
from threadline.core.session import (
    BusyMode,
    Cause,
    EndReason,
    ModelChoice,
    Origin,
    SessionReference,
    TitleSource,
    Worktree,
)
from threadline.core.turn import UNFINISHED, TurnState
from threadline.core.usage import CostStatus
from threadline.core.validation import TITLE_LIMIT, unfit


class PortableTurn(ExportedLine, frozen=True, kw_only=True, tag="turn"):
    """A turn, which has ended; its number counts the turns of its session from 1."""

    n: Count
    state: TurnState
    place: PortableAddress | None = None
    """Where it was asked, if that is not the place of the session."""
    steers: Count | None = None
    answered_by: Count | None = None
    attempts: Count = 0
    queued_at: datetime
    started_at: datetime | None = None
    interrupted_at: datetime | None = None
    ended_at: datetime
    first_seq: Count | None = None
    question: str | None = None
    asked_at: datetime | None = None
    answer: str | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        """Refuse a turn that somebody would go on with."""
        if self.state in UNFINISHED:
            raise unfit(self.state, "state", "done, failed or stopped")


class PortableRevision(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What a message said before."""

    version: Count
    parts: Parts
    replaced_at: datetime
    at_revision: Count
    """The revision of the session at which it began to read differently."""


class PortableMessage(ExportedLine, frozen=True, kw_only=True, tag="message"):
    """A line of the transcript; without a sequence number, a note that waits for the next turn."""

    seq: Count | None = None
    turn: Count | None = None
    role: Role
    sender: SenderReference | None = None
    parts: Parts
    at: datetime
    arrived_at: datetime | None = None
    """When it arrived, if that was noticeably after it was written."""
    changed_at: datetime | None = None
    deleted_at: datetime | None = None
    revisions: tuple[PortableRevision, ...] = ()

    def __post_init__(self) -> None:
        """Refuse revisions out of order."""
        versions = [revision.version for revision in self.revisions]
        if versions != sorted(set(versions)):
            raise Invalid("The revisions of a message stand in their order")


class PortableUsage(ExportedLine, frozen=True, kw_only=True, tag="usage"):
    """What one call of a model spent."""

    turn: Count | None = None
    sender: SenderReference | None = None
    at: datetime
    task: Id
    provider: Id
    model: Id
    input_tokens: Count
    output_tokens: Count
    cache_read_tokens: Count
    cache_write_tokens: Count
    reasoning_tokens: Count
    prompt_tokens: Count
    cost: Count | None = None
    """Billionths of a US dollar."""
    cost_status: CostStatus


CUTS_LIMIT = 10_000


class SharedHistory(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The session whose lines a branch shows up to a place, as they were at one revision."""

    session: SessionReference
    seq: Count
    revision: Count


class PortableCut(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """A stretch of the transcript that is hidden, or was."""

    from_seq: Count
    to_seq: Count
    kind: HiddenRangeKind
    summary: str | None = None
    user_messages: Count = 0
    made_at: datetime
    lifted_at: datetime | None = None
    lifted_by: Count | None = None
    """Which cut of this list lifted it, counted from 1."""

    def __post_init__(self) -> None:
        """Refuse a stretch that ends before it begins, or a summary where none belongs."""
        if not 1 <= self.from_seq <= self.to_seq:
            raise Invalid(f"A cut cannot go from {self.from_seq} to {self.to_seq}")
        if (self.kind is HiddenRangeKind.COMPACTED) is (self.summary is None):
            raise Invalid("A compaction has a summary, and other cuts have none")


class ReadMark(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How far somebody has read."""

    reader: Id
    seq: Count
    at: datetime


class PortableSession(ExportedLine, frozen=True, kw_only=True, tag="session"):
    """A session; its senders, turns, messages and usage follow it, in this order."""

    id: SessionReference
    profile: Id
    place: PortableAddress
    owner: SenderReference | None = None
    """Whose it is; None: everybody's in its chat."""
    parent: SessionReference | None = None
    """The session before it, if this file has it."""
    base: SharedHistory | None = None
    cause: Cause
    origin: Origin
    native_source: Id | None = None
    native_id: Id | None = None
    opened_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None = None
    end_reason: EndReason | None = None
    suspended_at: datetime | None = None
    notice: Cause | None = None
    told_at: datetime | None = None
    title: Title | None = None
    titled_by: TitleSource | None = None
    summary: str | None = None
    choice: ModelChoice | None = None
    busy_mode: BusyMode | None = None
    personality: str | None = None
    tools: tuple[str, ...] | None = None
    workspace: str | None = None
    worktree: Worktree | None = None
    project: ProjectName | None = None
    pinned_at: datetime | None = None
    archived_at: datetime | None = None
    last_seq: Count
    user_messages: Count
    revision: Key
    interruptions: Count = 0
    excerpt: bool = False
    """Whether it is here only because a branch shows its beginning; the rest is left out."""
    cuts: tuple[PortableCut, ...] = ()
    marks: tuple[ReadMark, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a session that contradicts itself."""
        if (self.ended_at is None) is not (self.end_reason is None):
            raise Invalid("A session that has ended says when and why")
        if (self.title is None) is not (self.titled_by is None):
            raise Invalid("A title says who gave it")
        if (self.native_source is None) is not (self.native_id is None):
            raise Invalid("A native id says of which source it is")
        if self.base is not None and self.base.seq > self.last_seq:
            raise Invalid("A branch cannot end before the place where it left its base")
        if self.title is not None:
            checked_line(self.title, "title", TITLE_LIMIT)
        if self.project is not None:
            checked_line(self.project, "project", PROJECT_NAME_LIMIT)
        self._check_lists()

    def _check_lists(self) -> None:
        if len(self.cuts) > CUTS_LIMIT:
            raise Invalid(f"A session has at most {CUTS_LIMIT:,} cuts, not {len(self.cuts):,}")
        for n, cut in enumerate(self.cuts, start=1):
            if cut.to_seq > self.last_seq:
                raise Invalid(f"Cut {n} ends at {cut.to_seq}, after the last line")
            if cut.lifted_by is not None and not 1 <= cut.lifted_by <= len(self.cuts):
                raise Invalid(f"Cut {n} was lifted by cut {cut.lifted_by}, which is not there")
        if len({mark.reader for mark in self.marks}) != len(self.marks):
            raise Invalid("A reader has one mark in a session")
        if any(mark.seq > self.last_seq for mark in self.marks):
            raise Invalid("A mark cannot be after the last line")
