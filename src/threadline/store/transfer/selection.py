"""Selection: which sessions an export takes, wholly or as an excerpt."""

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterator

from msgspec import Struct, field

from threadline.core.errors import NotFound
from threadline.core.export_format.file_records import ExportScope, Selection
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.database.port import SqlValue, Transaction
from threadline.store.people.visibility import asker_keys, is_seen, keys_of

PLAN_PAGE = 500


class Excerpt(Struct, frozen=True, kw_only=True):
    """The beginning of a session, as it was at one of its revisions."""

    until: int
    revision: int


class SharedBeginning(Struct, frozen=True, kw_only=True):
    """The session whose history another one shares, and how much of it."""

    key: int
    seq: int
    revision: int


class SelectedSession(Struct, frozen=True, kw_only=True):
    """A session to export."""

    key: int
    id: SessionId
    base: SharedBeginning | None
    last_activity_at: int
    """Microseconds."""


class ExportPlan(Struct, kw_only=True):
    """The sessions of an export, by their keys; bases come before their branches."""

    keys: "array[int]" = field(default_factory=lambda: array("q"))
    """Those that were asked for, in order."""
    excerpts: dict[int, Excerpt] = field(default_factory=dict)
    """Those that are needed only because others share their history."""
    latest: int | None = None
    """The latest activity, in microseconds."""

    def has(self, key: int) -> bool:
        """Tell whether a session is taken wholly."""
        at = bisect_left(self.keys, key)
        return at < len(self.keys) and self.keys[at] == key

    def takes(self, key: int) -> bool:
        """Tell whether a session is taken, wholly or in part."""
        return key in self.excerpts or self.has(key)

    def steps(self) -> Iterator[tuple[int, Excerpt | None]]:
        """Walk over everything in order: the key, and how much of it if not all."""
        needed = sorted(self.excerpts)
        at = 0
        for key in self.keys:
            while at < len(needed) and needed[at] < key:
                yield needed[at], self.excerpts[needed[at]]
                at += 1
            yield key, None

    def add(self, session: SelectedSession) -> None:
        """Take a session, and remember its activity."""
        self.keys.append(session.key)
        self.latest = max(self.latest or 0, session.last_activity_at)

    def need(self, session: SelectedSession) -> int | None:
        """Need the base of a session as far as it is shared; return its key if that is news."""
        if session.base is None or self.has(session.base.key):
            return None
        base, until, revision = session.base.key, session.base.seq, session.base.revision
        if session.key in self.excerpts:
            until = min(until, self.excerpts[session.key].until)
        before = self.excerpts.get(base)
        if before is not None:
            until, revision = max(until, before.until), max(revision, before.revision)
        self.excerpts[base] = Excerpt(until=until, revision=revision)
        return None if self.excerpts[base] == before else base


def plan_page(
    tx: Transaction, selection: Selection, after: int, asker: Viewer | None
) -> tuple[list[SelectedSession], int | None]:
    """Read a page of the sessions to export, and after which key the next one begins."""
    if selection.extent is ExportScope.SESSION:
        page = [_find(tx, SessionId(selection.session or ""))]
        more = None
    else:
        page = _page(tx, selection, after)
        more = page[-1].key if len(page) == PLAN_PAGE else None
    if asker is not None:
        keys = asker_keys(tx, asker)
        page = [session for session in page if is_seen(tx, keys, session.id)]
    if selection.extent is ExportScope.SESSION and not page:
        raise NotFound("There is no such session", id=selection.session)
    return page, more


def _find(tx: Transaction, id: SessionId) -> SelectedSession:
    session = tx.one("find_exported", SelectedSession, id=id)
    if session is None:
        raise NotFound("There is no such session", id=id)
    return session


def _page(tx: Transaction, selection: Selection, after: int) -> list[SelectedSession]:
    page: dict[str, SqlValue] = {"after": after, "most": PLAN_PAGE}
    match selection.extent:
        case ExportScope.PROFILE:
            return tx.all(
                "list_profile_exported", SelectedSession, profile=selection.profile, **page
            )
        case ExportScope.PROJECT:
            key = _project_key(tx, selection)
            return tx.all("list_project_exported", SelectedSession, project_key=key, **page)
        case ExportScope.PERSON:
            keys = _sender_keys(tx, selection)
            return tx.all("list_person_exported", SelectedSession, sender_keys=keys, **page)
        case _:
            return tx.all("list_all_exported", SelectedSession, **page)


def _project_key(tx: Transaction, selection: Selection) -> int:
    key = tx.one("find_exported_project", int, profile=selection.profile, name=selection.project)
    if key is None:
        raise NotFound("There is no such project", id=selection.project)
    return key


def _sender_keys(tx: Transaction, selection: Selection) -> str:
    keys = [] if selection.person is None else keys_of(tx, selection.person)
    if not keys:
        raise NotFound("Nobody is known by this id", id=str(selection.person))
    return json.dumps(keys)


def find_bases(tx: Transaction, keys: list[int]) -> list[SelectedSession]:
    """Read the sessions whose history others share, so that their own bases can be found."""
    found = [tx.one("find_exported_by_key", SelectedSession, key=key) for key in keys]
    return [session for session in found if session is not None]
