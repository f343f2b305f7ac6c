"""Claiming: a worker takes the next turn under a lease, and keeps the lease alive."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.core.text import checked_name
from threadline.core.turn import Lease, OwnerId, Turn, TurnId
from threadline.sessions.chronicle import Chronicle, open_chronicle
from threadline.sessions.records import turn_from
from threadline.sessions.turns.close import place_messages
from threadline.storage.database import Row, Transaction
from threadline.storage.moments import stamp

_TRIES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A turn that is ours to run, and the lease that proves it."""

    turn: Turn
    lease: Lease
    profile: str
    platform: str
    """Of its session."""

    @property
    def is_resumed(self) -> bool:
        """Whether the turn had been begun before, and was cut off."""
        return self.turn.attempts > 1


def claim(
    tx: Transaction,
    *,
    owner: OwnerId,
    rules: Rules,
    now: datetime,
    session_id: SessionId | None = None,
    full: Collection[str] = (),
) -> Claim | None:
    """Take the turn that has waited longest, of one session or of all; None if there is none.

    Of the profiles in `full` none is taken: as many as may already run there. Its messages get
    their places in the transcript now, so that the lines of a turn stand together.
    """
    if session_id is not None:
        return _start(open_chronicle(tx, session_id, now), owner, rules)
    passing = "".join(f" {checked_name(profile, 'profile')} " for profile in full)
    # Another process may be quicker between the look and the lock; then the next one is tried.
    for _ in range(_TRIES):
        row = tx.one("lock_next_session", full=passing) or _await_passed(tx, passing)
        if row is None:
            return None
        if claimed := _start(Chronicle(tx, row, now), owner, rules):
            return claimed
    return None


def _await_passed(tx: Transaction, full: str) -> Row | None:
    """Wait for a session that was passed over: whoever holds it may change nothing, and tell nobody
    that its turn still waits.
    """
    passed = tx.one("find_passed_session", full=full)
    return None if passed is None else tx.one("lock_session_by_key", key=passed.number("key"))


def _start(chronicle: Chronicle, owner: OwnerId, rules: Rules) -> Claim | None:
    until = chronicle.now + rules.lease
    with chronicle:
        row = chronicle.tx.one(
            "start_turn",
            session_key=chronicle.key,
            owner=owner,
            lease_until=stamp(until),
            first_seq=chronicle.last_seq + 1,
            now=chronicle.at,
        )
        if row is None:
            return None
        turn = turn_from(row, chronicle.id)
        place_messages(chronicle, turn.id)
        chronicle.tell(EventKind.TURN_RUNNING, turn.id)
    fence = row.number("fence")
    lease = Lease(session_id=chronicle.id, turn_id=turn.id, fence=fence, until=until)
    profile, platform = chronicle.row.text("profile"), chronicle.row.text("platform")
    return Claim(turn=turn, lease=lease, profile=profile, platform=platform)


def renew(
    tx: Transaction, leases: Sequence[Lease], *, rules: Rules, now: datetime
) -> frozenset[TurnId]:
    """Prolong leases; answer the turns whose lease is lost, which must be let go at once."""
    until = stamp(now + rules.lease)
    return frozenset(
        lease.turn_id
        for lease in leases
        if tx.one("renew_lease", id=lease.turn_id, fence=lease.fence, lease_until=until) is None
    )


def give_back(tx: Transaction, lease: Lease, *, now: datetime) -> None:
    """Put a claimed turn back into the line, as if it had never been claimed."""
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        given = tx.one("give_back", id=lease.turn_id, fence=lease.fence)
        if given is None or given.number("session_key") != chronicle.key:
            raise LeaseLost(id=str(lease.turn_id))
        chronicle.tell(EventKind.TURN_QUEUED, lease.turn_id)
