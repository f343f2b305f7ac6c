"""Crash recovery: what becomes of turns whose worker is gone."""

from datetime import datetime

from msgspec import Struct

from threadline.core.event import EventKind
from threadline.core.message import MarkerKind, Message, Text
from threadline.core.session import Cause, EndReason
from threadline.core.system_notes import note_interruption
from threadline.core.turn import OwnerId, TurnId, TurnState, is_over
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.deliveries.payload import END_OF_TURN
from threadline.store.gateways import downtime
from threadline.store.session_writer import SessionWriter, write_session_by_key
from threadline.store.sessions.bindings import succeed
from threadline.store.sessions.reset_check import find_reset_cause
from threadline.store.sessions.session_end import end_open_session
from threadline.store.turns.terminate import UnfinishedTurn, close_turn, keep_partial

_SLICE = 50
_WHY = "The program stopped while this was being answered."


class Recovery(Struct, frozen=True, kw_only=True):
    """What became of interrupted turns."""

    resumed: tuple[TurnId, ...] = ()
    failed: tuple[TurnId, ...] = ()


class _HeldTurn(Struct, frozen=True, kw_only=True):
    """A turn that a process holds under a lease."""

    id: TurnId
    session_key: int
    state: TurnState
    owner: OwnerId
    lease_until: datetime


class _Interruption(Struct, frozen=True, kw_only=True):
    """What a turn said since the agent was told that it was cut off."""

    cut_off_seq: int | None
    """None: it was never cut off before."""
    said_since: int | None

    @property
    def has_news(self) -> bool:
        """Whether it said something since its last cut-off, or was never cut off before."""
        return self.cut_off_seq is None or bool(self.said_since)


class _InterruptedTurn(Struct, frozen=True, kw_only=True):
    """A turn that was cut off."""

    id: TurnId
    session_key: int
    attempts: int
    interrupted_at: datetime


def list_lease_owners(tx: Transaction) -> frozenset[OwnerId]:
    """List who holds a lease, so that it can be asked which of them are alive."""
    return frozenset(tx.all("list_owners", OwnerId))


def find_lease_end(tx: Transaction, owner: OwnerId) -> datetime | None:
    """Return when the next lease of another process ends, unless it is renewed."""
    return tx.one("find_lease_end", datetime, owner=owner, now=stamp(tx.now))


def interrupt(
    tx: Transaction,
    *,
    dead: frozenset[OwnerId],
    running: frozenset[TurnId],
    claimer: OwnerId | None = None,
) -> tuple[list[TurnId], bool]:
    """Take a slice of the turns whose owner is dead or whose lease is over; keep what they said.

    Return the turns that were taken, and whether these were all. Those in `running` are run by this
    process, which can tell better than a clock that was set. `claimer` is this process while it
    claims a turn, which is not among those yet.
    """
    lost = [
        held
        for held in tx.all("list_held", _HeldTurn)
        if held.owner in dead
        or (
            held.id not in running
            and (claimer is None or held.owner != claimer)
            and is_over(held.lease_until, tx.settings.lease, tx.now)
        )
    ]
    interrupted = [held.id for held in lost[:_SLICE] if _interrupt(tx, held)]
    for owner in dead:
        tx.run("free_endings", owner=owner)
    return interrupted, len(lost) <= _SLICE


def _interrupt(tx: Transaction, held: _HeldTurn) -> bool:
    with write_session_by_key(tx, held.session_key) as writer:
        # The interruption is as old as the lease, also when it is noticed days later.
        at = min(tx.now, held.lease_until)
        taken = tx.one(
            "interrupt_turn",
            _Interruption,
            id=held.id,
            owner=held.owner,
            lease_until=stamp(held.lease_until),
            interrupted_at=stamp(at),
        )
        if taken is None:
            return False
        if taken.has_news:
            keep_partial(writer, held.id, MarkerKind.INTERRUPTED, _WHY)
        tx.run("leave_streams", turn_id=held.id)
        # A turn that waits for a person runs nothing, so it cannot have ended its process.
        writer.interruptions += held.state is TurnState.RUNNING
        writer.tell(EventKind.TURN_INTERRUPTED, held.id)
    return True


def list_interrupted(tx: Transaction) -> frozenset[TurnId]:
    """List a slice of the turns that were cut off."""
    turns = tx.all("list_interrupted", _InterruptedTurn, most=_SLICE)
    return frozenset(turn.id for turn in turns)


