"""Sessions of an export, with what is hidden in them and how far they were read."""

from dataclasses import dataclass
from datetime import datetime

from threadline.core.cut import CutKind
from threadline.core.errors import Invalid
from threadline.core.portable.places import Place, SenderReference
from threadline.core.portable.words import ProjectName, Reference, Title
from threadline.core.session import Cause, EndReason, ModelChoice, Origin, TitleSource, Worktree
from threadline.core.shape import Id
from threadline.core.text import unfit
from threadline.core.turn import BusyMode

CUTS_LIMIT = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedHistory:
    """The session whose lines a branch shows up to a place, as they were at one revision."""

    session: Reference
    seq: int
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableCut:
    """A stretch of the transcript that is hidden, or was."""

    from_seq: int
    to_seq: int
    kind: CutKind
    summary: str | None = None
    user_messages: int = 0
    made_at: datetime
    lifted_at: datetime | None = None
    lifted_by: int | None = None
    """Which cut of this list lifted it, counted from 1."""

    def __post_init__(self) -> None:
        """Refuse a stretch that ends before it begins, or a summary where none belongs."""
        if not 1 <= self.from_seq <= self.to_seq:
            raise Invalid(f"A cut cannot go from {self.from_seq} to {self.to_seq}")
        if (self.kind is CutKind.COMPACTED) is (self.summary is None):
            raise Invalid("A compaction has a summary, and other cuts have none")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadMark:
    """How far somebody has read."""

    reader: Id
    seq: int
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableSession:
    """A session; its senders, turns, messages and usage follow it, in this order."""

    id: Reference
    profile: Id
    place: Place
    owner: SenderReference | None = None
    """Whose it is; None: everybody's in its chat."""
    parent: Reference | None = None
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
    last_seq: int
    user_messages: int
    revision: int
    interruptions: int = 0
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
        if self.revision < 1:
            raise unfit(self.revision, "revision", "at least 1")
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
