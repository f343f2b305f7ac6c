"""Views: everything that can be asked without changing anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from threadline.core.address import Address, Sender
from threadline.core.errors import NotFound
from threadline.core.event import Cursor, Glimpse
from threadline.core.inbound import Inbound
from threadline.core.message import Message, MessageKey, Part, unpack
from threadline.core.route import Route
from threadline.core.session import Session, SessionId
from threadline.core.text import checked_count, checked_span, checked_text, checked_type, unfit
from threadline.core.turn import Turn, TurnId, TurnState, checked_turn_id
from threadline.core.usage import CostStatus, Usage
from threadline.sessions.arrivals import outcome
from threadline.sessions.conversations import sender_key_of
from threadline.sessions.feed import feed_end
from threadline.sessions.records import message_from, session_from, turn_from
from threadline.storage.database import Row, Transaction
from threadline.storage.moments import stamp

PAGE = 50
LARGEST_PAGE = 1000
_END_OF_TIME = 2**62
_NANO = Decimal(10) ** 9


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session as a list shows it."""

    session: Session
    held: TurnState | None
    """The state of the turn it has under way, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """A page of a list, and where the next one begins."""

    rows: Sequence[SessionRow]
    next: tuple[int, int] | None


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


def list_sessions(
    tx: Transaction, *, profile: str, after: tuple[int, int] | None = None, most: int = PAGE
) -> SessionPage:
    """Read a page of the sessions of a profile, the latest activity first."""
    before_at, before_key = (_END_OF_TIME, _END_OF_TIME) if after is None else _place(after)
    rows = tx.all(
        "list_sessions",
        profile=profile,
        before_at=before_at,
        before_key=before_key,
        most=_page(most),
    )
    more = (rows[-1].number("last_activity_at"), rows[-1].number("key")) if rows else None
    return SessionPage(
        rows=[_listed(row) for row in rows], next=more if len(rows) == most else None
    )


def list_own_sessions(
    tx: Transaction, address: Address, sender: Sender, *, profile: str, most: int = PAGE
) -> list[SessionRow]:
    """Read the latest sessions that an asker may see and resume."""
    rows = tx.all(
        "list_sessions_of_asker",
        profile=profile,
        sender_key=sender_key_of(tx, address, sender),
        platform=address.platform,
        account=address.account,
        kind=address.kind,
        chat=address.chat,
        most=_page(most),
    )
    return [_listed(row) for row in rows]


def _place(after: tuple[int, int]) -> tuple[int, int]:
    place: tuple[object, ...] = checked_type(after, "page", tuple)
    if len(place) != len(("at", "key")):
        raise unfit(after, "page", "what the page before it called the next")
    return checked_count(place[0], "page"), checked_count(place[1], "page")


def _listed(row: Row) -> SessionRow:
    held = row.text_or_none("held_state")
    return SessionRow(session=session_from(row), held=None if held is None else TurnState(held))


def list_active(
    tx: Transaction, *, profile: str, within: timedelta, now: datetime
) -> list[SessionId]:
    """List the sessions that were active within a span of time."""
    since = stamp(now - checked_span(within, "span of activity"))
    rows = tx.all("list_active", profile=profile, since=since, most=LARGEST_PAGE)
    return [SessionId(row.text("id")) for row in rows]


def session_of(tx: Transaction, where: Route) -> SessionId | None:
    """Tell which session a route goes on with, also if it has ended; None: nobody spoke there."""
    row = tx.one("find_bound", route=checked_text(where, "route"))
    return None if row is None else SessionId(row.text("id"))


def routes_of(tx: Transaction, id: SessionId) -> list[Route]:
    """List the routes that go on with a session."""
    key = session_row(tx, id).number("key")
    return [Route(row.text("route")) for row in tx.all("list_routes", session_key=key)]


def find_arrival(tx: Transaction, inbound: Inbound) -> outcome.Arrival | None:
    """Tell what came of something if it has arrived before."""
    row = outcome.find(tx, inbound)
    return None if row is None else outcome.repeated(row)


def transcript(
    tx: Transaction,
    id: SessionId,
    *,
    before: int | None = None,
    after: int | None = None,
    most: int = PAGE,
) -> list[Message]:
    """Read a page of a transcript in order: its end, or what is before or after a place."""
    key = session_row(tx, id).number("key")
    if after is not None:
        after = checked_count(after, "sequence number")
        rows = tx.all("read_page_after", session_key=key, after=after, most=_page(most))
    else:
        end = _END_OF_TIME if before is None else checked_count(before, "sequence number")
        rows = tx.all("read_page_before", session_key=key, before=end, most=_page(most))
        rows.reverse()
    return [message_from(row, id) for row in rows]


def history(tx: Transaction, id: SessionId) -> list[Message]:
    """Read what the agent is shown: the whole transcript without what was deleted."""
    key = session_row(tx, id).number("key")
    rows = tx.all("read_page_after", session_key=key, after=0, most=_END_OF_TIME)
    return [message_from(row, id) for row in rows if row["deleted_at"] is None]


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


def turns(tx: Transaction, id: SessionId, most: int = PAGE) -> list[Turn]:
    """Read the turns of a session, the newest first."""
    key = session_row(tx, id).number("key")
    rows = tx.all("list_turns", session_key=key, most=_page(most))
    return [turn_from(row, id) for row in rows]


def read_turn(tx: Transaction, id: TurnId) -> Turn:
    """Read a turn."""
    row = tx.one("read_turn", id=checked_turn_id(id))
    if row is None:
        raise NotFound("There is no such turn", id=str(id))
    return turn_from(row, SessionId(row.text("session_id")))


def usage(tx: Transaction, id: SessionId) -> list[Usage]:
    """Add up what a session spent, by model and task."""
    key = session_row(tx, id).number("key")
    return [_usage_from(row) for row in tx.all("sum_usage", session_key=key)]


def _usage_from(row: Row) -> Usage:
    cost = row.number_or_none("cost")
    status = CostStatus.UNKNOWN
    if cost is not None:
        exact = row.number("exact") == row.number("calls")
        status = CostStatus.EXACT if exact else CostStatus.ESTIMATED
    return Usage(
        provider=row.text("provider"),
        model=row.text("model"),
        task=row.text("task"),
        input_tokens=row.number("input_tokens"),
        output_tokens=row.number("output_tokens"),
        cache_read_tokens=row.number("cache_read_tokens"),
        cache_write_tokens=row.number("cache_write_tokens"),
        reasoning_tokens=row.number("reasoning_tokens"),
        prompt_tokens=row.number("prompt_tokens"),
        cost=None if cost is None else Decimal(cost) / _NANO,
        cost_status=status,
    )


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


def _page(most: int) -> int:
    return min(checked_count(most, "page size", 1), LARGEST_PAGE)
