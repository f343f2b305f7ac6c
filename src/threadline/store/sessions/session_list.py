"""Session list: which sessions a list shows, pinned ones first, then by their latest activity.

A page begins where the one before it ended, by activity and key. So nothing is shown twice in one
walk, however many sessions come in meanwhile, except what was unpinned on the way; what became
active after the walk had begun stands before it, and the feed tells of it.
"""

from collections.abc import Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.address import Address, Sender
from threadline.core.event import Cursor, SessionSnapshot
from threadline.core.person import Viewer
from threadline.core.session import ProjectKey, SessionId
from threadline.core.session_list import (
    OWNER,
    ListCursor,
    ListPosition,
    ListSection,
    SessionCounts,
    SessionFilter,
    SessionPage,
    SessionRow,
    parse_position,
)
from threadline.core.validation import checked_span
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.feed import feed_end
from threadline.store.people.visibility import asker_keys, find_all_owned, keys_asked
from threadline.store.queries import LARGEST_PAGE, PAGE, page_size, session_state
from threadline.store.session_writer import SessionState
from threadline.store.sessions.session_rows import read_rows


class _SessionPlace(Struct, frozen=True, kw_only=True):
    """A session that a list shows, and its place there."""

    key: int
    last_activity_at: int


class _ListedCount(Struct, frozen=True, kw_only=True):
    """How many sessions of a platform and project the sidebar shows."""

    platform: str
    project_key: ProjectKey | None
    sessions: int
    pinned: int
    unread: int


class _PutAway(Struct, frozen=True, kw_only=True):
    """How many sessions the sidebar does not show."""

    archived: int
    scheduled: int


class _SeenRelatives(Struct, frozen=True, kw_only=True):
    """A session, and those of its relatives that an asker may see."""

    key: int
    parent_id: SessionId | None
    root_id: SessionId
    base_id: SessionId | None


class _Glimpse(Struct, frozen=True, kw_only=True):
    """The state of a turn or a delivery."""

    id: int
    state: str


def list_sessions(
    tx: Transaction,
    only: SessionFilter,
    *,
    profile: str,
    reader: str = OWNER,
    device: str | None = None,
    after: ListCursor | None = None,
    most: int = PAGE,
) -> SessionPage:
    """Read a page of a list."""
    most = page_size(most)
    place = parse_position(after)
    values = _asked(tx, only, profile, reader)
    found: list[tuple[_SessionPlace, bool]] = []
    for is_pinned in (True, False):
        if only.is_pinned not in {None, is_pinned} or is_pinned > place.is_pinned:
            continue
        start = place if place.is_pinned is is_pinned else ListPosition(is_pinned=is_pinned)
        rows = _find(tx, only, values, start, most + 1 - len(found))
        found += [(session, is_pinned) for session in rows]
        if len(found) > most:
            break
    shown = found[:most]
    return SessionPage(
        rows=read_rows(tx, [session.key for session, _ in shown], reader=reader, device=device),
        next=_place_from(*shown[-1]).cursor() if len(found) > most else None,
    )


def read_listed(
    tx: Transaction,
    ids: Sequence[SessionId],
    asker: Viewer,
    *,
    reader: str = OWNER,
    device: str | None = None,
) -> list[SessionRow]:
    """Read the rows of some sessions, in this order, whichever list they would stand in.

    Those that are not there, or that the asker may not see, are left out.
    """
    asked = asker_keys(tx, asker)
    keys = {one.id: one.key for one in find_all_owned(tx, ids) if asked.admits(one)}
    shown = [keys[id] for id in dict.fromkeys(ids) if id in keys]
    return read_rows(tx, shown, reader=reader, device=device)


def _place_from(
    session: _SessionPlace,
    is_pinned: bool,  # noqa: FBT001 - what a walk found
) -> ListPosition:
    return ListPosition(is_pinned=is_pinned, at=session.last_activity_at, key=session.key)


def _find(
    tx: Transaction,
    only: SessionFilter,
    values: dict[str, SqlValue],
    start: ListPosition,
    most: int,
) -> list[_SessionPlace]:
    """Walk along the index that leads to the fewest sessions."""
    by_senders = values["sender_keys"] is not None
    by_project = only.project is not None and not by_senders
    walks = not (start.is_pinned or by_senders or by_project)
    return tx.all(
        "find_sessions",
        _SessionPlace,
        **values,
        pinned=int(start.is_pinned),
        of_senders=int(by_senders and not start.is_pinned),
        of_project=int(by_project and not start.is_pinned),
        listed=int(walks and only.shelf in {ListSection.SIDEBAR, ListSection.ALL}),
        put_away=int(walks and only.shelf is not ListSection.SIDEBAR),
        before_at=start.at,
        before_key=start.key,
        most=most,
    )


