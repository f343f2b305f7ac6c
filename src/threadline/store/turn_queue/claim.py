"""Claiming: a worker takes the next turn under a lease and keeps the lease alive.

A turn that is too old is not run: it is closed with a marker, and its sender is told once.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict

from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.session import Cause, EndReason, SessionId
from threadline.core.settings import Settings
from threadline.core.system_notes import expired
from threadline.core.turn import Lease, OwnerId, Turn, TurnId
from threadline.core.validation import checked_name
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.formatting import span
from threadline.store.gateways import downtime
from threadline.store.session_writer import SessionState, SessionWriter, write_session
from threadline.store.sessions.reset_check import find_reset_cause
from threadline.store.sessions.session_end import end_open_session
from threadline.store.turns.terminate import expire_turns, place_messages

_TRIES = 10
_EXPIRED_AT_ONCE = 20
_NO_LAST_ATTEMPT = 2**31


class TurnClaim(Struct, frozen=True, kw_only=True):
    """A turn that is ours to run, and the lease that proves it."""

    turn: Turn
    lease: Lease
    profile: str
    platform: str
    """Of its session."""
    asker: str = ""
    """Whose turn it is, where any session was claimed: a person, a sender or a shared chat."""

    @property
    def is_resumed(self) -> bool:
        """Whether the turn had been begun before, and was cut off."""
        return self.turn.attempts > 1


class _NextSession(SessionState, frozen=True, kw_only=True):
    """The session in which a turn has waited longest."""

    asker: str


class _PassedSession(Struct, frozen=True, kw_only=True):
    """A session in which a turn waits, and that another process holds."""

    key: int
    asker: str


class _NextTurn(Struct, frozen=True, kw_only=True):
    """A turn that waits for nothing but a worker."""

    id: TurnId
    queued_at: datetime
    written_at: datetime | None


class _StartedTurn(Struct, frozen=True, kw_only=True):
    """A turn that was begun, and the fencing token of its lease."""

    turn: Turn
    fence: int


class Expired(Struct, frozen=True, kw_only=True):
    """A claim that only closed turns which were too old; claim again."""

    turn_ids: tuple[TurnId, ...]


def claim(
    tx: Transaction,
    *,
    owner: OwnerId,
    served_at: datetime,
    session_id: SessionId | None = None,
    full: Collection[str] = (),
    crowding: Collection[str] = (),
) -> TurnClaim | Expired | None:
    """Take the turn that has waited longest, of one session or of all; None if there is none.

    Turns of the profiles in `full` and of the askers in `crowding` are passed over. The messages of
    a claimed turn get their places in the transcript now, so that the messages of one turn are
    consecutive. Turns on the way that are too old are closed; if they are many, `Expired` is
    returned to keep the transaction short. The age of turns is judged by `served_at`, when this
    process recorded that it serves.
    """
    if session_id is not None:
        return _start(write_session(tx, session_id), owner, served_at)
    passing = "".join(f" {checked_name(profile, 'profile')} " for profile in full)
    choice: dict[str, SqlValue] = {
        "full": passing,
        "crowding": "".join(f"|{asker}|" for asker in crowding),
        "owner": owner,
        "last": _last_attempt(tx.settings),
    }
    closed: list[TurnId] = []
    tries = 0
    # Another process may be quicker between the look and the lock; then the next one is tried.
    while tries < _TRIES and len(closed) < _EXPIRED_AT_ONCE:
        next_one = tx.one("lock_next_session", _NextSession, **choice)
        if next_one is None:
            next_one = _await_passed(tx, choice)
        if next_one is None:
            break
        found = _start(SessionWriter(tx, next_one), owner, served_at, next_one.asker)
        if isinstance(found, TurnClaim):
            return found
        if found is None:
            tries += 1
        else:
            closed += found.turn_ids
    return Expired(turn_ids=tuple(closed)) if closed else None


def _last_attempt(rules: Settings) -> int:
    """Return the number of interruptions after which the next attempt is the last one."""
    return rules.max_attempts - 1 or _NO_LAST_ATTEMPT


def _await_passed(tx: Transaction, choice: Mapping[str, SqlValue]) -> _NextSession | None:
    """Wait for a session that was passed over because another process holds it.

    That process may change nothing, and then no event reports that its turn still waits.
    """
    passed = tx.one("find_passed_session", _PassedSession, **choice)
    if passed is None:
        return None
    locked = tx.one("lock_session_by_key", SessionState, key=passed.key)
    return None if locked is None else _NextSession(**asdict(locked), asker=passed.asker)


def _start(
    writer: SessionWriter, owner: OwnerId, served_at: datetime, asker: str = ""
) -> TurnClaim | Expired | None:
    settings = writer.tx.settings
    until = writer.tx.now + settings.lease
    start: dict[str, SqlValue] = {
        "session_key": writer.key,
        "session_id": writer.id,
        "owner": owner,
        "lease_until": stamp(until),
        "last": _last_attempt(settings),
        "interruptions": writer.interruptions,
        "now": writer.at,
    }
    with writer:
        started = writer.tx.one(
            "start_turn", _StartedTurn, **start, first_seq=writer.last_seq + 1, checked=0
        )
        if started is None:
            closed, fresh = _expire(writer, owner, served_at)
            if fresh is None:
                return Expired(turn_ids=closed) if closed else None
            first_seq = writer.last_seq + 1
            started = expect(
                writer.tx, "start_turn", _StartedTurn, **start, first_seq=first_seq, checked=fresh
            )
        turn = started.turn
        place_messages(writer, turn.id)
        writer.tell(EventKind.TURN_RUNNING, turn.id)
    lease = Lease(session_id=writer.id, turn_id=turn.id, fence=started.fence, until=until)
    return TurnClaim(
        turn=turn,
        lease=lease,
        profile=writer.session.profile,
        platform=writer.session.platform,
        asker=asker,
    )


def _expire(
    writer: SessionWriter, owner: OwnerId, served_at: datetime
) -> tuple[tuple[TurnId, ...], TurnId | None]:
    """Close the turns at the head of the queue that are too old.

    Return them, and the turn after them, which may run; None if there is none.
    """
    tx = writer.tx
    waiting = tx.all(
        "list_next_turns",
        _NextTurn,
        session_key=writer.key,
        full="",
        crowding="",
        owner=owner,
        last=_last_attempt(tx.settings),
    )
    closed: list[TurnId] = []
    fresh, why = None, ""
    for turn in waiting:
        late = downtime(
            tx,
            turn.written_at or turn.queued_at,
            until=turn.queued_at,
            platform=writer.session.platform,
            served_at=served_at,
        )
        waited = downtime(tx, turn.queued_at, served_at=served_at)
        if tx.settings.is_fresh(late + waited):
            fresh = turn.id
            cause = find_reset_cause(tx, writer.session, None, at=served_at) if waited else None
            if cause in {Cause.IDLE, Cause.DAILY}:
                # It waited through an outage, and its conversation ended meanwhile.
                end_open_session(writer, EndReason(cause.value))
                return tuple(one.id for one in waiting), None
            break
        closed.append(turn.id)
        why = expired(span(max(late, waited)), is_late=late > waited)
    expire_turns(writer, closed, why)
    return tuple(closed), fresh


def renew_leases(tx: Transaction, leases: Sequence[Lease]) -> frozenset[TurnId]:
    """Prolong leases; answer the turns whose lease is lost, which must be let go at once."""
    until = stamp(tx.now + tx.settings.lease)
    return frozenset(
        lease.turn_id
        for lease in leases
        if not tx.exists("renew_lease", id=lease.turn_id, fence=lease.fence, lease_until=until)
    )


def return_turn(tx: Transaction, lease: Lease) -> None:
    """Put a claimed turn back into the line, as if it had never been claimed."""
    with write_session(tx, lease.session_id) as writer:
        key = tx.one("give_back", int, id=lease.turn_id, fence=lease.fence)
        if key != writer.key:
            raise LeaseLost(id=str(lease.turn_id))
        writer.tell(EventKind.TURN_QUEUED, lease.turn_id)
