"""Session end: how sessions end, and how everybody who wants to know is told exactly once."""

from datetime import datetime, timedelta
from typing import NewType

from msgspec import Struct

from threadline.core.address import Kind
from threadline.core.errors import Conflict, Invalid, LeaseLost
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.route import Route
from threadline.core.session import EndReason, SessionId
from threadline.core.turn import LEASE, OwnerId, TurnId, TurnState
from threadline.core.validation import checked_id, checked_moment
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.session_writer import SessionWriter, write_session
from threadline.store.sessions.reset_check import find_reset_cause
from threadline.store.turns.deferred_commands import drop_waiting
from threadline.store.turns.terminate import close_turn, expire_turns

EndingId = NewType("EndingId", int)

RETELLINGS = 3
_RETELL_AFTER = timedelta(seconds=30)
_SLICE = 20
_ENDED_FIRST = "This message was never answered: the conversation ended first. Send it again."


class Ending(Struct, frozen=True, kw_only=True):
    """One ending of a session that has to be told."""

    id: EndingId
    session_id: SessionId
    reason: EndReason
    ended_at: datetime
    attempts: int


def end_session(tx: Transaction, id: SessionId, *, reason: EndReason) -> bool:
    """End a session; what it still had to do is stopped. False if it had ended before."""
    with write_session(tx, id) as writer:
        return end_open_session(writer, reason)


def end_open_session(writer: SessionWriter, reason: EndReason) -> bool:
    """End the session of an open session writer."""
    if writer.row["ended_at"] is not None:
        return False
    _end_turns(writer, reason)
    drop_waiting(writer)
    tx, now = writer.tx, writer.at
    tx.run("end_session", key=writer.key, reason=reason, now=now)
    tx.run("add_ending", session_key=writer.key, reason=reason, now=now)
    writer.tell(EventKind.SESSION_ENDED)
    return True


def end_if_unbound(
    writer: SessionWriter, reason: EndReason, *, by: Route | None = None
) -> SessionId:
    """End a session that no route leads to any more, but the one by which it is left."""
    with writer:
        routes = writer.tx.all("list_routes", session_key=writer.key)
        others = [row for row in routes if row["route"] != by]
        if others or not end_open_session(writer, reason):
            writer.tell(EventKind.SESSION_CHANGED)
    return writer.id


def _end_turns(writer: SessionWriter, reason: EndReason) -> None:
    rows = writer.tx.all("list_unfinished", session_key=writer.key)
    turn_ids = [TurnId(row.number("id")) for row in rows]
    if reason in {EndReason.IDLE, EndReason.DAILY}:
        # Nobody asked for this, so the sender must be able to see it and to ask again.
        expire_turns(writer, turn_ids, _ENDED_FIRST)
        return
    for turn_id in turn_ids:
        close_turn(writer, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, "Stopped.")


def list_open_kinds(tx: Transaction) -> list[tuple[str, Kind]]:
    """List the platforms and kinds of chat in which sessions are open."""
    return [(row.text("platform"), Kind(row.text("kind"))) for row in tx.all("list_open_kinds")]


def sweep(tx: Transaction, platform: str, kind: Kind) -> list[SessionId]:
    """End a slice of the sessions there whose time is over; empty when there are none left."""
    before = tx.settings.policies.resolve(platform, kind).expired_before(tx.now)
    if before is None:
        return []
    rows = tx.all(
        "list_expired",
        platform=platform,
        kind=kind,
        before=stamp(before),
        now=stamp(tx.now),
        most=_SLICE,
    )
    for row in sorted(rows, key=lambda row: row.number("key")):
        _expire(tx, SessionId(row.text("id")))
    return [SessionId(row.text("id")) for row in rows]


def _expire(tx: Transaction, id: SessionId) -> None:
    with write_session(tx, id) as writer:
        # Asked again under the lock: somebody may just have spoken.
        load = expect(tx, "read_load", session_key=writer.key)
        verdict = find_reset_cause(tx, writer.row, load)
        if verdict is not None:
            end_open_session(writer, EndReason(verdict.value))


def hold(tx: Transaction, id: SessionId, *, holder: str, until: datetime | None) -> None:
    """Keep a session from expiring until a moment, or move that moment; None lets go."""
    checked_id(holder, "holder")
    with write_session(tx, id) as writer:
        if until is None:
            tx.run("release_hold", session_key=writer.key, holder=holder)
        elif writer.row["ended_at"] is not None:
            raise Conflict("A session that has ended cannot be held", id=id)
        elif checked_moment(until, "end of the hold") <= tx.now:
            raise Invalid("A hold must end in the future", id=id)
        else:
            tx.run("hold_session", session_key=writer.key, holder=holder, held_until=stamp(until))


def take_ending(tx: Transaction, *, owner: OwnerId) -> Ending | None:
    """Take the next ending that has to be told, if there is one."""
    row = tx.one("next_ending", now=stamp(tx.now))
    if row is None:
        return None
    tx.run("take_ending", id=row.number("id"), owner=owner, lease_until=stamp(tx.now + LEASE))
    return Ending(
        id=EndingId(row.number("id")),
        session_id=SessionId(row.text("session_id")),
        reason=EndReason(row.text("reason")),
        ended_at=row.moment("ended_at"),
        attempts=row.number("attempts") + 1,
    )


def renew_ending(tx: Transaction, ending: Ending, *, owner: OwnerId) -> None:
    """Keep an ending for a hook that takes its time."""
    tx.run("renew_ending", id=ending.id, owner=owner, lease_until=stamp(tx.now + LEASE))


def close_ending(tx: Transaction, ending: Ending, *, owner: OwnerId, error: str | None) -> None:
    """Write down that an ending was told, or that telling failed and is tried again or given up."""
    is_over = ending.attempts > RETELLINGS
    state = "done" if error is None else "failed" if is_over else "pending"
    closed = tx.one(
        "close_ending",
        id=ending.id,
        owner=owner,
        state=state,
        due_at=stamp(tx.now + _RETELL_AFTER),
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
