"""Claiming: a worker takes the next turn under a lease, and keeps the lease alive."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.core.turn import Lease, OwnerId, Turn, TurnId
from threadline.sessions.chronicle import Chronicle, open_chronicle
from threadline.sessions.records import turn_from
from threadline.sessions.turns.close import place_messages
from threadline.storage.database import Transaction
from threadline.storage.moments import stamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A turn that is ours to run, and the lease that proves it."""

    turn: Turn
    lease: Lease

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
) -> Claim | None:
    """Take the turn that has waited longest, of one session or of all; None if there is none.

    Its messages get their places in the transcript now, so that the lines of a turn stand together.
    """
    found = _next(tx, session_id, now)
    if found is None:
        return None
    chronicle, turn_id = found
    until = now + rules.lease
    with chronicle:
        row = tx.one(
            "start_turn",
            id=turn_id,
            session_key=chronicle.key,
            owner=owner,
            lease_until=stamp(until),
            first_seq=chronicle.last_seq + 1,
            now=stamp(now),
        )
        if row is None:
            return None
        place_messages(chronicle, turn_id)
        chronicle.tell(EventKind.TURN_RUNNING, turn_id)
    lease = Lease(session_id=chronicle.id, turn_id=turn_id, fence=row.number("fence"), until=until)
    return Claim(turn=turn_from(row, chronicle.id), lease=lease)


def _next(
    tx: Transaction, session_id: SessionId | None, now: datetime
) -> tuple[Chronicle, TurnId] | None:
    if session_id is None:
        row = tx.one("next_turn")
        chronicle = None if row is None else Chronicle(tx, row, now)
    else:
        chronicle = open_chronicle(tx, session_id, now)
        row = tx.one("next_turn_of_session", session_key=chronicle.key)
    if row is None or chronicle is None:
        return None
    return chronicle, TurnId(row.number("turn_id"))


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
