"""Pages: which sessions a list shows, pinned ones first, then by their latest activity.

A page begins where the one before it ended, by activity and key. So nothing is shown twice in one
walk, however many sessions come in meanwhile, except what was unpinned on the way; what became
active after the walk had begun stands before it, and the feed tells of it.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

from threadline.core.listing import (
    OWNER,
    ListCursor,
    Place,
    SessionCounts,
    SessionFilter,
    SessionPage,
    SessionRow,
    Shelf,
    place_of,
)
from threadline.core.person import Asker
from threadline.core.session import ProjectKey, SessionId
from threadline.core.text import checked_span
from threadline.sessions.lists.rows import read_rows
from threadline.sessions.people.ownership import asker_keys, keys_asked
from threadline.sessions.views import LARGEST_PAGE, PAGE, page_size
from threadline.storage.database import Row, SqlValue, Transaction, expect
from threadline.storage.moments import stamp


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
    place = place_of(after)
    values = _asked(tx, only, profile, reader)
    found: list[tuple[Row, bool]] = []
    for is_pinned in (True, False):
        if only.is_pinned not in {None, is_pinned} or is_pinned > place.is_pinned:
            continue
        start = place if place.is_pinned is is_pinned else Place(is_pinned=is_pinned)
        rows = _find(tx, only, values, start, most + 1 - len(found))
        found += [(row, is_pinned) for row in rows]
        if len(found) > most:
            break
    shown = found[:most]
    return SessionPage(
        rows=read_rows(tx, [row.number("key") for row, _ in shown], reader=reader, device=device),
        next=_place_from(*shown[-1]).cursor() if len(found) > most else None,
    )


def read_listed(
    tx: Transaction,
    ids: Sequence[SessionId],
    asker: Asker,
    *,
    reader: str = OWNER,
    device: str | None = None,
) -> list[SessionRow]:
    """Read the rows of some sessions, in this order, whichever list they would stand in.

    Those that are not there, or that the asker may not see, are left out.
    """
    asked = asker_keys(tx, asker)
    found = tx.all("find_owners", ids=json.dumps(list(ids)))
    keys = {row.text("id"): row.number("key") for row in found if asked.admits(row)}
    shown = [keys[id] for id in dict.fromkeys(ids) if id in keys]
    return read_rows(tx, shown, reader=reader, device=device)


def _place_from(row: Row, is_pinned: bool) -> Place:  # noqa: FBT001 - what a walk found
    at, key = row.number("last_activity_at"), row.number("key")
    return Place(is_pinned=is_pinned, at=at, key=key)


def _find(
    tx: Transaction, only: SessionFilter, values: dict[str, SqlValue], start: Place, most: int
) -> list[Row]:
    """Walk along the index that leads to the fewest sessions."""
    by_senders = values["sender_keys"] is not None
    by_project = only.project is not None and not by_senders
    walks = not (start.is_pinned or by_senders or by_project)
    return tx.all(
        "find_sessions",
        **values,
        pinned=int(start.is_pinned),
        of_senders=int(by_senders and not start.is_pinned),
        of_project=int(by_project and not start.is_pinned),
        listed=int(walks and only.shelf in {Shelf.SIDEBAR, Shelf.ALL}),
        put_away=int(walks and only.shelf is not Shelf.SIDEBAR),
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
    rows = tx.all("count_listed", profile=profile, reader=reader)
    for row in rows:
        count, project = row.number("sessions"), row.number_or_none("project_key")
        platform = row.text("platform")
        by_platform[platform] = by_platform.get(platform, 0) + count
        if project is not None:
            key = ProjectKey(project)
            by_project[key] = by_project.get(key, 0) + count
    away = expect(tx, "count_put_away", profile=profile)
    return SessionCounts(
        total=sum(by_platform.values()),
        unread=sum(row.number("unread") for row in rows),
        pinned=sum(row.number("pinned") for row in rows),
        by_platform=by_platform,
        by_project=by_project,
        archived=away.number("archived"),
        scheduled=away.number("scheduled"),
    )


def list_active(
    tx: Transaction, *, profile: str, within: timedelta, now: datetime
) -> list[SessionId]:
    """List the sessions that were active within a span of time."""
    since = stamp(now - checked_span(within, "span of activity"))
    rows = tx.all("list_active", profile=profile, since=since, most=LARGEST_PAGE)
    return [SessionId(row.text("id")) for row in rows]
