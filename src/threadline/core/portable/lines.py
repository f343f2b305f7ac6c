"""Lines: what was asked, said and spent in a session of an export."""

from dataclasses import dataclass
from datetime import datetime

from threadline.core.errors import Invalid
from threadline.core.message import Role
from threadline.core.portable.places import Place, SenderReference
from threadline.core.portable.words import Parts
from threadline.core.shape import Id
from threadline.core.text import unfit
from threadline.core.turn import UNFINISHED, TurnState
from threadline.core.usage import CostStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableTurn:
    """A turn, which has ended; its number counts the turns of its session from 1."""

    n: int
    state: TurnState
    place: Place | None = None
    """Where it was asked, if that is not the place of the session."""
    steers: int | None = None
    answered_by: int | None = None
    attempts: int = 0
    queued_at: datetime
    started_at: datetime | None = None
    interrupted_at: datetime | None = None
    ended_at: datetime
    first_seq: int | None = None
    question: str | None = None
    asked_at: datetime | None = None
    answer: str | None = None
    error: str | None = None

    def __post_init__(self) -> None:
        """Refuse a turn that somebody would go on with."""
        if self.state in UNFINISHED:
            raise unfit(self.state, "state", "done, failed or stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableRevision:
    """What a message said before."""

    version: int
    parts: Parts
    replaced_at: datetime
    at_revision: int
    """The revision of the session at which it began to read differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableMessage:
    """A line of the transcript; without a sequence number, a note that waits for the next turn."""

    seq: int | None = None
    turn: int | None = None
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


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableUsage:
    """What one call of a model spent."""

    turn: int | None = None
    sender: SenderReference | None = None
    at: datetime
    task: Id
    provider: Id
    model: Id
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    prompt_tokens: int
    cost: int | None = None
    """Billionths of a US dollar."""
    cost_status: CostStatus
