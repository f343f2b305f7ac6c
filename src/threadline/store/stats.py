"""Stats: what a store has under way, for whoever looks after it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from threadline.core.errors import Invalid, NotFound
from threadline.core.session import SessionId
from threadline.core.turn import CLOCK_SLACK, OwnerId, TurnId
from threadline.core.validation import checked_id
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp

OVERDUE_AFTER = timedelta(minutes=5)
"""Work that is due for so long and has not begun is overdue."""
_ID_LENGTH = 24
_MOST = 5


class Tally(Struct, frozen=True, kw_only=True):
    """How many there are of something, and since when the oldest."""

    number: int
    oldest_at: datetime


class WorkKind(StrEnum):
    """What a gateway has to do."""

    DELIVERY = "delivery"
    TURN = "turn"
    JOB = "job"


class Overdue(Struct, frozen=True, kw_only=True):
    """Work that should have begun by now."""

    kind: WorkKind
    platform: str | None
    """Where deliveries are owed; other work belongs to no platform."""
    number: int
    since: datetime
    """When the oldest was due."""


class HeldLease(Struct, frozen=True, kw_only=True):
    """Who runs which turn, and until when."""

    turn_id: TurnId
    session_id: SessionId
    owner: OwnerId
    until: datetime


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What a store is and has under way."""

    engine: str
    schema: int
    sessions: int
    open_sessions: int
    turns: Mapping[str, Tally]
    deliveries: Mapping[str, Tally]
    leases: tuple[HeldLease, ...]


class _SessionCount(Struct, frozen=True, kw_only=True):
    """How many sessions there are, and how many of them are open."""

    number: int
    still_open: int


class _StateTally(Struct, frozen=True, kw_only=True):
    """How many turns or deliveries are in one state."""

    state: str
    tally: Tally


def diagnose(tx: Transaction) -> Diagnosis:
    """Look at what is there and what is under way."""
    sessions = expect(tx, "count_sessions", _SessionCount)
    return Diagnosis(
        engine=expect(tx, "read_engine", str),
        schema=expect(tx, "read_schema", int),
        sessions=sessions.number,
        open_sessions=sessions.still_open,
        turns={one.state: one.tally for one in tx.all("count_unfinished", _StateTally)},
        deliveries={one.state: one.tally for one in tx.all("count_owed", _StateTally)},
        leases=tuple(tx.all("list_leases", HeldLease)),
    )


def list_overdue(tx: Transaction) -> list[Overdue]:
    """List the work that is due for some minutes and has not begun."""
    before, latest = stamp(tx.now - OVERDUE_AFTER), stamp(tx.now + CLOCK_SLACK)
    return tx.all("list_overdue", Overdue, before=before, latest=latest)


def count_failed_hooks(tx: Transaction, since: datetime) -> int:
    """Count the endings since a time of which a hook could not be told."""
    return expect(tx, "count_failed_endings", int, since=stamp(since))


def count_undelivered(tx: Transaction, since: datetime) -> int:
    """Count the deliveries owed since a moment that never arrived."""
    return expect(tx, "count_undelivered", int, since=stamp(since))


def find_session(tx: Transaction, prefix: str) -> SessionId:
    """Find the one session whose id is, or begins, like this."""
    if not 0 < len(checked_id(prefix, "session id")) <= _ID_LENGTH:
        raise _unknown(prefix)
    escaped = prefix.replace("!", "!!").replace("_", "!_").replace("%", "!%")
    found = tx.all("find_by_prefix", SessionId, pattern=f"{escaped}%", most=_MOST)
    if len(found) > 1:
        shown = ", ".join(found[: _MOST - 1]) + (", …" if len(found) == _MOST else "")
        raise Invalid(f"Several sessions begin with {prefix!r}", hint=f"They are {shown}")
    if not found:
        raise _unknown(prefix)
    return found[0]


def _unknown(prefix: str) -> NotFound:
    shown = repr(prefix) if len(prefix) <= 60 else f"{prefix[:60]!r}…"
    return NotFound(f"No session is {shown}", hint="`threadline sessions list` shows them")