def recover(
    tx: Transaction,
    *,
    served_at: datetime,
    refused: frozenset[TurnId] = frozenset(),
    among: frozenset[TurnId] | None = None,
) -> Recovery:
    """Decide what becomes of interrupted turns: they are queued again, or fail visibly.

    Turns in `refused` are those whose sender may not speak any more. With `among`, nothing is
    decided of any other turn: it was cut off since. The age of turns is judged by `served_at`, when
    this process recorded that it serves.
    """
    resumed, failed = [], []
    for turn in tx.all("list_interrupted", _InterruptedTurn, most=_SLICE):
        if among is not None and turn.id not in among:
            continue
        with write_session_by_key(tx, turn.session_key) as writer:
            why = _why_not(writer, turn, served_at, refused)
            if why is None and _resume(writer, turn.id):
                resumed.append(turn.id)
            elif why is not None and _give_up(writer, turn.id, why):
                failed.append(turn.id)
            else:
                continue  # Another process was quicker.
            if writer.interruptions >= tx.settings.max_attempts:
                _suspend(writer)
    return Recovery(resumed=tuple(resumed), failed=tuple(failed))


def _why_not(
    writer: SessionWriter,
    turn: _InterruptedTurn,
    served_at: datetime,
    refused: frozenset[TurnId],
) -> str | None:
    """Say why an interrupted turn must not run again; None: it may."""
    if turn.id in refused:
        return "It was cut off, and its sender may not speak here any more."
    if turn.attempts >= writer.tx.settings.max_attempts or (
        writer.interruptions >= writer.tx.settings.max_attempts
    ):
        return f"It was cut off {turn.attempts} times and is not tried again."
    age = downtime(writer.tx, turn.interrupted_at, served_at=served_at)
    if not writer.tx.settings.is_fresh(age):
        return "It was cut off too long ago to go on by itself."
    if find_reset_cause(writer.tx, writer.session, None, at=served_at) is not None:
        return "It was cut off, and the conversation has ended since."
    return None


def _resume(writer: SessionWriter, turn_id: TurnId) -> bool:
    tx = writer.tx
    queued = tx.one("requeue_turn", _Interruption, id=turn_id, now=writer.at)
    if queued is None:
        return False
    if queued.has_news:
        # Otherwise the note from the last time is still true.
        writer.add([note_interruption(_count_said(writer, turn_id))], turn_id)
        tx.run("set_cut_off", id=turn_id, seq=writer.last_seq)
    writer.tell(EventKind.TURN_QUEUED, turn_id)
    return True


def _give_up(writer: SessionWriter, turn_id: TurnId, why: str) -> bool:
    if writer.tx.one("read_turn_state", TurnState, id=turn_id) is not TurnState.INTERRUPTED:
        return False
    failed, kind = TurnState.FAILED, MarkerKind.FAILED
    return close_turn(writer, turn_id, failed, kind, why, is_told=True)


def _count_said(writer: SessionWriter, turn_id: TurnId) -> int:
    lines = writer.tx.all(
        "list_reply",
        Message,
        session_id=writer.id,
        turn_id=turn_id,
        after_seq=0,
        until_seq=END_OF_TURN,
    )
    return sum(len(part.text) for line in lines for part in line.parts if isinstance(part, Text))


def _suspend(writer: SessionWriter) -> None:
    """Let a session rest that broke off too often; what still waits goes on in a fresh one."""
    tx = writer.tx
    if not writer.session.is_open:
        return
    tx.run("suspend_session", key=writer.key, now=writer.at)
    writer.tell(EventKind.SESSION_SUSPENDED)
    waiting = [
        turn.id
        for turn in tx.all("list_unfinished", UnfinishedTurn, session_key=writer.key)
        if turn.state is TurnState.QUEUED
    ]
    if waiting:
        opening = succeed(writer, Cause.SUSPENDED)
        with opening.writer as fresh:
            for told in opening.notes:
                fresh.keep(told, waiting[0])
            for turn_id in waiting:
                tx.run("move_turn", id=turn_id, session_key=fresh.key)
                tx.run(
                    "move_messages",
                    turn_id=turn_id,
                    from_key=writer.key,
                    session_key=fresh.key,
                )
                tx.run(
                    "move_arrivals",
                    turn_id=turn_id,
                    from_key=writer.key,
                    session_key=fresh.key,
                )
                writer.tell(EventKind.TURN_MOVED, turn_id)
                fresh.tell(EventKind.TURN_QUEUED, turn_id)
        end_open_session(writer, EndReason.SUSPENDED)
