"""A session: one stretch of conversation with one context."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, NewType, TypeAlias
from urllib.parse import urlsplit

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.revision import revision_of
from threadline.core.validation import (
    checked_count,
    checked_id,
    checked_moment,
    checked_text,
    unfit,
)

SessionId = NewType("SessionId", str)
SESSION_ID_PATTERN = "^[0-9]{8}_[0-9]{6}_[0-9a-f]{8}$"
SessionReference: TypeAlias = Annotated[SessionId, Meta(pattern=SESSION_ID_PATTERN)]
"""A session id, as text from outside may name it."""
ProjectKey = NewType("ProjectKey", int)

TOOLS_LIMIT = 256
PATH_LIMIT = 4096
"""Characters."""

_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]|\\\\[^\\]")
"""A path from the root, from a drive, or from a share."""
_SESSION_ID = re.compile(SESSION_ID_PATTERN)


class Cause(StrEnum):
    """Why a session began."""

    FIRST = "first"
    """Nobody had spoken on this route before."""
    NEW = "new"
    """Somebody asked for a new one."""
    IDLE = "idle"
    """The one before it had been silent for too long."""
    DAILY = "daily"
    """The day had turned."""
    SUSPENDED = "suspended"
    """The one before it was suspended after three interruptions in a row."""
    CLOSED = "closed"
    """The one before it had been closed."""
    BRANCH = "branch"
    """Somebody went another way from a place in the one before it."""
    CONTINUED = "continued"
    """It goes on with the same conversation: one row, one transcript."""
    PARTED = "parted"
    """The one before it was shared by two senders who are no longer one person."""
    BACKGROUND = "background"
    """Something was asked to be done beside the conversation."""


class EndReason(StrEnum):
    """Why a session ended."""

    NEW = "new"
    IDLE = "idle"
    DAILY = "daily"
    SUSPENDED = "suspended"
    CLOSED = "closed"
    SWITCHED = "switched"
    """Its route went on with another session."""
    LINKED = "linked"
    """Its person speaks in one conversation from now on, which is another one."""
    PARTED = "parted"
    """It was shared by two senders who are no longer one person."""


class Origin(StrEnum):
    """Who began a session."""

    PERSON = "person"
    JOB = "job"
    IMPORT = "import"


class TitleSource(StrEnum):
    """Who gave a session its title; a later one in this list wins over an earlier one."""

    FIRST_WORDS = "first_words"
    MODEL = "model"
    PERSON = "person"


class BusyMode(StrEnum):
    """What becomes of a message that arrives while a turn runs."""

    QUEUE = "queue"
    """It waits for its own turn."""
    COLLECT = "collect"
    """It joins the others that wait, and they become one turn."""
    INTERRUPT = "interrupt"
    """The running turn stops, its partial output is kept, and this one is next."""
    STEER = "steer"
    """It is given to the running agent at its next step, or waits if there is none."""


class ModelChoice(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """The model a session was told to use, without any credential."""

    model: str
    provider: str | None = None
    base_url: str | None = None

    def __post_init__(self) -> None:
        """Refuse an address that carries a user, a password or a key."""
        for name in ("model", "provider", "base_url"):
            value = getattr(self, name)
            if value is not None:
                checked_id(value, name.replace("_", " "))
        if not self.model:
            raise Invalid("A model choice needs the name of a model")
        if self.base_url is not None:
            _refuse_credentials(self.base_url)


class Worktree(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A working copy of a repository that a session has for itself."""

    path: str
    branch: str
    repository: str
    at: datetime
    """Since when."""

    def __post_init__(self) -> None:
        """Refuse paths that do not say where they lead, and a moment without a time zone."""
        checked_folder(self.path, "path")
        checked_folder(self.repository, "repository")
        if not checked_id(self.branch, "branch"):
            raise Invalid("A worktree is of a branch, and that has a name")
        force_setattr(self, "at", checked_moment(self.at, "at"))


