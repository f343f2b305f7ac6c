"""Arrival: one transaction from a platform's message to a queued turn."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from threadline.core.errors import QueueFull
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import MarkerKind, NewMessage, Role, plain_text
from threadline.core.route import Route, route
from threadline.core.rules import Rules
from threadline.core.session import Cause, EndReason, TitleSource
from threadline.core.text import clean_title
from threadline.core.turn import BusyMode, TurnId, TurnState
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.changes import apply_early, change
from threadline.sessions.arrivals.outcome import Arrival, Outcome
from threadline.sessions.arrivals.places import Place, look_up, remember
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.conversations import FIRST_WORDS, NewId, Opening, open_session, why_new
from threadline.sessions.endings import end_chronicle
from threadline.sessions.turns.close import close_turn, place_messages
from threadline.storage.database import Row, Transaction, expect


def arrive(
    tx: Transaction, inbound: Inbound, *, rules: Rules, now: datetime, new_id: NewId
) -> Arrival:
    """Take in what a platform brings: find its conversation, keep it, and queue its turn.

    What arrived before is answered as before, and nothing new is done.
    """
    if inbound.kind is not InboundKind.MESSAGE:
        return change(tx, inbound, rules=rules, now=now)
    known = look_up(tx, inbound)
    if known["outcome"] is not None:
        return outcome.repeated(known)
    place = remember(tx, inbound, known, now)
    where = route(
        place.address, place.sender, rules.scopes_for(place.address.platform), place.profile
    )
    bound = tx.one("lock_bound_session", route=where)
    load = None if bound is None else expect(tx, "read_load", session_key=bound.number("key"))
    cause = why_new(tx, bound, load, rules=rules, now=now)
    if bound is not None and load is not None and cause is None:
        arrival = _go_on(Chronicle(tx, bound, now), inbound, place, load, rules)
    else:
        opening = _begin(
            tx, inbound, place, where, bound, cause, rules=rules, now=now, new_id=new_id
        )
        arrival = _enter(opening.chronicle, inbound, place, notes=opening.notes)
    if known.number("early"):
        apply_early(tx, inbound, rules=rules, now=now)
    return replace(arrival, route=where, cause=cause)


def _begin(
    tx: Transaction,
    inbound: Inbound,
    place: Place,
    where: Route,
    bound: Row | None,
    cause: Cause | None,
    *,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Opening:
    """Begin the session that a message needs, and end the one whose time is over."""
    cause = cause or Cause.FIRST
    if bound is not None and bound["ended_at"] is None:
        with Chronicle(tx, bound, now) as chronicle:
            end_chronicle(chronicle, EndReason(cause.value))
    return open_session(
        tx,
        place,
        where,
        bound,
        cause,
        rules=rules,
        now=now,
        new_id=new_id,
        title=_first_words(inbound),
    )


def _go_on(
    chronicle: Chronicle, inbound: Inbound, place: Place, load: Row, rules: Rules
) -> Arrival:
    """Enter a session that is there already, by the rules for one that may be busy."""
    if inbound.observed:
        return _enter(chronicle, inbound, place)
    if load.number("waiting") >= rules.queue_cap:
        raise QueueFull(id=chronicle.id, hint="Wait for an answer, or stop the running turn")
    mode = BusyMode(
        chronicle.row.text_or_none("busy_mode") or rules.busy_for(place.address.platform)
    )
    held_id = load.number_or_none("held_id")
    joins = load.number_or_none("queued_id") if mode is BusyMode.COLLECT else None
    steers = held_id if mode is BusyMode.STEER and load["held_state"] == "running" else None
    stopped_id = TurnId(held_id) if mode is BusyMode.INTERRUPT and held_id is not None else None
    if stopped_id is not None:
        why = "Stopped, because a new message came."
        close_turn(chronicle, stopped_id, TurnState.STOPPED, MarkerKind.STOPPED, why)
    arrival = _enter(chronicle, inbound, place, joins=joins, steers=steers)
    return replace(arrival, stopped_id=stopped_id)


def _enter(
    chronicle: Chronicle,
    inbound: Inbound,
    place: Place,
    *,
    notes: Sequence[NewMessage] = (),
    joins: int | None = None,
    steers: int | None = None,
) -> Arrival:
    """Keep the message in a session, with a turn that answers it unless it was only observed."""
    turn_id = None
    with chronicle:
        if not inbound.observed:
            turn_id = _turn_for(chronicle, place, joins, steers)
        greeting = () if place.greeting is None else (place.greeting,)
        for told in (*greeting, *notes):
            chronicle.keep(told, turn_id)
        message = NewMessage(role=Role.USER, parts=inbound.parts)
        message_key = chronicle.keep(message, turn_id, place.sender_key)
        if turn_id is None:
            came = Outcome.OBSERVED
            place_messages(chronicle, None)
        else:
            came = Outcome.QUEUED if joins is None else Outcome.JOINED
        if chronicle.row["title"] is None and (title := _first_words(inbound)):
            titled_by = TitleSource.FIRST_WORDS.value
            chronicle.tx.run("set_title", key=chronicle.key, title=title, titled_by=titled_by)
        outcome.note(
            chronicle.tx,
            inbound,
            came,
            session_key=chronicle.key,
            turn_id=turn_id,
            message_key=message_key,
        )
    return Arrival(outcome=came, session_id=chronicle.id, turn_id=turn_id)


def _turn_for(
    chronicle: Chronicle, place: Place, joins: int | None, steers: int | None
) -> TurnId:
    if joins is None:
        return chronicle.queue_turn(place.address_key, steers)
    chronicle.touch()
    chronicle.tell(EventKind.TURN_QUEUED, joins)
    return TurnId(joins)


def _first_words(inbound: Inbound) -> str:
    return clean_title(plain_text(inbound.parts), FIRST_WORDS)
