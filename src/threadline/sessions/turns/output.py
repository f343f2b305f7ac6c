"""Output: what a running turn says, message by message and piece by piece."""

from collections.abc import Sequence
from datetime import datetime

from threadline.core.agent import MEMORY_LIMIT
from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.message import NewMessage
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.core.text import checked_text
from threadline.core.turn import Lease, TurnId
from threadline.sessions.chronicle import (
    Chronicle,
    open_chronicle,
    require_open,
    require_writable,
)
from threadline.sessions.turns.close import place_messages
from threadline.storage.database import Row, Transaction
from threadline.storage.moments import stamp


def append(
    tx: Transaction, lease: Lease, messages: Sequence[NewMessage], *, rules: Rules, now: datetime
) -> int:
    """Store messages of a running turn; answer the last sequence number.

    They take the place of whatever was streamed since the last message. The lease is renewed.
    """
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        if prove(chronicle, lease, rules).number("chunks"):
            tx.run("drop_chunks", turn_id=lease.turn_id)
        chronicle.add(messages, lease.turn_id)
        return chronicle.last_seq


def record(tx: Transaction, id: SessionId, messages: Sequence[NewMessage], *, now: datetime) -> int:
    """Store messages that belong to no turn; answer the last sequence number."""
    with require_writable(require_open(open_chronicle(tx, id, now))) as chronicle:
        chronicle.add(messages, None)
        chronicle.touch()
        return chronicle.last_seq


def checkpoint(
    tx: Transaction, pieces: Sequence[tuple[Lease, str]], *, rules: Rules, now: datetime
) -> frozenset[TurnId]:
    """Keep streamed output of several turns at once; answer those whose lease is lost."""
    lost = set()
    until = stamp(now + rules.lease)
    for lease, text in pieces:
        checked_text(text, "streamed output")
        if tx.one("prove_lease", id=lease.turn_id, fence=lease.fence, lease_until=until) is None:
            lost.add(lease.turn_id)
        elif text:
            tx.run("add_chunk", turn_id=lease.turn_id, text=text)
    return frozenset(lost)


def remember(tx: Transaction, lease: Lease, memory: str, *, rules: Rules, now: datetime) -> None:
    """Keep what an agent wants to be given back, in the place of what was kept before."""
    checked_text(memory, "memory of the agent", MEMORY_LIMIT)
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        prove(chronicle, lease, rules)
        # Nobody is shown it, so that nobody is told of it.
        tx.run("set_memory", key=chronicle.key, memory=memory or None)


def take_steering(tx: Transaction, lease: Lease, *, rules: Rules, now: datetime) -> tuple[int, int]:
    """Make the messages that are meant for this running turn part of it.

    Answers the sequence number before them and the last one of them: equal if there are none.
    """
    with open_chronicle(tx, lease.session_id, now) as chronicle:
        prove(chronicle, lease, rules)
        before = chronicle.last_seq
        for row in tx.all("list_steering", session_key=chronicle.key, turn_id=lease.turn_id):
            _absorb(chronicle, TurnId(row.number("id")), lease.turn_id)
        return before, chronicle.last_seq


def _absorb(chronicle: Chronicle, taken: TurnId, by: TurnId) -> None:
    tx = chronicle.tx
    tx.one(
        "close_turn",
        id=taken,
        state="done",
        now=chronicle.at,
        error=None,
        answered_by=by,
        first_seq=None,
        expired_at=None,
    )
    tx.run("adopt_messages", session_key=chronicle.key, from_turn=taken, to_turn=by)
    place_messages(chronicle, by)
    chronicle.tell(EventKind.TURN_DONE, taken)


def prove(chronicle: Chronicle, lease: Lease, rules: Rules) -> Row:
    """Renew a lease, or refuse a worker that has lost it."""
    until = stamp(chronicle.now + rules.lease)
    proof = chronicle.tx.one("prove_lease", id=lease.turn_id, fence=lease.fence, lease_until=until)
    if proof is None or proof.number("session_key") != chronicle.key:
        raise LeaseLost(id=str(lease.turn_id))
    return proof
