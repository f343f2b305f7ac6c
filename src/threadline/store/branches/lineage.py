"""Lineage: where a session comes from, what came of it, and chains that are one conversation."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from msgspec import Struct

from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.message import Message
from threadline.core.session import Cause, EndReason, Session, SessionId, checked_session_id
from threadline.core.validation import checked_count, checked_type
from threadline.database.port import Transaction
from threadline.store.branches.child_sessions import BranchPoint, open_child
from threadline.store.queries import LARGEST_PAGE, PAGE, read_session
from threadline.store.session_writer import write_session
from threadline.store.sessions.session_end import end_open_session
from threadline.store.transcripts.history import END, backwards, forwards
from threadline.store.transcripts.segments import layout_of


class Child(Struct, frozen=True, kw_only=True):
    """A session that began from another one."""

    id: SessionId
    cause: Cause
    title: str | None
    base_seq: int | None
    """Up to which line a branch shares what was said; None: it is none."""
    opened_at: datetime


class Link(Struct, frozen=True, kw_only=True):
    """A session as a link of a chain."""

    key: int
    id: SessionId
    parent_key: int | None
    cause: Cause
    last_seq: int
    opened_at: datetime


class _Kin(Struct, frozen=True, kw_only=True):
    """The root and the parent of a session, and how many began from it."""

    key: int
    cause: Cause
    parent_id: SessionId | None
    root_id: SessionId
    children: int


class Lineage(Struct, frozen=True, kw_only=True):
    """The kin of a session."""

    root_id: SessionId
    parent_id: SessionId | None
    cause: Cause
    first_id: SessionId
    """Where the conversation began that this session goes on with."""
    latest_id: SessionId
    """Where the same conversation goes on now: its latest continuation, or the session itself."""
    children: Sequence[Child]
    """The newest of them."""
    number_of_children: int


class Position(Struct, frozen=True, kw_only=True):
    """A line of a stitched transcript: which link of the chain, and where in it."""

    id: SessionId
    seq: int

    def __post_init__(self) -> None:
        """Refuse what can be no place."""
        checked_session_id(self.id)
        checked_count(self.seq, "sequence number")


class StitchedPage(Struct, frozen=True, kw_only=True):
    """A page of a conversation that goes through several sessions."""

    messages: Sequence[Message]
    first: Position | None
    """Ask for what is before this; None: the page is empty."""
    last: Position | None
    """Ask for what is after this."""


def lineage(tx: Transaction, id: SessionId) -> Lineage:
    """Tell where a session comes from, and what came of it."""
    kin = tx.one("read_kin", _Kin, id=id)
    if kin is None:
        raise NotFound("There is no such session", id=id)
    links = chain(tx, id)
    return Lineage(
        root_id=kin.root_id,
        parent_id=kin.parent_id,
        cause=kin.cause,
        first_id=links[0].id,
        latest_id=links[-1].id,
        children=tx.all("list_children", Child, key=kin.key, most=PAGE),
        number_of_children=kin.children,
    )


def chain(tx: Transaction, id: SessionId) -> list[Link]:
    """Read the sessions that are one conversation with this one, in the order of speaking.

    Where one was continued twice, the newer continuation counts.
    """
    before = {link.key: link for link in tx.all("list_continued", Link, id=id)}
    link = next((link for link in before.values() if link.id == id), None)
    if link is None:
        raise NotFound("There is no such session", id=id)
    links = [link]
    seen = {link.key}
    while link.cause is Cause.CONTINUED:
        parent = before.get(link.parent_key or 0)
        if parent is None or parent.key in seen:
            break
        link = parent
        seen.add(link.key)
        links.append(link)
    links.reverse()
    later = tx.all("list_continuations", Link, id=id)
    later.sort(key=lambda link: (link.opened_at, link.key))
    after = {link.parent_key: link for link in later}
    while (newer := after.get(links[-1].key)) is not None:
        if newer.key in seen:
            break
        seen.add(newer.key)
        links.append(newer)
    return links


def list_later_links(tx: Transaction, id: SessionId) -> list[SessionId]:
    """Return a session and those in which the same conversation went on, the oldest first."""
    ids = [link.id for link in chain(tx, id)]
    return ids[ids.index(id) :]


def stitched(
    tx: Transaction,
    id: SessionId,
    *,
    before: Position | None = None,
    after: Position | None = None,
    most: int = PAGE,
) -> StitchedPage:
    """Read a page of a conversation through all its continuations: its end, or around a place."""
    page = min(checked_count(most, "page size", 1), LARGEST_PAGE)
    links = chain(tx, id)
    if after is not None:
        found = list(islice(_onwards(tx, _from(links, after), after.seq, page), page))
    else:
        ends = links if before is None else _until(links, before)
        seq = END if before is None else before.seq
        found = list(islice(_back(tx, ends, seq, page), page))[::-1]
    return StitchedPage(
        messages=[line for _, line in found],
        first=_position(found[0]) if found else None,
        last=_position(found[-1]) if found else None,
    )


def continue_session(tx: Transaction, id: SessionId) -> Session:
    """Go on with the same conversation in a new session; its routes go along, and it ends."""
    with write_session(tx, id) as writer:
        with open_child(writer, Cause.CONTINUED, BranchPoint(), title=None) as child:
            tx.run("rebind_all", from_key=writer.key, to_key=child.key, now=writer.at)
        if not end_open_session(writer, EndReason.SWITCHED):
            writer.tell(EventKind.SESSION_CHANGED)
    return read_session(tx, child.id)


def _position(found: tuple[SessionId, Message]) -> Position:
    id, line = found
    return Position(id=id, seq=line.seq or 0)


def _index(links: Sequence[Link], place: Position) -> int:
    id = checked_type(place, "place", Position).id
    for index, link in enumerate(links):
        if link.id == id:
            return index
    raise NotFound("This session is not part of the conversation", id=id)


def _from(links: Sequence[Link], place: Position) -> Sequence[Link]:
    return links[_index(links, place) :]


def _until(links: Sequence[Link], place: Position) -> Sequence[Link]:
    return links[: _index(links, place) + 1]


def _onwards(
    tx: Transaction, links: Sequence[Link], after: int, page: int
) -> Iterator[tuple[SessionId, Message]]:
    for index, link in enumerate(links):
        if link.last_seq:
            layout = layout_of(tx, link.id)
            begin = 0 if index else after
            for line in forwards(tx, layout, layout.hidden(), after=begin, page=page):
                yield layout.id, line


def _back(
    tx: Transaction, links: Sequence[Link], before: int, page: int
) -> Iterator[tuple[SessionId, Message]]:
    for index, link in enumerate(reversed(links)):
        if link.last_seq:
            layout = layout_of(tx, link.id)
            end = END if index else before
            for line in backwards(tx, layout, layout.hidden(), before=end, page=page):
                yield layout.id, line
