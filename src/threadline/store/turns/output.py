"""Output: what a running turn says, message by message and piece by piece."""

from collections.abc import Sequence

from msgspec import Struct

from threadline.core.agent import MEMORY_LIMIT
from threadline.core.errors import LeaseLost
from threadline.core.event import EventKind
from threadline.core.message import Message, NewMessage
from threadline.core.session import SessionId
from threadline.core.turn import Lease, TurnId
from threadline.core.validation import checked_text
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.deliveries.payload import END_OF_TURN
from threadline.store.queries import read_turn
from threadline.store.session_writer import (
    SessionWriter,
    require_open,
    require_writable,
    write_session,
)
from threadline.store.turns.terminate import place_messages


class ProvenTurn(Struct, frozen=True, kw_only=True):
    """A running turn whose lease holds."""

    session_key: int
    chunks: int
    """Pieces of streamed output that no message holds yet."""


def append(tx: Transaction, lease: Lease, messages: Sequence[NewMessage]) -> int:
    """Store messages of a running turn; answer the last sequence number.

    They take the place of whatever was streamed since the last message. The lease is renewed.
    """
    with write_session(tx, lease.session_id) as writer:
        if prove(writer, lease).chunks:
            tx.run("drop_chunks", turn_id=lease.turn_id)
        writer.add(messages, lease.turn_id)
        return writer.last_seq


def add_messages(tx: Transaction, id: SessionId, messages: Sequence[NewMessage]) -> int:
    """Store messages that belong to no turn; answer the last sequence number."""
    with require_writable(require_open(write_session(tx, id))) as writer:
        writer.add(messages, None)
        writer.touch()
        return writer.last_seq


def checkpoint(tx: Transaction, pieces: Sequence[tuple[Lease, str]]) -> frozenset[TurnId]:
    """Keep streamed output of several turns at once; answer those whose lease is lost."""
    lost = set()
    until = stamp(tx.now + tx.settings.lease)
    for lease, text in pieces:
        checked_text(text, "streamed output")
        if not tx.exists("prove_lease", id=lease.turn_id, fence=lease.fence, lease_until=until):
            lost.add(lease.turn_id)
        elif text:
            tx.run("add_chunk", turn_id=lease.turn_id, text=text)
    return frozenset(lost)


def save_agent_memory(tx: Transaction, lease: Lease, memory: str) -> None:
    """Keep what an agent wants to be given back, in the place of what was kept before."""
    checked_text(memory, "memory of the agent", MEMORY_LIMIT)
    with write_session(tx, lease.session_id) as writer:
        prove(writer, lease)
        # Nobody is shown it, so that nobody is told of it.
        tx.run("set_memory", key=writer.key, memory=memory or None)


def take_steering(tx: Transaction, lease: Lease) -> tuple[int, int]:
    """Make the messages that are meant for this running turn part of it.

    Answers the sequence number before them and the last one of them: equal if there are none.
    """
    with write_session(tx, lease.session_id) as writer:
        prove(writer, lease)
        before = writer.last_seq
        meant = tx.all("list_steering", TurnId, session_key=writer.key, turn_id=lease.turn_id)
        for turn_id in meant:
            _absorb(writer, turn_id, lease.turn_id)
        return before, writer.last_seq


def _absorb(writer: SessionWriter, taken: TurnId, by: TurnId) -> None:
    tx = writer.tx
    tx.exists(
        "close_turn",
        id=taken,
        state="done",
        now=writer.at,
        error=None,
        answered_by=by,
        first_seq=None,
        expired_at=None,
    )
    tx.run("adopt_messages", session_key=writer.key, from_turn=taken, to_turn=by)
    place_messages(writer, by)
    writer.tell(EventKind.TURN_DONE, taken)


def prove(writer: SessionWriter, lease: Lease) -> ProvenTurn:
    """Renew a lease, or refuse a worker that has lost it."""
    until = stamp(writer.tx.now + writer.tx.settings.lease)
    proof = writer.tx.one(
        "prove_lease", ProvenTurn, id=lease.turn_id, fence=lease.fence, lease_until=until
    )
    if proof is None or proof.session_key != writer.key:
        raise LeaseLost(id=str(lease.turn_id))
    return proof


def read_reply(tx: Transaction, turn_id: TurnId) -> list[Message]:
    """Read what a turn has said to people, in order."""
    session_id = read_turn(tx, turn_id).session_id
    return tx.all(
        "list_reply",
        Message,
        session_id=session_id,
        turn_id=turn_id,
        after_seq=0,
        until_seq=END_OF_TURN,
    )
