"""A turn: one request being answered, and the table of what may become of it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import NewType

from msgspec import Struct

from threadline.core.errors import Conflict
from threadline.core.session import SessionId, checked_session_id
from threadline.core.validation import checked_count

TurnId = NewType("TurnId", int)
OwnerId = NewType("OwnerId", str)

LEASE = timedelta(seconds=60)
CLOCK_SLACK = timedelta(minutes=1)
"""A stored time that is so far in the future was written before the clock was set back."""
FRESHNESS = timedelta(seconds=3600)
MAX_ATTEMPTS = 3
QUEUE_CAP = 100
ANSWER_WITHIN = timedelta(hours=24)


class TurnState(StrEnum):
    """Where a turn stands."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"


class Awaits(StrEnum):
    """Who has to approve the tools that a turn asks about."""

    APPROVER = "approver"
    """An approver: the sender whose message it answers is none."""
    REQUESTER = "requester"
    """That sender may do so: the tools only read."""


TRANSITIONS: Mapping[TurnState, frozenset[TurnState]] = MappingProxyType(
    {
        TurnState.QUEUED: frozenset(
            {TurnState.RUNNING, TurnState.DONE, TurnState.FAILED, TurnState.STOPPED}
        ),
        TurnState.RUNNING: frozenset(
            {
                TurnState.QUEUED,
                TurnState.WAITING,
                TurnState.DONE,
                TurnState.FAILED,
                TurnState.STOPPED,
                TurnState.INTERRUPTED,
            }
        ),
        TurnState.WAITING: frozenset(
            {TurnState.RUNNING, TurnState.QUEUED, TurnState.STOPPED, TurnState.INTERRUPTED}
        ),
        TurnState.INTERRUPTED: frozenset({TurnState.QUEUED, TurnState.FAILED, TurnState.STOPPED}),
        TurnState.DONE: frozenset(),
        TurnState.FAILED: frozenset(),
        TurnState.STOPPED: frozenset(),
    }
)
"""What may follow each state; what is not here cannot happen.

queued → done is a message that a running turn took up by steering; running → queued is a claim
given back; waiting → queued is an answer to a turn whose worker let go of it.
"""

UNFINISHED = frozenset(state for state, nexts in TRANSITIONS.items() if nexts)
HELD = frozenset({TurnState.RUNNING, TurnState.WAITING})
"""At most one turn of a session is in one of these."""


def advance(now: TurnState, then: TurnState) -> TurnState:
    """Answer the next state, or refuse a step that the table does not know."""
    if then not in TRANSITIONS[now]:
        raise Conflict(f"A turn that is {now} cannot become {then}")
    return then


def checked_turn_id(value: object) -> TurnId:
    """Take what may be the id of a turn."""
    return TurnId(checked_count(value, "turn id"))


def is_over(until: datetime, lease: timedelta, now: datetime) -> bool:
    """Tell whether a lease has expired.

    One that ends too far ahead was given before the clock went back, and counts as expired too.
    """
    return until < now or until > now + 2 * lease


class Lease(Struct, frozen=True, kw_only=True):
    """The right to write for one running turn, until a moment, by one fencing token."""

    session_id: SessionId
    turn_id: TurnId
    fence: int
    until: datetime

    def __post_init__(self) -> None:
        """Refuse what was never given to anybody."""
        checked_session_id(self.session_id)
        checked_turn_id(self.turn_id)
        checked_count(self.fence, "fence")


class Turn(Struct, frozen=True, kw_only=True):
    """One request being answered."""

    id: TurnId
    session_id: SessionId
    state: TurnState
    attempts: int
    queued_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    first_seq: int | None
    owner: OwnerId | None
    lease_until: datetime | None
    question: str | None
    answer: str | None
    error: str | None
    answered_by: TurnId | None
    asks: tuple[str, ...] = ()
    """The tools that it asks leave for, while it waits."""
    awaits: Awaits | None = None
    """Who has to approve those tools; None: the settings say who."""
    asked_at: datetime | None = None
    """When it asked its question; it asks no two at the same moment."""