class Session(Struct, frozen=True, kw_only=True):
    """One stretch of conversation with one context."""

    id: SessionId
    profile: str
    platform: str
    kind: Kind
    parent_id: SessionId | None
    root_id: SessionId
    cause: Cause
    opened_at: datetime
    last_activity_at: datetime
    ended_at: datetime | None
    end_reason: EndReason | None
    suspended_at: datetime | None
    title: str | None
    titled_by: TitleSource | None
    choice: ModelChoice | None
    last_seq: int
    revision: int
    base_id: SessionId | None = None
    """The session whose history it shares, up to `base_seq`."""
    base_seq: int | None = None
    origin: Origin = Origin.PERSON
    user_messages: int = 0
    project: ProjectKey | None = None
    pinned_at: datetime | None = None
    archived_at: datetime | None = None
    busy_mode: BusyMode | None = None
    """What happens to a message that arrives while a turn runs; None: as on its platform."""
    personality: str | None = None
    tools: tuple[str, ...] | None = None
    """The tools it may use; None: those of its platform and profile."""
    workspace: str | None = None
    worktree: Worktree | None = None
    taken_at: datetime | None = None
    """Since when a person answers here instead of the agent; None: the agent does."""
    taken_by: str | None = None
    """Who has taken it over; None: nobody, or nobody knows their name."""

    @property
    def is_read_only(self) -> bool:
        """Whether it was imported, so that it can only be continued as a branch."""
        return self.origin is Origin.IMPORT

    @property
    def is_open(self) -> bool:
        """Whether the conversation can go on here without being reopened."""
        return self.ended_at is None and self.suspended_at is None

    @property
    def settings_revision(self) -> str:
        """Return the revision of everything that a client can edit, whatever is said meanwhile.

        Only a title that a person gave counts: a person's title replaces any other.
        """
        return revision_of(
            self.id,
            self.title if self.titled_by is TitleSource.PERSON else None,
            self.pinned_at,
            self.archived_at,
            self.project,
            self.choice,
            None if self.busy_mode is None else self.busy_mode.value,
            self.personality,
            self.tools,
            self.workspace,
        )

    @property
    def etag(self) -> str:
        """Return `<settings_revision>.<revision>`: edits compare the first part, deletion both."""
        return f"{self.settings_revision}.{self.revision}"


def _refuse_credentials(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise Invalid("The base URL cannot be read") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Invalid("The base URL must begin with http:// or https:// and name a host")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise Invalid(
            "The base URL carries more than an address",
            hint="Credentials belong into the environment, never into a session",
        )


def make_session_id(now: datetime, randomness: int) -> SessionId:
    """Name a session after its moment, so that ids are readable and sort by time."""
    return SessionId(f"{now.astimezone(UTC):%Y%m%d_%H%M%S}_{randomness & 0xFFFFFFFF:08x}")


def checked_session_id(value: object) -> SessionId:
    """Refuse what is no session id; one that passes cannot leave its folder."""
    if isinstance(value, str) and _SESSION_ID.fullmatch(value):
        return SessionId(value)
    # A number may be too long to be written at all.
    written = repr(value[:60]) if isinstance(value, str) else f"This {type(value).__name__}"
    raise Invalid(
        f"{written} is no session id",
        hint="Session ids look like 20260131_184500_0a1b2c3d",
    )


def checked_tools(tools: object) -> tuple[str, ...]:
    """Take the names of tools, each of them once."""
    if not isinstance(tools, Sequence) or isinstance(tools, str | bytes):
        raise unfit(tools, "tools", "a list of names")
    if len(tools) > TOOLS_LIMIT:
        raise Invalid(f"A session may be allowed {TOOLS_LIMIT} tools, not {len(tools)}")
    names = dict.fromkeys(checked_id(tool, "tool") for tool in tools)
    if not all(name.strip() for name in names):
        raise Invalid("A tool has a name")
    return tuple(names)


def checked_folder(path: object, what: str) -> str:
    """Take an absolute path that says plainly where it leads, on this system or another."""
    text = checked_text(path, what, PATH_LIMIT)
    if not _ABSOLUTE.match(text) or ".." in re.split(r"[/\\]", text):
        raise unfit(text, what, "an absolute path without '..'")
    return text


def checked_project_key(value: object) -> ProjectKey:
    """Take what may be the key of a project."""
    return ProjectKey(checked_count(value, "project", 1))


def checked_session_ids(values: object) -> list[SessionId]:
    """Take several session ids; one that does not stand in a list is a mistake."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise Invalid("This takes a list of session ids", hint="One alone stands in a list, too")
    return [checked_session_id(value) for value in values]


def cause_after(reason: EndReason) -> Cause:
    """Tell why the session after one that ended so begins."""
    return Cause.NEW if reason in {EndReason.SWITCHED, EndReason.LINKED} else Cause(reason.value)
