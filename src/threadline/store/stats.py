"""Stats: what a store has under way, for whoever looks after it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct

from threadline.core.errors import Invalid, NotFound
from threadline.core.session import SessionId
from threadline.core.turn import CLOCK_SLACK, OwnerId, TurnId
from threadline.core.validation import checked_id
from threadline.database.port import Row, Transaction, expect
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


def diagnose(tx: Transaction) -> Diagnosis:
    """Look at what is there and what is under way."""
    sessions = expect(tx, "count_sessions")
    return Diagnosis(
        engine=expect(tx, "read_engine").text("engine"),
        schema=expect(tx, "read_schema").number("number"),
        sessions=sessions.number("number"),
        open_sessions=sessions.number("still_open"),
        turns={row.text("state"): _tally(row) for row in tx.all("count_unfinished")},
        deliveries={row.text("state"): _tally(row) for row in tx.all("count_owed")},
        leases=tuple(_lease(row) for row in tx.all("list_leases")),
    )


def list_overdue(tx: Transaction) -> list[Overdue]:
    """List the work that is due for some minutes and has not begun."""
    before, latest = stamp(tx.now - OVERDUE_AFTER), stamp(tx.now + CLOCK_SLACK)
    return [
        Overdue(
            kind=row.choice("kind", WorkKind),
            platform=row.text_or_none("platform"),
            number=row.number("number"),
            since=row.moment("oldest_at"),
        )
        for row in tx.all("list_overdue", before=before, latest=latest)
    ]


def count_failed_hooks(tx: Transaction, since: datetime) -> int:
    """Count the endings since a time of which a hook could not be told."""
    return expect(tx, "count_failed_endings", since=stamp(since)).number("number")


def count_undelivered(tx: Transaction, since: datetime) -> int:
    """Count the deliveries owed since a moment that never arrived."""
    return expect(tx, "count_undelivered", since=stamp(since)).number("number")


def find_session(tx: Transaction, prefix: str) -> SessionId:
    """Find the one session whose id is, or begins, like this."""
    if not 0 < len(checked_id(prefix, "session id")) <= _ID_LENGTH:
        raise _unknown(prefix)
    escaped = prefix.replace("!", "!!").replace("_", "!_").replace("%", "!%")
    found = [row.text("id") for row in tx.all("find_by_prefix", pattern=f"{escaped}%", most=_MOST)]
    if len(found) > 1:
        shown = ", ".join(found[: _MOST - 1]) + (", …" if len(found) == _MOST else "")
        raise Invalid(f"Several sessions begin with {prefix!r}", hint=f"They are {shown}")
    if not found:
        raise _unknown(prefix)
    return SessionId(found[0])


def _unknown(prefix: str) -> NotFound:
    shown = repr(prefix) if len(prefix) <= 60 else f"{prefix[:60]!r}…"
    return NotFound(f"No session is {shown}", hint="`threadline sessions list` shows them")


def _tally(row: Row) -> Tally:
    return Tally(number=row.number("number"), oldest_at=row.moment("oldest_at"))


def _lease(row: Row) -> HeldLease:
    return HeldLease(
        turn_id=TurnId(row.number("id")),
        session_id=SessionId(row.text("session_id")),
        owner=OwnerId(row.text("owner")),
        until=row.moment("lease_until"),
    )
