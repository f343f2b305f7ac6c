"""Session list: which ones are shown, in what order, and what a row says of each."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NewType

from msgspec import Struct, field
from msgspec.structs import force_setattr

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.message import Role
from threadline.core.person import Identity, PersonKey, checked_person_key
from threadline.core.session import Origin, ProjectKey, Session, SessionId, checked_project_key
from threadline.core.turn import TurnState
from threadline.core.validation import (
    COUNT_LIMIT,
    checked_choice,
    checked_flag,
    checked_id,
    checked_moment,
    checked_type,
)

ListCursor = NewType("ListCursor", str)
"""A place in a list. It holds for the same filter only."""

OWNER = "owner"
"""The reader whose marks are looked at where none is named."""
WORDS_LIMIT = 200
"""Characters."""
SPEAKERS_LIMIT = 5

_CURSOR = re.compile(r"([pr])\.(-?\d{1,19})\.(\d{1,19})", re.ASCII)


class ListSection(StrEnum):
    """Which part of a profile's sessions a list is about."""

    SIDEBAR = "sidebar"
    """Neither archived nor scheduled."""
    ARCHIVED = "archived"
    SCHEDULED = "scheduled"
    """Runs of jobs that are not archived."""
    ALL = "all"


class SessionFilter(Struct, frozen=True, kw_only=True):
    """What a session must be in order to be listed; what is None is not asked.

    A project or a person is found by an index. Everything else is looked for from the latest
    activity on, so what few sessions have takes as long as looking at all of them.
    """

    shelf: ListSection = ListSection.SIDEBAR
    platform: str | None = None
    kind: Kind | None = None
    origin: Origin | None = None
    project: ProjectKey | None = None
    person: PersonKey | None = None
    """Whose conversation it is: any sender of this person."""
    sender: Identity | None = None
    """The same, by any id of that person."""
    is_pinned: bool | None = None
    is_unread: bool | None = None
    is_ended: bool | None = None
    has_worktree: bool | None = None
    active_since: datetime | None = None
    title: str | None = None
    """Words that stand in the title. Only A to Z may be written large or small."""
    with_empty: bool = False
    """Also those without title and lines that have nothing to do and no worktree."""

    def __post_init__(self) -> None:
        """Refuse what no session could ever be."""
        for name, check in _CHECKS.items():
            value = getattr(self, name)
            if value is not None:
                force_setattr(self, name, check(value, name))
        checked_choice(self.shelf, "shelf", ListSection)
        checked_flag(self.with_empty, "with_empty")
        if self.title is not None and not self.title.strip():
            raise Invalid("There are no words to look for in titles")
        if self.person is not None and self.sender is not None:
            raise Invalid("A list is of a person or of a sender, not of both")


_CHECKS: dict[str, Callable[[object, str], object]] = {
    "shelf": lambda value, name: checked_choice(value, name, ListSection),
    "platform": checked_id,
    "kind": lambda value, name: checked_choice(value, name, Kind),
    "origin": lambda value, name: checked_choice(value, name, Origin),
    "project": lambda value, _: checked_project_key(value),
    "person": lambda value, _: checked_person_key(value),
    "sender": lambda value, name: checked_type(value, name, Identity),
    "is_pinned": checked_flag,
    "is_unread": checked_flag,
    "is_ended": checked_flag,
    "has_worktree": checked_flag,
    "active_since": checked_moment,
    "title": checked_id,
}
"""How each field is looked at, if it is given."""


class Speaker(Struct, frozen=True, kw_only=True):
    """Who said the last words of a session."""

    role: Role
    name: str | None
    """None: nobody knows, or it was the agent."""


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session as a list shows it. The latest of several continuations stands for all of them."""

    session: Session
    label: str
    """Where it takes place, as a person would call it."""
    people: tuple[str, ...]
    """Who spoke last, at most five names."""
    people_count: int
    """How many spoke: of the owner's own conversation one, else among the latest hundred lines."""
    last_words: str | None
    last_speaker: Speaker | None
    """Who said them; None: there are none."""
    held: TurnState | None
    """The state of the turn it has under way, if there is one."""
    queued: int
    """How many turns wait."""
    project_name: str | None
    is_unread: bool
    has_draft: bool
    has_failed_delivery: bool
    """What was last said to its people did not reach all of them, and was not tried again."""

    @property
    def needs_you(self) -> bool:
        """Whether a turn waits for a person's answer, or people do for whoever has taken over."""
        is_asked = self.last_speaker is not None and self.last_speaker.role is Role.USER
        is_theirs = self.session.taken_at is not None and self.is_unread and is_asked
        return self.held is TurnState.WAITING or is_theirs

    @property
    def is_read_only(self) -> bool:
        """Whether it was brought in from elsewhere, and can only be gone on with as a branch."""
        return self.session.is_read_only


class SessionPage(Struct, frozen=True, kw_only=True):
    """A page of a list, and where the next one begins."""

    rows: Sequence[SessionRow]
    next: ListCursor | None


class SessionCounts(Struct, frozen=True, kw_only=True):
    """How many sessions there are of each sort. All but the last two are of the sidebar."""

    total: int
    unread: int
    pinned: int
    by_platform: Mapping[str, int] = field(default_factory=dict)
    by_project: Mapping[ProjectKey, int] = field(default_factory=dict)
    archived: int
    scheduled: int


class ListPosition(Struct, frozen=True, kw_only=True):
    """How far a walk through a list has come: among the pinned ones first, then the rest."""

    is_pinned: bool
    at: int = COUNT_LIMIT
    key: int = COUNT_LIMIT

    def cursor(self) -> ListCursor:
        """Write it down for whoever walks on."""
        return ListCursor(f"{'p' if self.is_pinned else 'r'}.{self.at}.{self.key}")


def parse_position(cursor: ListCursor | None) -> ListPosition:
    """Read where a walk goes on; None: at the beginning."""
    if cursor is None:
        return ListPosition(is_pinned=True)
    found = _CURSOR.fullmatch(checked_type(cursor, "page", str))
    if found is not None:
        at, key = int(found.group(2)), int(found.group(3))
        if abs(at) <= COUNT_LIMIT and key <= COUNT_LIMIT:
            return ListPosition(is_pinned=found.group(1) == "p", at=at, key=key)
    raise Invalid(
        f"{cursor[:40]!r} is no place in a list", hint="Give what the page before called the next"
    )


class BatchOutcome(Struct, frozen=True, kw_only=True):
    """What became of one session of several that something was to be done with."""

    id: SessionId
    error: str | None = None
    """Why nothing was done with this one."""
