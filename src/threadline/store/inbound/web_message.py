"""Web message: words that come by no route, but from whoever looks at it."""

from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.address import Address
from threadline.core.errors import Invalid, NotFound
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.session import BusyMode, Cause, EndReason, SessionId
from threadline.database.port import Transaction, expect
from threadline.store.inbound import deduplication
from threadline.store.inbound.deduplication import Arrival
from threadline.store.inbound.question_replies import answer_waiting
from threadline.store.inbound.receive import add_to_session, continue_in_session
from threadline.store.people.address_book import KnownAddress, look_up, upsert_address
from threadline.store.people.aliases import resolve_inbound
from threadline.store.queries import session_state
from threadline.store.session_writer import SessionState, SessionWriter, is_being_deleted
from threadline.store.sessions.reset_check import read_load


def ask_in(
    tx: Transaction,
    id: SessionId,
    inbound: Inbound,
    *,
    answers: AccessLevel | None = None,
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
    said = replace(inbound, profile=session_state(tx, id).profile)
    named = resolve_inbound(tx, said)
    deduplication.lock_message(tx, named)
    known = look_up(tx, named, said.address)
    earlier = deduplication.arrival_in(known)
    if (before := deduplication.settled_outcome(tx, named, earlier)) is not None:
        return before
    place = upsert_address(tx, named, said.address, known)
    session = lock_to_ask(tx, id)
    place = at_home(tx, place, session)
    load = read_load(tx, session.key)
    writer = SessionWriter(tx, session)
    if session.is_open:
        given = answer_waiting(tx, named, place, session, load, rank=answers, where=None)
        if given is not None:
            return given
    else:
        reopen(writer)
    is_for_agent = answers is AccessLevel.OWNER
    entrance = continue_in_session(writer, named, place, load, busy=busy, is_for_agent=is_for_agent)
    is_said_there = said.address.platform == session.platform
    return add_to_session(entrance, named, place, None, is_said_there=is_said_there)


def lock_to_ask(tx: Transaction, id: SessionId) -> SessionState:
    """Lock a session that is not being forgotten; return what decides how words enter it.

    If it was suspended and its queue moved to a successor, that one is locked and returned: what is
    asked now comes after what waits there.
    """
    while True:
        session = tx.one("lock_session", SessionState, id=id)
        if session is None or is_being_deleted(tx, session.key):
            raise NotFound("There is no such session", id=id)
        if session.end_reason is not EndReason.SUSPENDED:
            return session
        cause = Cause.SUSPENDED
        successor = tx.one("find_successor", SessionId, key=session.key, cause=cause)
        if successor is None:
            return session
        id = successor


def at_home(tx: Transaction, place: KnownAddress, session: SessionState) -> KnownAddress:
    """Answer the place of a session, with whoever speaks; nobody is greeted in the middle."""
    key = session.address_key
    address = expect(tx, "read_place", Address, key=key)
    return replace(place, address=address, address_key=key, greeting=None)


def reopen(writer: SessionWriter) -> None:
    """Let a session go on that has ended, or rested; its routes stay where they are bound."""
    writer.tx.run("reopen_session", key=writer.key)
    writer.interruptions = 0
    writer.touch()
    writer.tell(EventKind.SESSION_OPENED)
