"""Queries: everything that can be asked without changing anything."""

from datetime import datetime
from itertools import islice

from msgspec import Struct

from threadline.core.address import Address
from threadline.core.errors import NotFound
from threadline.core.message import Message, MessageKey, Part
from threadline.core.route import Route
from threadline.core.session import Session, SessionId
from threadline.core.turn import Turn, TurnId, checked_turn_id
from threadline.core.validation import checked_count, checked_flag, checked_text
from threadline.database.port import Transaction
from threadline.store.session_writer import SessionState
from threadline.store.transcripts.history import END, backwards, forwards
from threadline.store.transcripts.segments import layout_of

PAGE = 50
LARGEST_PAGE = 1000


class Revision(Struct, frozen=True, kw_only=True):
    """What a message said before it was changed."""

    version: int
    parts: tuple[Part, ...]
    replaced_at: datetime


def read_session(tx: Transaction, id: SessionId) -> Session:
    """Read a session."""
    session = tx.one("read_session", Session, id=id)
    if session is None:
        raise _no_session(id)
    return session


def session_state(tx: Transaction, id: SessionId) -> SessionState:
    """Read the state of a session."""
    session = tx.one("read_session_state", SessionState, id=id)
    if session is None:
        raise _no_session(id)
    return session


def session_key(tx: Transaction, id: SessionId) -> int:
    """Return the key of a session."""
    key = tx.one("read_session_key", int, id=id)
    if key is None:
        raise _no_session(id)
    return key


def _no_session(id: SessionId) -> NotFound:
    return NotFound("There is no such session", id=id)


def session_of(tx: Transaction, where: Route) -> SessionId | None:
    """Tell which session a route goes on with, also if it has ended; None: nobody spoke there."""
    bound = tx.one("find_bound", SessionState, route=checked_text(where, "route"))
    return None if bound is None else bound.id


def routes_of(tx: Transaction, id: SessionId) -> list[Route]:
    """List the routes that go on with a session."""
    return tx.all("list_routes", Route, session_key=session_key(tx, id))


def session_address(tx: Transaction, id: SessionId) -> Address:
    """Tell where a session was opened."""
    address = tx.one("read_address_of", Address, id=id)
    if address is None:
        raise _no_session(id)
    return address


def transcript(
    tx: Transaction,
    id: SessionId,
    *,
    before: int | None = None,
    after: int | None = None,
    around: int | None = None,
    most: int = PAGE,
    hidden: bool = False,
) -> list[Message]:
    """Read a page of a transcript in order: its end, or what is before, after or around a place.

    What was undone or retried is left out, unless hidden lines are asked for. A line that a branch
    shares keeps the id of the session it was written in. Around a line is half a page before it,
    and the rest from it on.
    """
    layout, page = layout_of(tx, id), page_size(most)
    out_of_sight = () if checked_flag(hidden, "hidden") else layout.hidden()

    def later(after: int, page: int) -> list[Message]:
        return list(islice(forwards(tx, layout, out_of_sight, after=after, page=page), page))

    def earlier(before: int, page: int) -> list[Message]:
        found = islice(backwards(tx, layout, out_of_sight, before=before, page=page), page)
        return list(found)[::-1]

    if around is not None:
        at, half = checked_count(around, "sequence number"), page // 2
        return [*earlier(at, half), *later(max(at - 1, 0), page - half)]
    if after is not None:
        return later(checked_count(after, "sequence number"), page)
    return earlier(END if before is None else checked_count(before, "sequence number"), page)


def list_queue(tx: Transaction, id: SessionId) -> list[Message]:
    """Read the messages that wait for their turn, in order."""
    key = session_key(tx, id)
    return tx.all("list_waiting_messages", Message, session_key=key, session_id=id)


def revisions(tx: Transaction, key: MessageKey) -> list[Revision]:
    """Read what a message said before it was changed, oldest first."""
    return tx.all("list_revisions", Revision, message_key=key)


def turns(
    tx: Transaction, id: SessionId, most: int = PAGE, before: TurnId | None = None
) -> list[Turn]:
    """Read the turns of a session, the newest first, or those before one of them."""
    key = session_key(tx, id)
    end = END if before is None else checked_turn_id(before)
    return tx.all("list_turns", Turn, session_key=key, before=end, most=page_size(most))


def read_turn(tx: Transaction, id: TurnId) -> Turn:
    """Read a turn."""
    turn = tx.one("find_turn", Turn, id=checked_turn_id(id))
    if turn is None:
        raise NotFound("There is no such turn", id=str(id))
    return turn


def page_size(most: int) -> int:
    """Take how many rows a page may have; more than the largest page holds are not given."""
    return min(checked_count(most, "page size", 1), LARGEST_PAGE)


def turn_address(tx: Transaction, id: TurnId) -> Address:
    """Return where a turn was asked for."""
    address = tx.one("read_turn_address", Address, id=id)
    if address is None:
        raise NotFound("There is no such turn", id=str(id))
    return address
