"""Arrival: one transaction from a platform's message to a queued turn."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from threadline.core.address import Kind
from threadline.core.errors import QueueFull
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import MarkerKind, NewMessage, Role, plain_text
from threadline.core.rank import Rank
from threadline.core.route import Route, is_member_only, route
from threadline.core.rules import Rules
from threadline.core.session import Cause, EndReason, TitleSource
from threadline.core.text import checked_type, first_words
from threadline.core.turn import BusyMode, TurnId, TurnState
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.answers import answer_beside, answer_waiting
from threadline.sessions.arrivals.changes import apply_early, change
from threadline.sessions.arrivals.observations import mark_observed, observe
from threadline.sessions.arrivals.outcome import Arrival, Outcome
from threadline.sessions.arrivals.places import Place, look_up, remember
from threadline.sessions.chronicle import Chronicle, require_writable
from threadline.sessions.conversations import NewId, open_session
from threadline.sessions.endings import end_chronicle
from threadline.sessions.gateways import unreached, unserved
from threadline.sessions.people.aliases import rename
from threadline.sessions.people.gathering import gather, is_one_conversation
from threadline.sessions.turns.close import close_turn, place_messages
from threadline.sessions.verdicts import why_new
from threadline.storage.database import Row, Transaction, expect


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrance:
    """The session that a message enters, and how."""

    chronicle: Chronicle
    cause: Cause | None = None
    notes: Sequence[NewMessage] = ()
    joins: TurnId | None = None
    """The waiting turn that it becomes part of."""
    steers: TurnId | None = None
    """The running turn that it is meant for."""
    stopped_id: TurnId | None = None
    is_silent: bool = False
    """Whether the agent does not answer here, as a person has taken over."""


def arrive(
    tx: Transaction,
    inbound: Inbound,
    *,
    rules: Rules,
    now: datetime,
    new_id: NewId,
    busy: BusyMode | None = None,
    answers: Rank | None = None,
) -> Arrival:
    """Take in what a platform brings: find its conversation, keep it, and queue its turn.

    What arrived before is answered as before. `busy` says what becomes of this one message if a
    turn runs. With `answers`, the speaker's rank, plain words may answer a turn that waits.
    """
    named = rename(tx, checked_type(inbound, "arrival", Inbound))
    outcome.lock(tx, named)
    at, inbound = inbound.address, outcome.in_known_form(tx, named)
    if inbound.kind is not InboundKind.MESSAGE:
        return change(tx, inbound, rules=rules, now=now)
    known = look_up(tx, inbound, at)
    if (before := outcome.settled(tx, inbound, known)) is not None:
        return before
    scopes = rules.scopes_for(at.platform)
    if inbound.observed and is_member_only(at, scopes):
        return observe(tx, inbound, remember(tx, inbound, at, known), now)
    place = remember(tx, inbound, at, known, now)
    where = route(named.address, named.sender, scopes, place.profile)
    is_fresh = rules.is_fresh(unreached(tx, inbound, now))
    rank = answers if is_fresh and not known.number("early") else None
    given = answer_beside(tx, inbound, place, known, rank=rank, where=where, now=now)
    if given is not None:
        return given
    if place.person_key is not None and is_one_conversation(at, rules):
        gather(tx, where, place.person_key, place.sender_key, profile=place.profile, now=now)
    bound = tx.one("lock_bound_session", route=where)
    load = None if bound is None else expect(tx, "read_load", session_key=bound.number("key"))
    cause = why_new(tx, bound, load, rules=rules, now=now)
    if bound is not None and load is not None and cause is None:
        given = answer_waiting(
            tx, inbound, place, bound, load, rank=rank, where=where, rules=rules, now=now
        )
        if given is not None:
            return given
        entrance = go_on(Chronicle(tx, bound, now), inbound, load, rules, busy)
    else:
        cause = cause or Cause.FIRST
        entrance = _begin(
            tx, inbound, place, where, bound, cause=cause, rules=rules, now=now, new_id=new_id
        )
    arrival = enter(entrance, inbound, place, where)
    if known.number("early"):
        apply_early(tx, inbound, rules=rules, now=now)
    return arrival


def _begin(
    tx: Transaction,
    inbound: Inbound,
    place: Place,
    where: Route,
    bound: Row | None,
    *,
    cause: Cause,
    rules: Rules,
    now: datetime,
    new_id: NewId,
) -> Entrance:
    """Begin the session that a message needs, and end the one whose time is over."""
    if bound is not None and bound["ended_at"] is None:
        with Chronicle(tx, bound, now) as chronicle:
            end_chronicle(chronicle, EndReason(cause.value))
        # A message that nobody answered in time is in the transcript only now.
        bound = Row(bound, last_seq=chronicle.last_seq)
    opening = open_session(
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
    return Entrance(chronicle=opening.chronicle, cause=cause, notes=opening.notes)


def go_on(
    chronicle: Chronicle,
    inbound: Inbound,
    load: Row,
    rules: Rules,
    busy: BusyMode | None,
    *,
    is_for_agent: bool = False,
) -> Entrance:
    """Go on in a session that is there already, by the rules for one that may be busy.

    Where a person has taken over the agent is silent, unless the words are for it alone.
    """
    require_writable(chronicle)
    if chronicle.row["taken_at"] is not None and not is_for_agent:
        chronicle.touch()
        return Entrance(chronicle=chronicle, is_silent=True)
    if inbound.observed:
        return Entrance(chronicle=chronicle)
    if load.number("waiting") >= rules.queue_cap:
        raise QueueFull(id=chronicle.id, hint="Wait for an answer, or stop the running turn")
    if not rules.is_fresh(unreached(chronicle.tx, inbound, chronicle.now)):
        # It will expire: it joins, steers and stops nothing.
        return Entrance(chronicle=chronicle)
    mode = busy or chronicle.row["busy_mode"] or rules.busy_for(inbound.address.platform)
    held, queued = load.number_or_none("held_id"), load.number_or_none("queued_id")
    if mode == BusyMode.COLLECT and queued is not None and _is_joinable(chronicle, queued):
        return Entrance(chronicle=chronicle, joins=TurnId(queued))
    if mode == BusyMode.STEER and load["held_state"] == TurnState.RUNNING and held is not None:
        return Entrance(chronicle=chronicle, steers=TurnId(held))
    if mode == BusyMode.INTERRUPT and held is not None:
        why = "Stopped, because a new message came."
        close_turn(chronicle, TurnId(held), TurnState.STOPPED, MarkerKind.STOPPED, why)
        return Entrance(chronicle=chronicle, stopped_id=TurnId(held))
    return Entrance(chronicle=chronicle)


def _is_joinable(chronicle: Chronicle, queued: int) -> bool:
    """Return whether a new message may become part of a queued turn.

    It may not if a command waits between them, nor if the turn may expire.
    """
    tx, now = chronicle.tx, chronicle.now
    row = tx.one("find_joinable", session_key=chronicle.key, turn_id=queued)
    return row is not None and not unserved(tx, row.moment("queued_at"), now)


def enter(
    entrance: Entrance,
    inbound: Inbound,
    place: Place,
    where: Route | None,
    *,
    is_said_there: bool = True,
) -> Arrival:
    """Keep the message in a session, with a turn that answers it unless it is only observed.

    Where it was not said in the session's own chat, no platform knows it there by its id.
    """
    with entrance.chronicle as chronicle:
        is_observed = inbound.observed or entrance.is_silent
        turn_id = None if is_observed else _turn_for(entrance, inbound, place)
        greeting = () if place.greeting is None else (place.greeting,)
        for told in (*greeting, *entrance.notes):
            chronicle.keep(told, turn_id)
        message = NewMessage(role=Role.USER, parts=inbound.parts)
        message_key = chronicle.keep(
            message,
            turn_id,
            place.sender_key,
            inbound=inbound,
            is_said_here=is_said_there,
        )
        if turn_id is None:
            place_messages(chronicle, None)
            came = Outcome.OBSERVED
        else:
            came = Outcome.QUEUED if entrance.joins is None else Outcome.JOINED
        if chronicle.row["title"] is None and (title := _first_words(inbound)):
            titled_by = TitleSource.FIRST_WORDS
            chronicle.tx.run("set_title", key=chronicle.key, title=title, titled_by=titled_by)
        outcome.note(
            chronicle.tx,
            inbound,
            came,
            session_key=chronicle.key,
            turn_id=turn_id,
            message_key=message_key,
        )
    return Arrival(
        outcome=came,
        session_id=chronicle.id,
        turn_id=turn_id,
        route=where,
        cause=entrance.cause,
        stopped_id=entrance.stopped_id,
    )


def _turn_for(entrance: Entrance, inbound: Inbound, place: Place) -> TurnId:
    if entrance.joins is None:
        chronicle = entrance.chronicle
        turn_id = chronicle.queue_turn(place.address_key, entrance.steers, inbound=inbound)
        if place.address.kind is not Kind.DM:
            mark_observed(chronicle, turn_id, place)
        return turn_id
    entrance.chronicle.touch()
    entrance.chronicle.tell(EventKind.TURN_QUEUED, entrance.joins)
    return entrance.joins


def _first_words(inbound: Inbound) -> str:
    return first_words(plain_text(inbound.parts))
