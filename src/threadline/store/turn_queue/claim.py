"""Claiming: a worker takes the next turn under a lease and keeps the lease alive.

A turn that is too old is not run: it is closed with a marker, and its sender is told once.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.session import Cause, EndReason, SessionId
from threadline.core.settings import Settings
from threadline.core.system_notes import expired
from threadline.core.turn import Lease, OwnerId, Turn, TurnId
from threadline.core.validation import checked_name
from threadline.database.port import Row, SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.formatting import span
from threadline.store.gateways import downtime
from threadline.store.row_mappers import turn_from
from threadline.store.session_writer import SessionWriter, write_session
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
        row = tx.one("lock_next_session", **choice) or _await_passed(tx, choice)
        if row is None:
            break
        found = _start(SessionWriter(tx, row), owner, served_at)
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


def _await_passed(tx: Transaction, choice: Mapping[str, SqlValue]) -> Row | None:
    """Wait for a session that was passed over because another process holds it.

    That process may change nothing, and then no event reports that its turn still waits.
    """
    passed = tx.one("find_passed_session", **choice)
    row = None if passed is None else tx.one("lock_session_by_key", key=passed.number("key"))
    return None if passed is None or row is None else Row(row, asker=passed["asker"])


def _start(
    writer: SessionWriter, owner: OwnerId, served_at: datetime
) -> TurnClaim | Expired | None:
    settings = writer.tx.settings
    until = writer.tx.now + settings.lease
    start: dict[str, SqlValue] = {
        "session_key": writer.key,
        "owner": owner,
        "lease_until": stamp(until),
        "last": _last_attempt(settings),
        "interruptions": writer.interruptions,
        "now": writer.at,
    }
    with writer:
        row = writer.tx.one("start_turn", **start, first_seq=writer.last_seq + 1, checked=0)
        if row is None:
            closed, fresh = _expire(writer, owner, served_at)
            if fresh is None:
                return Expired(turn_ids=closed) if closed else None
            first_seq = writer.last_seq + 1
            row = expect(writer.tx, "start_turn", **start, first_seq=first_seq, checked=fresh)
        turn = turn_from(row, writer.id)
        place_messages(writer, turn.id)
        writer.tell(EventKind.TURN_RUNNING, turn.id)
    fence = row.number("fence")
    lease = Lease(session_id=writer.id, turn_id=turn.id, fence=fence, until=until)
    profile, platform = writer.row.text("profile"), writer.row.text("platform")
    asker = writer.row.get("asker")
    return TurnClaim(
        turn=turn,
        lease=lease,
        profile=profile,
        platform=platform,
        asker=asker if isinstance(asker, str) else "",
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
        session_key=writer.key,
        full="",
        crowding="",
        owner=owner,
        last=_last_attempt(tx.settings),
    )
    closed: list[TurnId] = []
    fresh, why = None, ""
    for row in waiting:
        turn_id, queued_at = TurnId(row.number("id")), row.moment("queued_at")
        written_at = row.moment_or_none("written_at") or queued_at
        platform = writer.row.text("platform")
        late = downtime(tx, written_at, until=queued_at, platform=platform, served_at=served_at)
        waited = downtime(tx, queued_at, served_at=served_at)
        if tx.settings.is_fresh(late + waited):
            fresh = turn_id
            cause = find_reset_cause(tx, writer.row, None, at=served_at) if waited else None
            if cause in {Cause.IDLE, Cause.DAILY}:
                # It waited through an outage, and its conversation ended meanwhile.
                end_open_session(writer, EndReason(cause.value))
                return tuple(TurnId(row.number("id")) for row in waiting), None
            break
        closed.append(turn_id)
        why = expired(span(max(late, waited)), is_late=late > waited)
    expire_turns(writer, closed, why)
    return tuple(closed), fresh


def renew_leases(tx: Transaction, leases: Sequence[Lease]) -> frozenset[TurnId]:
    """Prolong leases; answer the turns whose lease is lost, which must be let go at once."""
    until = stamp(tx.now + tx.settings.lease)
    return frozenset(
        lease.turn_id
        for lease in leases
        if tx.one("renew_lease", id=lease.turn_id, fence=lease.fence, lease_until=until) is None
    )


def return_turn(tx: Transaction, lease: Lease) -> None:
    """Put a claimed turn back into the line, as if it had never been claimed."""
    with write_session(tx, lease.session_id) as writer:
        given = tx.one("give_back", id=lease.turn_id, fence=lease.fence)
        if given is None or given.number("session_key") != writer.key:
            raise LeaseLost(id=str(lease.turn_id))
        writer.tell(EventKind.TURN_QUEUED, lease.turn_id)
