"""Views: everything that can be asked without changing anything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice

from threadline.core.address import Address, Sender
from threadline.core.errors import NotFound
from threadline.core.event import Cursor, Glimpse
from threadline.core.inbound import Inbound
from threadline.core.listing import SessionRow
from threadline.core.message import Message, MessageKey, Part, unpack
from threadline.core.person import Asker
from threadline.core.route import Route
from threadline.core.session import Session, SessionId
from threadline.core.text import checked_count, checked_flag, checked_text
from threadline.core.turn import Turn, TurnId, checked_turn_id
from threadline.sessions.arrivals import outcome
from threadline.sessions.deliveries.parcel import END_OF_TURN
from threadline.sessions.feed import feed_end
from threadline.sessions.lists.rows import read_rows
from threadline.sessions.people.aliases import rename
from threadline.sessions.people.ownership import asker_keys
from threadline.sessions.records import address_from_row, message_from, session_from, turn_from
from threadline.sessions.transcripts.layout import layout_of
from threadline.sessions.transcripts.lines import END, backwards, forwards
from threadline.storage.database import Row, Transaction

PAGE = 50
LARGEST_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What a message said before it was changed."""

    version: int
    parts: tuple[Part, ...]
    replaced_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What is true at one place of the feed; the events after it keep it true."""

    as_of: Cursor
    glimpses: dict[SessionId, Glimpse]


def read_session(tx: Transaction, id: SessionId) -> Session:
    """Read a session."""
    return session_from(session_row(tx, id))


def session_row(tx: Transaction, id: SessionId) -> Row:
    """Read the row of a session that must be there."""
    row = tx.one("read_session", id=id)
    if row is None:
        raise NotFound("There is no such session", id=id)
    return row


def list_own_sessions(
    tx: Transaction,
    address: Address,
    sender: Sender,
    *,
    profile: str,
    only_here: bool = False,
    most: int = PAGE,
) -> list[SessionRow]:
    """Return the latest sessions of an asker that the sidebar would show them.

    These are no archived sessions, runs of jobs, empty ones or older links of a continuation.
    `only_here` leaves those of the chat that they ask from.
    """
    keys = asker_keys(tx, Asker(address=address, sender=sender, profile=profile))
    rows = tx.all(
        "list_sessions_of_asker",
        profile=keys.profile,
        only_here=int(only_here),
        most=page_size(most),
        **keys.values(),
    )
    shown = read_rows(tx, [row.number("key") for row in rows])
    return [_without_strangers(line, row) for line, row in zip(shown, rows, strict=True)]


def _without_strangers(line: SessionRow, row: Row) -> SessionRow:
    """Name only those relatives of a session that the asker may see, too."""
    parent_id, base_id = row.text_or_none("parent_id"), row.text_or_none("base_id")
    session = replace(
        line.session,
        parent_id=None if parent_id is None else SessionId(parent_id),
        root_id=SessionId(row.text("root_id")),
        base_id=None if base_id is None else SessionId(base_id),
    )
    return replace(line, session=session)


def session_of(tx: Transaction, where: Route) -> SessionId | None:
    """Tell which session a route goes on with, also if it has ended; None: nobody spoke there."""
    row = tx.one("find_bound", route=checked_text(where, "route"))
    return None if row is None else SessionId(row.text("id"))


def routes_of(tx: Transaction, id: SessionId) -> list[Route]:
    """List the routes that go on with a session."""
    key = session_row(tx, id).number("key")
    return [Route(row.text("route")) for row in tx.all("list_routes", session_key=key)]


def address_of(tx: Transaction, id: SessionId) -> Address:
    """Tell where a session was opened."""
    row = tx.one("read_address_of", id=id)
    if row is None:
        raise NotFound("There is no such session", id=id)
    return address_from_row(row)


def find_arrival(tx: Transaction, inbound: Inbound) -> outcome.Arrival | None:
    """Tell what came of something if it has arrived before."""
    row = outcome.find(tx, outcome.in_known_form(tx, rename(tx, inbound)))
    return outcome.repeated(row)


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


def queue(tx: Transaction, id: SessionId) -> list[Message]:
    """Read the messages that wait for their turn, in order."""
    key = session_row(tx, id).number("key")
    return [message_from(row, id) for row in tx.all("list_waiting_messages", session_key=key)]


def revisions(tx: Transaction, key: MessageKey) -> list[Revision]:
    """Read what a message said before it was changed, oldest first."""
    return [
        Revision(
            version=row.number("version"),
            parts=unpack(row.text("text"), row.text_or_none("parts")),
            replaced_at=row.moment("replaced_at"),
        )
        for row in tx.all("list_revisions", message_key=key)
    ]


def turns(
    tx: Transaction, id: SessionId, most: int = PAGE, before: TurnId | None = None
) -> list[Turn]:
    """Read the turns of a session, the newest first, or those before one of them."""
    key = session_row(tx, id).number("key")
    end = END if before is None else checked_turn_id(before)
    rows = tx.all("list_turns", session_key=key, before=end, most=page_size(most))
    return [turn_from(row, id) for row in rows]


def read_turn(tx: Transaction, id: TurnId) -> Turn:
    """Read a turn."""
    row = tx.one("read_turn", id=checked_turn_id(id))
    if row is None:
        raise NotFound("There is no such turn", id=str(id))
    return turn_from(row, SessionId(row.text("session_id")))


def reply(tx: Transaction, turn_id: TurnId) -> list[Message]:
    """Read what a turn has said to people, in order."""
    session_id = read_turn(tx, turn_id).session_id
    rows = tx.all("list_reply", turn_id=turn_id, after_seq=0, until_seq=END_OF_TURN)
    return [message_from(row, session_id) for row in rows]


def snapshot(tx: Transaction, ids: Sequence[SessionId], most: int = LARGEST_PAGE) -> Snapshot:
    """Show sessions as they are at one place of the feed."""
    return Snapshot(
        as_of=feed_end(tx), glimpses={id: _glimpse(session_row(tx, id), tx, most) for id in ids}
    )


def _glimpse(row: Row, tx: Transaction, most: int) -> Glimpse:
    revision, key = row.number("revision"), row.number("key")
    state = "opened"
    if row["ended_at"] is not None:
        state = "ended"
    elif row["suspended_at"] is not None:
        state = "suspended"
    states = {"session": (state, revision)}
    for turn in tx.all("glimpse_turns", session_key=key, most=most):
        states[f"turn {turn.number('id')}"] = (turn.text("state"), revision)
    for delivery in tx.all("glimpse_deliveries", session_key=key, most=most):
        states[f"delivery {delivery.number('id')}"] = (delivery.text("state"), revision)
    return Glimpse(revision=revision, last_seq=row.number("last_seq"), states=states)


def page_size(most: int) -> int:
    """Take how many rows a page may have; more than the largest page holds are not given."""
    return min(checked_count(most, "page size", 1), LARGEST_PAGE)