def _asked(tx: Transaction, only: SessionFilter, profile: str, reader: str) -> dict[str, SqlValue]:
    since, words = only.active_since, only.title
    return {
        "profile": profile,
        "reader": reader,
        "shelf": only.shelf,
        "platform": only.platform,
        "kind": only.kind,
        "origin": only.origin,
        "project_key": only.project,
        "sender_keys": keys_asked(tx, only.person or only.sender),
        "ended": _flag(only.is_ended),
        "worktree": _flag(only.has_worktree),
        "unread": _flag(only.is_unread),
        "since": None if since is None else stamp(since),
        "words": None if words is None else _ascii_lower(words),
        "empty": int(only.with_empty),
    }


def _flag(value: bool | None) -> int | None:  # noqa: FBT001 - None says that it is not asked
    return None if value is None else int(value)


def _ascii_lower(text: str) -> str:
    """Write A to Z small, as both databases do, whatever language they are set up for."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def count_sessions(tx: Transaction, *, profile: str, reader: str = OWNER) -> SessionCounts:
    """Count the sessions of a profile; this looks at each of them once."""
    by_platform: dict[str, int] = {}
    by_project: dict[ProjectKey, int] = {}
    counted = tx.all("count_listed", _ListedCount, profile=profile, reader=reader)
    for one in counted:
        by_platform[one.platform] = by_platform.get(one.platform, 0) + one.sessions
        if one.project_key is not None:
            by_project[one.project_key] = by_project.get(one.project_key, 0) + one.sessions
    away = expect(tx, "count_put_away", _PutAway, profile=profile)
    return SessionCounts(
        total=sum(by_platform.values()),
        unread=sum(one.unread for one in counted),
        pinned=sum(one.pinned for one in counted),
        by_platform=by_platform,
        by_project=by_project,
        archived=away.archived,
        scheduled=away.scheduled,
    )


def list_active(tx: Transaction, *, profile: str, within: timedelta) -> list[SessionId]:
    """List the sessions that were active within a span of time."""
    since = stamp(tx.now - checked_span(within, "span of activity"))
    return tx.all("list_active", SessionId, profile=profile, since=since, most=LARGEST_PAGE)


class Snapshot(Struct, frozen=True, kw_only=True):
    """What is true at one place of the feed; the events after it keep it true."""

    as_of: Cursor
    glimpses: dict[SessionId, SessionSnapshot]


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
    keys = asker_keys(tx, Viewer(address=address, sender=sender, profile=profile))
    rows = tx.all(
        "list_sessions_of_asker",
        _SeenRelatives,
        profile=keys.profile,
        only_here=int(only_here),
        most=page_size(most),
        **keys.values(),
    )
    shown = read_rows(tx, [row.key for row in rows])
    return [_without_strangers(line, row) for line, row in zip(shown, rows, strict=True)]


def _without_strangers(line: SessionRow, seen: _SeenRelatives) -> SessionRow:
    """Name only those relatives of a session that the asker may see, too."""
    session = replace(
        line.session, parent_id=seen.parent_id, root_id=seen.root_id, base_id=seen.base_id
    )
    return replace(line, session=session)


def snapshot(tx: Transaction, ids: Sequence[SessionId], most: int = LARGEST_PAGE) -> Snapshot:
    """Show sessions as they are at one place of the feed."""
    return Snapshot(
        as_of=feed_end(tx), glimpses={id: _glimpse(session_state(tx, id), tx, most) for id in ids}
    )


def _glimpse(session: SessionState, tx: Transaction, most: int) -> SessionSnapshot:
    revision, key = session.revision, session.key
    state = "opened"
    if session.ended_at is not None:
        state = "ended"
    elif session.suspended_at is not None:
        state = "suspended"
    states = {"session": (state, revision)}
    for turn in tx.all("glimpse_turns", _Glimpse, session_key=key, most=most):
        states[f"turn {turn.id}"] = (turn.state, revision)
    for delivery in tx.all("glimpse_deliveries", _Glimpse, session_key=key, most=most):
        states[f"delivery {delivery.id}"] = (delivery.state, revision)
    return SessionSnapshot(revision=revision, last_seq=session.last_seq, states=states)
