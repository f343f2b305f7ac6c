"""Endings: how sessions end, and how everybody who wants to know is told exactly once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NewType

from threadline.core.address import Kind
from threadline.core.errors import Conflict, Invalid, LeaseLost
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.route import Route
from threadline.core.rules import Rules
from threadline.core.session import EndReason, SessionId
from threadline.core.text import checked_id, checked_moment
from threadline.core.turn import LEASE, OwnerId, TurnId, TurnState
from threadline.sessions.chronicle import Chronicle, open_chronicle
from threadline.sessions.turns.close import close_turn, expire_turns
from threadline.sessions.verdicts import why_new
from threadline.sessions.waiting import drop_waiting
from threadline.storage.database import Transaction, expect
from threadline.storage.moments import stamp

EndingId = NewType("EndingId", int)

RETELLINGS = 3
_RETELL_AFTER = timedelta(seconds=30)
_SLICE = 20
_ENDED_FIRST = "This message was never answered: the conversation ended first. Send it again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """One ending of a session that has to be told."""

    id: EndingId
    session_id: SessionId
    reason: EndReason
    ended_at: datetime
    attempts: int


def end(tx: Transaction, id: SessionId, *, reason: EndReason, now: datetime) -> bool:
    """End a session; what it still had to do is stopped. False if it had ended before."""
    with open_chronicle(tx, id, now) as chronicle:
        return end_chronicle(chronicle, reason)


def end_chronicle(chronicle: Chronicle, reason: EndReason) -> bool:
    """End the session of an open chronicle."""
    if chronicle.row["ended_at"] is not None:
        return False
    _end_turns(chronicle, reason)
    drop_waiting(chronicle)
    tx, now = chronicle.tx, chronicle.at
    tx.run("end_session", key=chronicle.key, reason=reason, now=now)
    tx.run("add_ending", session_key=chronicle.key, reason=reason, now=now)
    chronicle.tell(EventKind.SESSION_ENDED)
    return True


def leave(chronicle: Chronicle, reason: EndReason, *, by: Route | None = None) -> SessionId:
    """End a session that no route leads to any more, but the one by which it is left."""
    with chronicle:
        routes = chronicle.tx.all("list_routes", session_key=chronicle.key)
        others = [row for row in routes if row["route"] != by]
        if others or not end_chronicle(chronicle, reason):
            chronicle.tell(EventKind.SESSION_CHANGED)
    return chronicle.id


def _end_turns(chronicle: Chronicle, reason: EndReason) -> None:
    rows = chronicle.tx.all("list_unfinished", session_key=chronicle.key)
    turn_ids = [TurnId(row.number("id")) for row in rows]
    if reason in {EndReason.IDLE, EndReason.DAILY}:
        # Nobody asked for this, so the sender must be able to see it and to ask again.
        expire_turns(chronicle, turn_ids, _ENDED_FIRST)
        return
    for turn_id in turn_ids:
        close_turn(chronicle, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, "Stopped.")


def list_open_kinds(tx: Transaction) -> list[tuple[str, Kind]]:
    """List the platforms and kinds of chat in which sessions are open."""
    return [(row.text("platform"), Kind(row.text("kind"))) for row in tx.all("list_open_kinds")]


def sweep(
    tx: Transaction, platform: str, kind: Kind, *, rules: Rules, now: datetime
) -> list[SessionId]:
    """End a slice of the sessions there whose time is over; empty when there are none left."""
    before = rules.policies.resolve(platform, kind).expired_before(now)
    if before is None:
        return []
    rows = tx.all(
        "list_expired",
        platform=platform,
        kind=kind,
        before=stamp(before),
        now=stamp(now),
        most=_SLICE,
    )
    for row in sorted(rows, key=lambda row: row.number("key")):
        _expire(tx, SessionId(row.text("id")), rules, now)
    return [SessionId(row.text("id")) for row in rows]


def _expire(tx: Transaction, id: SessionId, rules: Rules, now: datetime) -> None:
    with open_chronicle(tx, id, now) as chronicle:
        # Asked again under the lock: somebody may just have spoken.
        load = expect(tx, "read_load", session_key=chronicle.key)
        verdict = why_new(tx, chronicle.row, load, rules=rules, now=now)
        if verdict is not None:
            end_chronicle(chronicle, EndReason(verdict.value))


def hold(
    tx: Transaction, id: SessionId, *, holder: str, until: datetime | None, now: datetime
) -> None:
    """Keep a session from expiring until a moment, or move that moment; None lets go."""
    checked_id(holder, "holder")
    with open_chronicle(tx, id, now) as chronicle:
        if until is None:
            tx.run("release_hold", session_key=chronicle.key, holder=holder)
        elif chronicle.row["ended_at"] is not None:
            raise Conflict("A session that has ended cannot be held", id=id)
        elif checked_moment(until, "end of the hold") <= now:
            raise Invalid("A hold must end in the future", id=id)
        else:
            tx.run(
                "hold_session", session_key=chronicle.key, holder=holder, held_until=stamp(until)
            )


def take_ending(tx: Transaction, *, owner: OwnerId, now: datetime) -> Ending | None:
    """Take the next ending that has to be told, if there is one."""
    row = tx.one("next_ending", now=stamp(now))
    if row is None:
        return None
    tx.run("take_ending", id=row.number("id"), owner=owner, lease_until=stamp(now + LEASE))
    return Ending(
        id=EndingId(row.number("id")),
        session_id=SessionId(row.text("session_id")),
        reason=EndReason(row.text("reason")),
        ended_at=row.moment("ended_at"),
        attempts=row.number("attempts") + 1,
    )


def renew_ending(tx: Transaction, ending: Ending, *, owner: OwnerId, now: datetime) -> None:
    """Keep an ending for a hook that takes its time."""
    tx.run("renew_ending", id=ending.id, owner=owner, lease_until=stamp(now + LEASE))


def close_ending(
    tx: Transaction, ending: Ending, *, owner: OwnerId, error: str | None, now: datetime
) -> None:
    """Write down that an ending was told, or that telling failed and is tried again or given up."""
    is_over = ending.attempts > RETELLINGS
    state = "done" if error is None else "failed" if is_over else "pending"
    closed = tx.one(
        "close_ending",
        id=ending.id,
        owner=owner,
        state=state,
        due_at=stamp(now + _RETELL_AFTER),
        error=error,
    )
    if closed is None:
        raise LeaseLost("Somebody else tells of this ending", id=ending.session_id)
    if state != "pending":
        tx.run("drop_tellings", id=ending.id)


def list_told(tx: Transaction, id: EndingId) -> frozenset[str]:
    """Name the hooks that have been told of an ending, while others have yet to be."""
    return frozenset(row.text("hook") for row in tx.all("list_tellings", id=id))


def note_told(tx: Transaction, id: EndingId, hook: str) -> None:
    """Write down that a hook has been told of an ending: it is not told again."""
    tx.run("add_telling", id=id, hook=hook)
