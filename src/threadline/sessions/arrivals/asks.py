"""Asking in a given session: words that come by no route, but from whoever looks at it."""

from dataclasses import replace
from datetime import datetime

from threadline.core.errors import Invalid, NotFound
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.rank import Rank
from threadline.core.rules import Rules
from threadline.core.session import Cause, EndReason, SessionId
from threadline.core.turn import BusyMode
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.answers import answer_waiting
from threadline.sessions.arrivals.arrive import enter, go_on
from threadline.sessions.arrivals.outcome import Arrival
from threadline.sessions.arrivals.places import Place, look_up, remember
from threadline.sessions.chronicle import Chronicle, is_doomed
from threadline.sessions.people.aliases import rename
from threadline.sessions.records import address_from_row
from threadline.sessions.views import session_row
from threadline.storage.database import Row, Transaction, expect


def ask_in(
    tx: Transaction,
    id: SessionId,
    inbound: Inbound,
    *,
    rules: Rules,
    now: datetime,
    answers: Rank | None = None,
    busy: BusyMode | None = None,
) -> Arrival:
    """Keep what somebody says in a session that they look at, and queue its turn there.

    The turn answers where the session is at home. A session that has ended is reopened without a
    reset, as the caller named it; only one whose queue moved on after a suspension is continued by
    its successor. What arrived before has the same outcome again. While a person has taken over,
    only an owner still asks the agent.
    """
    if inbound.kind is not InboundKind.MESSAGE or inbound.observed:
        raise Invalid("Only a message can ask something", id=id)
    said = replace(inbound, profile=session_row(tx, id).text("profile"))
    named = rename(tx, said)
    outcome.lock(tx, named)
    known = look_up(tx, named, said.address)
    if (before := outcome.settled(tx, named, known)) is not None:
        return before
    place = remember(tx, named, said.address, known, now)
    row = lock_to_ask(tx, id)
    place = at_home(tx, place, row)
    load = expect(tx, "read_load", session_key=row.number("key"))
    chronicle = Chronicle(tx, row, now)
    if row["ended_at"] is None and row["suspended_at"] is None:
        given = answer_waiting(
            tx, named, place, row, load, rank=answers, where=None, rules=rules, now=now
        )
        if given is not None:
            return given
    else:
        reopen(chronicle)
    is_for_agent = answers is Rank.OWNER
    entrance = go_on(chronicle, named, load, rules, busy, is_for_agent=is_for_agent)
    is_said_there = said.address.platform == row["platform"]
    return enter(entrance, named, place, None, is_said_there=is_said_there)


def lock_to_ask(tx: Transaction, id: SessionId) -> Row:
    """Lock a session that is not being forgotten; return what decides how words enter it.

    If it was suspended and its queue moved to a successor, that one is locked and returned: what is
    asked now comes after what waits there.
    """
    while True:
        row = tx.one("lock_session_to_ask", id=id)
        if row is None or is_doomed(tx, row.number("key")):
            raise NotFound("There is no such session", id=id)
        if row["end_reason"] != EndReason.SUSPENDED:
            return row
        successor = tx.one("find_successor", key=row.number("key"), cause=Cause.SUSPENDED)
        if successor is None:
            return row
        id = SessionId(successor.text("id"))


def at_home(tx: Transaction, place: Place, session: Row) -> Place:
    """Answer the place of a session, with whoever speaks; nobody is greeted in the middle."""
    key = session.number("address_key")
    address = address_from_row(expect(tx, "read_place", key=key))
    return replace(place, address=address, address_key=key, greeting=None)


def reopen(chronicle: Chronicle) -> None:
    """Let a session go on that has ended, or rested; its routes stay where they are bound."""
    chronicle.tx.run("reopen_session", key=chronicle.key)
    chronicle.interruptions = 0
    chronicle.touch()
    chronicle.tell(EventKind.SESSION_OPENED)
