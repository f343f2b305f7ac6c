"""Receive: one transaction from a platform's message to a queued turn."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.address import Kind
from threadline.core.errors import QueueFull
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import MarkerKind, NewMessage, Role, plain_text
from threadline.core.route import Route, is_member_only, route
from threadline.core.session import BusyMode, Cause, EndReason, TitleSource
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import checked_type, first_words
from threadline.database.port import Transaction
from threadline.store.gateways import downtime, unreachable_time
from threadline.store.inbound import deduplication
from threadline.store.inbound.deduplication import Arrival, InboundOutcome
from threadline.store.inbound.edits import apply_early, apply_edit
from threadline.store.inbound.observations import mark_observed, observe
from threadline.store.inbound.question_replies import answer_beside, answer_waiting
from threadline.store.people.address_book import KnownAddress, look_up, upsert_address
from threadline.store.people.aliases import resolve_inbound
from threadline.store.session_writer import SessionState, SessionWriter, require_writable
from threadline.store.sessions.bindings import open_session
from threadline.store.sessions.merge_dms import is_one_conversation, join_person_session
from threadline.store.sessions.reset_check import SessionLoad, find_reset_cause, read_load
from threadline.store.sessions.session_end import end_open_session
from threadline.store.turns.terminate import close_turn, place_messages


class _Payer(Struct, frozen=True, kw_only=True):
    """Who pays for a turn."""

    sender_key: int
    person_key: int | None


class SessionEntry(Struct, frozen=True, kw_only=True):
    """The session that a message enters, and how."""

    writer: SessionWriter
    cause: Cause | None = None
    notes: Sequence[NewMessage] = ()
    joins: TurnId | None = None
    """The waiting turn that it becomes part of."""
    steers: TurnId | None = None
    """The running turn that it is meant for."""
    stopped_id: TurnId | None = None
    is_silent: bool = False
    """Whether the agent does not answer here, as a person has taken over."""


def receive(
    tx: Transaction,
    inbound: Inbound,
    *,
    busy: BusyMode | None = None,
    answers: AccessLevel | None = None,
) -> Arrival:
    """Take in what a platform brings: find its conversation, keep it, and queue its turn.

    What arrived before is answered as before. `busy` says what becomes of this one message if a
    turn runs. With `answers`, the speaker's rank, plain words may answer a turn that waits.
    """
    named = resolve_inbound(tx, checked_type(inbound, "arrival", Inbound))
    deduplication.lock_message(tx, named)
    at, inbound = inbound.address, deduplication.in_known_form(tx, named)
    if inbound.kind is not InboundKind.MESSAGE:
        return apply_edit(tx, inbound)
    known = look_up(tx, inbound, at)
    earlier = deduplication.arrival_in(known)
    if (before := deduplication.settled_outcome(tx, inbound, earlier)) is not None:
        return before
    scopes = tx.settings.scopes_for(at.platform)
    if inbound.observed and is_member_only(at, scopes):
        return observe(tx, inbound, upsert_address(tx, inbound, at, known, greets=False))
    place = upsert_address(tx, inbound, at, known)
    where = route(named.address, named.sender, scopes, place.profile)
    is_fresh = tx.settings.is_fresh(unreachable_time(tx, inbound))
    rank = answers if is_fresh and not known.early else None
    given = answer_beside(tx, inbound, place, known, rank=rank, where=where)
    if given is not None:
        return given
    if place.person_key is not None and is_one_conversation(at, tx.settings):
        join_person_session(tx, where, place.person_key, place.sender_key, profile=place.profile)
    bound = tx.one("lock_bound_session", SessionState, route=where)
    load = None if bound is None else read_load(tx, bound.key)
    cause = find_reset_cause(tx, bound, load)
    if bound is not None and load is not None and cause is None:
        given = answer_waiting(tx, inbound, place, bound, load, rank=rank, where=where)
        if given is not None:
            return given
        entrance = continue_in_session(SessionWriter(tx, bound), inbound, place, load, busy=busy)
    else:
        cause = cause or Cause.FIRST
        entrance = _begin(tx, inbound, place, where, bound, cause=cause)
    arrival = add_to_session(entrance, inbound, place, where)
    if known.early:
        apply_early(tx, inbound)
    return arrival


def _begin(
    tx: Transaction,
    inbound: Inbound,
    place: KnownAddress,
    where: Route,
    bound: SessionState | None,
    *,
    cause: Cause,
) -> SessionEntry:
    """Begin the session that a message needs, and end the one whose time is over."""
    if bound is not None and bound.ended_at is None:
        with SessionWriter(tx, bound) as writer:
            end_open_session(writer, EndReason(cause.value))
        # A message that nobody answered in time is in the transcript only now.
        bound = replace(bound, last_seq=writer.last_seq)
    opening = open_session(tx, place, where, bound, cause, title=_first_words(inbound))
    return SessionEntry(writer=opening.writer, cause=cause, notes=opening.notes)


def continue_in_session(
    writer: SessionWriter,
    inbound: Inbound,
    place: KnownAddress,
    load: SessionLoad,
    *,
    busy: BusyMode | None,
    is_for_agent: bool = False,
) -> SessionEntry:
    """Go on in a session that is there already, by the rules for one that may be busy.

    Where a person has taken over the agent is silent, unless the words are for it alone. With a
    spending cap per person, a message joins and steers only turns that its own sender pays for.
    """
    require_writable(writer)
    settings = writer.tx.settings
    if writer.session.taken_at is not None and not is_for_agent:
        writer.touch()
        return SessionEntry(writer=writer, is_silent=True)
    if inbound.observed:
        return SessionEntry(writer=writer)
    if load.waiting >= settings.queue_cap:
        raise QueueFull(id=writer.id, hint="Wait for an answer, or stop the running turn")
    if not settings.is_fresh(unreachable_time(writer.tx, inbound)):
        # It will expire: it joins, steers and stops nothing.
        return SessionEntry(writer=writer)
    mode = busy or writer.session.busy_mode or settings.busy_for(inbound.address.platform)
    held, queued = load.held_id, load.queued_id
    if mode is BusyMode.COLLECT and queued is not None and _is_joinable(writer, queued, place):
        return SessionEntry(writer=writer, joins=queued)
    is_running = load.held_state is TurnState.RUNNING
    if mode is BusyMode.STEER and is_running and _is_paid_by(writer, held, place):
        return SessionEntry(writer=writer, steers=held)
    if mode is BusyMode.INTERRUPT and held is not None:
        why = "Stopped, because a new message came."
        close_turn(writer, held, TurnState.STOPPED, MarkerKind.STOPPED, why)
        return SessionEntry(writer=writer, stopped_id=held)
    return SessionEntry(writer=writer)


def _is_joinable(writer: SessionWriter, queued: int, place: KnownAddress) -> bool:
    """Return whether a new message may become part of a queued turn.

    It may not if a command waits between them, if the turn may expire, or if another pays for it.
    """
    tx = writer.tx
    queued_at = tx.one("find_joinable", datetime, session_key=writer.key, turn_id=queued)
    if queued_at is None or downtime(tx, queued_at):
        return False
    return _is_paid_by(writer, queued, place)


def _is_paid_by(writer: SessionWriter, turn_id: int | None, place: KnownAddress) -> bool:
    """Return whether a turn counts towards the same caps as a new message of this sender would."""
    if not writer.tx.settings.spend.is_personal:
        return True
    payer = writer.tx.one("find_payer", _Payer, turn_id=turn_id)
    if payer is None or place.sender_key is None:
        return payer is None and place.sender_key is None
    is_person = place.person_key is not None and payer.person_key == place.person_key
    return is_person or payer.sender_key == place.sender_key


def add_to_session(
    entrance: SessionEntry,
    inbound: Inbound,
    place: KnownAddress,
    where: Route | None,
    *,
    is_said_there: bool = True,
) -> Arrival:
    """Keep the message in a session, with a turn that answers it unless it is only observed.

    Where it was not said in the session's own chat, no platform knows it there by its id.
    """
    with entrance.writer as writer:
        is_observed = inbound.observed or entrance.is_silent
        turn_id = None if is_observed else _turn_for(entrance, inbound, place)
        greeting = () if place.greeting is None else (place.greeting,)
        for told in (*greeting, *entrance.notes):
            writer.keep(told, turn_id)
        message = NewMessage(role=Role.USER, parts=inbound.parts)
        message_key = writer.keep(
            message,
            turn_id,
            place.sender_key,
            inbound=inbound,
            is_said_here=is_said_there,
        )
        if turn_id is None:
            place_messages(writer, None)
            came = InboundOutcome.OBSERVED
        else:
            came = InboundOutcome.QUEUED if entrance.joins is None else InboundOutcome.JOINED
        if writer.session.title is None and (title := _first_words(inbound)):
            titled_by = TitleSource.FIRST_WORDS
            writer.tx.run("set_title", key=writer.key, title=title, titled_by=titled_by)
        deduplication.record_outcome(
            writer.tx,
            inbound,
            came,
            session_key=writer.key,
            turn_id=turn_id,
            message_key=message_key,
        )
    return Arrival(
        outcome=came,
        session_id=writer.id,
        turn_id=turn_id,
        route=where,
        cause=entrance.cause,
        stopped_id=entrance.stopped_id,
    )


def _turn_for(entrance: SessionEntry, inbound: Inbound, place: KnownAddress) -> TurnId:
    if entrance.joins is None:
        writer = entrance.writer
        turn_id = writer.queue_turn(place.address_key, entrance.steers, inbound=inbound)
        if place.address.kind is not Kind.DM:
            mark_observed(writer, turn_id, place)
        return turn_id
    entrance.writer.touch()
    entrance.writer.tell(EventKind.TURN_QUEUED, entrance.joins)
    return entrance.joins


def _first_words(inbound: Inbound) -> str:
    return first_words(plain_text(inbound.parts))
