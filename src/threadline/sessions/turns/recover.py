"""Recovery: what becomes of turns whose worker is gone."""

from dataclasses import dataclass
from datetime import datetime

from threadline.core.event import EventKind
from threadline.core.message import MarkerKind, Text, unpack
from threadline.core.notice import cut_off
from threadline.core.rules import Rules
from threadline.core.session import Cause, EndReason
from threadline.core.turn import OwnerId, TurnId, TurnState, is_over
from threadline.sessions.chronicle import Chronicle, chronicle_of
from threadline.sessions.conversations import NewId, succeed
from threadline.sessions.deliveries.parcel import END_OF_TURN
from threadline.sessions.endings import end_chronicle
from threadline.sessions.gateways import unserved
from threadline.sessions.turns.close import close_turn, keep_partial
from threadline.sessions.verdicts import why_new
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

_SLICE = 50
_WHY = "The program stopped while this was being answered."


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What became of interrupted turns."""

    resumed: tuple[TurnId, ...] = ()
    failed: tuple[TurnId, ...] = ()


def list_owners(tx: Transaction) -> frozenset[OwnerId]:
    """List who holds a lease, so that it can be asked which of them are alive."""
    return frozenset(OwnerId(row.text("owner")) for row in tx.all("list_owners"))


def find_lease_end(tx: Transaction, owner: OwnerId, *, now: datetime) -> datetime | None:
    """Return when the next lease of another process ends, unless it is renewed."""
    return expect(tx, "find_lease_end", owner=owner, now=stamp(now)).moment_or_none("at")


def interrupt(
    tx: Transaction,
    *,
    dead: frozenset[OwnerId],
    running: frozenset[TurnId],
    rules: Rules,
    now: datetime,
) -> list[TurnId]:
    """Take a slice of the turns whose owner is dead or whose lease is over; keep what they said.

    Those in `running` are run by this process, which can tell better than a clock that was set.
    """
    lost = [
        held
        for held in tx.all("list_held")
        if held["owner"] in dead
        or (
            held.number("id") not in running
            and is_over(held.moment("lease_until"), rules.lease, now)
        )
    ]
    interrupted = []
    for held in lost[:_SLICE]:
        turn_id = TurnId(held.number("id"))
        if _interrupt(tx, held, turn_id, now):
            interrupted.append(turn_id)
    for owner in dead:
        tx.run("free_endings", owner=owner)
    return interrupted


def _interrupt(tx: Transaction, held: Row, turn_id: TurnId, now: datetime) -> bool:
    with chronicle_of(tx, held.number("session_key"), now) as chronicle:
        # The interruption is as old as the lease, also when it is noticed days later.
        at = min(now, held.moment("lease_until"))
        taken = tx.one(
            "interrupt_turn",
            id=turn_id,
            owner=held.text("owner"),
            lease_until=held.number("lease_until"),
            interrupted_at=stamp(at),
        )
        if taken is None:
            return False
        if _has_news(taken):
            keep_partial(chronicle, turn_id, MarkerKind.INTERRUPTED, _WHY)
        tx.run("leave_streams", turn_id=turn_id)
        # A turn that waits for a person runs nothing, so it cannot have ended its process.
        chronicle.interruptions += held["state"] == TurnState.RUNNING
        chronicle.tell(EventKind.TURN_INTERRUPTED, turn_id)
    return True


def _has_news(turn: Row) -> bool:
    """Return whether a turn said something since its last cut-off, or was never cut off before."""
    return turn["cut_off_seq"] is None or turn.number("said_since") > 0


def list_interrupted(tx: Transaction) -> frozenset[TurnId]:
    """List a slice of the turns that were cut off."""
    rows = tx.all("list_interrupted", most=_SLICE)
    return frozenset(TurnId(row.number("id")) for row in rows)


def recover(
    tx: Transaction,
    *,
    rules: Rules,
    now: datetime,
    new_id: NewId,
    refused: frozenset[TurnId] = frozenset(),
    among: frozenset[TurnId] | None = None,
) -> Recovery:
    """Decide what becomes of interrupted turns: they are queued again, or fail visibly.

    Turns in `refused` are those whose sender may not speak any more. With `among`, nothing is
    decided of any other turn: it was cut off since.
    """
    resumed, failed = [], []
    for row in tx.all("list_interrupted", most=_SLICE):
        turn_id = TurnId(row.number("id"))
        if among is not None and turn_id not in among:
            continue
        with chronicle_of(tx, row.number("session_key"), now) as chronicle:
            why = _why_not(chronicle, row, rules, refused)
            if why is None and _resume(chronicle, turn_id):
                resumed.append(turn_id)
            elif why is not None and _give_up(chronicle, turn_id, why):
                failed.append(turn_id)
            else:
                continue  # Another process was quicker.
            if chronicle.interruptions >= rules.max_attempts:
                _suspend(chronicle, rules, new_id)
    return Recovery(resumed=tuple(resumed), failed=tuple(failed))


def _why_not(
    chronicle: Chronicle, row: Row, rules: Rules, refused: frozenset[TurnId]
) -> str | None:
    """Say why an interrupted turn must not run again; None: it may."""
    if row.number("id") in refused:
        return "It was cut off, and its sender may not speak here any more."
    if row.number("attempts") >= rules.max_attempts or (
        chronicle.interruptions >= rules.max_attempts
    ):
        return f"It was cut off {row.number('attempts')} times and is not tried again."
    if not rules.is_fresh(unserved(chronicle.tx, row.moment("interrupted_at"), chronicle.now)):
        return "It was cut off too long ago to go on by itself."
    if why_new(chronicle.tx, chronicle.row, None, rules=rules, now=chronicle.now) is not None:
        return "It was cut off, and the conversation has ended since."
    return None


def _resume(chronicle: Chronicle, turn_id: TurnId) -> bool:
    tx = chronicle.tx
    queued = tx.one("requeue_turn", id=turn_id, now=chronicle.at)
    if queued is None:
        return False
    if _has_news(queued):
        # Otherwise the note from the last time is still true.
        chronicle.add([cut_off(_count_said(tx, turn_id))], turn_id)
        tx.run("set_cut_off", id=turn_id, seq=chronicle.last_seq)
    chronicle.tell(EventKind.TURN_QUEUED, turn_id)
    return True


def _give_up(chronicle: Chronicle, turn_id: TurnId, why: str) -> bool:
    row = chronicle.tx.one("read_turn", id=turn_id)
    if row is None or row["state"] != TurnState.INTERRUPTED:
        return False
    failed, kind = TurnState.FAILED, MarkerKind.FAILED
    return close_turn(chronicle, turn_id, failed, kind, why, is_told=True)


def _count_said(tx: Transaction, turn_id: TurnId) -> int:
    lines = (
        unpack(row.text("text"), row.text_or_none("parts"))
        for row in tx.all("list_reply", turn_id=turn_id, after_seq=0, until_seq=END_OF_TURN)
    )
    return sum(len(part.text) for parts in lines for part in parts if isinstance(part, Text))


def _suspend(chronicle: Chronicle, rules: Rules, new_id: NewId) -> None:
    """Let a session rest that broke off too often; what still waits goes on in a fresh one."""
    tx, now = chronicle.tx, chronicle.now
    if chronicle.row["suspended_at"] is not None or chronicle.row["ended_at"] is not None:
        return
    tx.run("suspend_session", key=chronicle.key, now=stamp(now))
    chronicle.tell(EventKind.SESSION_SUSPENDED)
    waiting = [
        TurnId(row.number("id"))
        for row in tx.all("list_unfinished", session_key=chronicle.key)
        if row["state"] == TurnState.QUEUED
    ]
    if waiting:
        opening = succeed(chronicle, Cause.SUSPENDED, rules=rules, new_id=new_id)
        with opening.chronicle as fresh:
            for told in opening.notes:
                fresh.keep(told, waiting[0])
            for turn_id in waiting:
                tx.run("move_turn", id=turn_id, session_key=fresh.key)
                tx.run(
                    "move_messages",
                    turn_id=turn_id,
                    from_key=chronicle.key,
                    session_key=fresh.key,
                )
                tx.run(
                    "move_arrivals",
                    turn_id=turn_id,
                    from_key=chronicle.key,
                    session_key=fresh.key,
                )
                chronicle.tell(EventKind.TURN_MOVED, turn_id)
                fresh.tell(EventKind.TURN_QUEUED, turn_id)
        end_chronicle(chronicle, EndReason.SUSPENDED)
