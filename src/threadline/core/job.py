"""A job: a prompt that is asked by itself, again and again or once, and where its answer goes."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NewType

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.core.access import AccessSponsor
from threadline.core.address import Address
from threadline.core.errors import Invalid
from threadline.core.message import Attachment, NewMessage, Part, Role, Text, say
from threadline.core.person import Identity
from threadline.core.revision import revision_of
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import (
    TITLE_LIMIT,
    checked_choice,
    checked_count,
    checked_text,
    clean_title,
    first_words,
)

JobId = NewType("JobId", int)

JOBS_LIMIT = 500
OWN_JOBS_LIMIT = 25
RUNS_KEPT = 100
PROMPT_LIMIT = 100_000
"""Characters."""
ORIGIN = "origin"
"""The target of a job that answers where it was made."""
MIRRORED = "This was said here by the scheduled job"
"""How the note begins that marks what a job has said."""


class MirrorMode(StrEnum):
    """Whether the answer of a run also becomes part of a conversation."""

    NONE = "none"
    """It stands in the session of its run alone."""
    TARGET = "target"
    """It is also recorded in the conversation that goes on at its target."""


class RunState(StrEnum):
    """Where a run of a job stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    """The run before it was not over."""


class NewJob(Struct, frozen=True, kw_only=True):
    """A job as somebody wants it; its name is that of the runs' sessions."""

    prompt: str
    schedule: str
    timezone: str = "UTC"
    target: str = ORIGIN
    mirror: MirrorMode = MirrorMode.NONE
    name: str = ""

    def __post_init__(self) -> None:
        """Refuse what nobody could be asked; without a name, the first words are the name."""
        if not checked_text(self.prompt, "prompt", PROMPT_LIMIT).strip():
            raise Invalid("A job needs something to ask", hint="Write the prompt after the time")
        force_setattr(self, "mirror", checked_choice(self.mirror, "mirror", MirrorMode))
        for field in ("schedule", "timezone", "target"):
            checked_text(getattr(self, field), field)
        checked_text(self.name, "name")
        name = clean_title(self.name, TITLE_LIMIT) or first_words(self.prompt)
        if not name:
            raise Invalid("A job needs a name with at least one visible character")
        force_setattr(self, "name", name)


class JobRun(Struct, frozen=True, kw_only=True):
    """One time that a job was due."""

    id: int
    state: RunState
    due_at: datetime
    started_at: datetime
    ended_at: datetime | None
    session_id: SessionId | None
    turn_id: TurnId | None
    why: str | None
    """Why it failed or was skipped, or which of its targets could not be had."""
    turn_state: TurnState | None = None
    """How far its turn is; None: it has none, or it was deleted."""

    @property
    def shown_state(self) -> str:
        """Its state as people read it: a run that nobody has taken up yet is waiting."""
        is_queued = self.state is RunState.RUNNING and self.turn_state is TurnState.QUEUED
        return "waiting" if is_queued else self.state.value


class Job(Struct, frozen=True, kw_only=True):
    """A prompt that is asked by itself."""

    id: JobId
    profile: str
    name: str
    prompt: str
    schedule: str
    timezone: str
    target: str
    mirror: MirrorMode
    address: Address | None
    """Where it was made; None: at the terminal."""
    maker: Identity | None
    """Who made it; None: the owner of the installation."""
    voucher: AccessSponsor | None
    """Who answered for them when they spoke last."""
    made_at: datetime
    paused_at: datetime | None
    next_at: datetime | None
    """When it is asked next; None: never again."""
    last_run: JobRun | None = None
    """The latest of its runs; None: there was none yet."""

    @property
    def revision(self) -> str:
        """Name the state that it is in: what somebody can change about it."""
        return revision_of(
            self.id,
            self.name,
            self.prompt,
            self.schedule,
            self.timezone,
            self.target,
            self.mirror.value,
            self.paused_at,
        )

    @property
    def needs_admin(self) -> bool:
        """Whether its maker has to be an admin, as its answers go elsewhere."""
        return self.maker is not None and self.target.strip().lower() != ORIGIN


def checked_job_id(value: object) -> JobId:
    """Take what may be the number of a job."""
    return JobId(checked_count(value, "number of the job", 1))


def mirror_lines(name: str, answer: Sequence[Part]) -> list[NewMessage]:
    """Make the lines that a conversation gets of a job's answer: who said it, and what."""
    parts = tuple(part for part in answer if isinstance(part, Text | Attachment))
    if not parts:
        return []
    note = say(Role.SYSTEM, f"{MIRRORED} “{name}”; nobody here had asked for it just now:")
    return [note, NewMessage(role=Role.ASSISTANT, parts=parts)]
