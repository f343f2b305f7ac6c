"""Session end: how sessions end, and how everybody who wants to know is told exactly once."""

from datetime import datetime, timedelta
from typing import NewType

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.address import Kind
from threadline.core.errors import Conflict, Invalid, LeaseLost
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.route import Route
from threadline.core.session import EndReason, SessionId
from threadline.core.turn import LEASE, OwnerId, TurnState
from threadline.core.validation import checked_id, checked_moment
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.session_writer import SessionWriter, write_session
from threadline.store.sessions.reset_check import find_reset_cause, read_load
from threadline.store.turns.deferred_commands import drop_waiting
from threadline.store.turns.terminate import UnfinishedTurn, close_turn, expire_turns

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


class _OpenKind(Struct, frozen=True, kw_only=True):
    """A kind of chat on a platform."""

    platform: str
    kind: Kind


class _Expired(Struct, frozen=True, kw_only=True):
    """A session whose time may be over."""

    key: int
    id: SessionId


def end_session(tx: Transaction, id: SessionId, *, reason: EndReason) -> bool:
    """End a session; what it still had to do is stopped. False if it had ended before."""
    with write_session(tx, id) as writer:
        return end_open_session(writer, reason)


def end_open_session(writer: SessionWriter, reason: EndReason) -> bool:
    """End the session of an open session writer."""
    if writer.session.ended_at is not None:
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
        routes = writer.tx.all("list_routes", Route, session_key=writer.key)
        others = [route for route in routes if route != by]
        if others or not end_open_session(writer, reason):
            writer.tell(EventKind.SESSION_CHANGED)
    return writer.id


def _end_turns(writer: SessionWriter, reason: EndReason) -> None:
    turns = writer.tx.all("list_unfinished", UnfinishedTurn, session_key=writer.key)
    turn_ids = [turn.id for turn in turns]
    if reason in {EndReason.IDLE, EndReason.DAILY}:
        # Nobody asked for this, so the sender must be able to see it and to ask again.
        expire_turns(writer, turn_ids, _ENDED_FIRST)
        return
    for turn_id in turn_ids:
        close_turn(writer, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, "Stopped.")


def list_open_kinds(tx: Transaction) -> list[tuple[str, Kind]]:
    """List the platforms and kinds of chat in which sessions are open."""
    kinds = tx.all("list_open_kinds", _OpenKind)
    return [(one.platform, one.kind) for one in kinds]


def sweep(tx: Transaction, platform: str, kind: Kind) -> list[SessionId]:
    """End a slice of the sessions there whose time is over; empty when there are none left."""
    before = tx.settings.policies.resolve(platform, kind).expired_before(tx.now)
    if before is None:
        return []
    expired = tx.all(
        "list_expired",
        _Expired,
        platform=platform,
        kind=kind,
        before=stamp(before),
        now=stamp(tx.now),
        most=_SLICE,
    )
    for session in sorted(expired, key=lambda session: session.key):
        _expire(tx, session.id)
    return [session.id for session in expired]


def _expire(tx: Transaction, id: SessionId) -> None:
    with write_session(tx, id) as writer:
        # Asked again under the lock: somebody may just have spoken.
        verdict = find_reset_cause(tx, writer.session, read_load(tx, writer.key))
        if verdict is not None:
            end_open_session(writer, EndReason(verdict.value))


def hold(tx: Transaction, id: SessionId, *, holder: str, until: datetime | None) -> None:
    """Keep a session from expiring until a moment, or move that moment; None lets go."""
    checked_id(holder, "holder")
    with write_session(tx, id) as writer:
        if until is None:
            tx.run("release_hold", session_key=writer.key, holder=holder)
        elif writer.session.ended_at is not None:
            raise Conflict("A session that has ended cannot be held", id=id)
        elif checked_moment(until, "end of the hold") <= tx.now:
            raise Invalid("A hold must end in the future", id=id)
        else:
            tx.run("hold_session", session_key=writer.key, holder=holder, held_until=stamp(until))


def take_ending(tx: Transaction, *, owner: OwnerId) -> Ending | None:
    """Take the next ending that has to be told, if there is one."""
    ending = tx.one("next_ending", Ending, now=stamp(tx.now))
    if ending is None:
        return None
    tx.run("take_ending", id=ending.id, owner=owner, lease_until=stamp(tx.now + LEASE))
    return replace(ending, attempts=ending.attempts + 1)


def renew_ending(tx: Transaction, ending: Ending, *, owner: OwnerId) -> None:
    """Keep an ending for a hook that takes its time."""
    tx.run("renew_ending", id=ending.id, owner=owner, lease_until=stamp(tx.now + LEASE))


def close_ending(tx: Transaction, ending: Ending, *, owner: OwnerId, error: str | None) -> None:
    """Write down that an ending was told, or that telling failed and is tried again or given up."""
    is_over = ending.attempts > RETELLINGS
    state = "done" if error is None else "failed" if is_over else "pending"
    is_closed = tx.exists(
        "close_ending",
        id=ending.id,
        owner=owner,
        state=state,
        due_at=stamp(tx.now + _RETELL_AFTER),
        error=error,
    )
    if not is_closed:
        raise LeaseLost("Somebody else tells of this ending", id=ending.session_id)
    if state != "pending":
        tx.run("drop_tellings", id=ending.id)


def list_told(tx: Transaction, id: EndingId) -> frozenset[str]:
    """Name the hooks that have been told of an ending, while others have yet to be."""
    return frozenset(tx.all("list_tellings", str, id=id))


def note_told(tx: Transaction, id: EndingId, hook: str) -> None:
    """Write down that a hook has been told of an ending: it is not told again."""
    tx.run("add_telling", id=id, hook=hook)
