"""Session list: the sidebar, and every other list of sessions."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Depends, Query
from msgspec.structs import replace

from threadline.core.address import Kind
from threadline.core.errors import Invalid, Refused
from threadline.core.person import Identity, PersonKey
from threadline.core.session import Origin, ProjectKey, Session, checked_session_id
from threadline.core.session_list import (
    ListCursor,
    ListSection,
    SessionFilter,
    SessionRow,
    Speaker,
)
from threadline.core.turn import TurnState
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import View
from threadline.web.resources.auth_deps import Reading
from threadline.web.resources.deps import MomentQuery, StoreDep
from threadline.web.resources.pagination import PAGE, PAGE_MOST, After, Most, Page
from threadline.web.resources.router import Router
from threadline.web.resources.sessions import SessionView
from threadline.web.resources.visibility import (
    draft_device,
    identity_of,
    profile_of,
    require_owner,
    shown_sessions,
)


class SessionRowView(View, frozen=True, kw_only=True):
    """A session as a list shows it."""

    session: SessionView
    label: str
    """Where it takes place, as a person would call it."""
    people: tuple[str, ...]
    people_count: int
    last_words: str | None
    last_speaker: Speaker | None
    """Who said them."""
    held: TurnState | None
    """The state of the turn under way, if there is one."""
    queued: int
    project_name: str | None
    is_unread: bool
    has_draft: bool
    has_failed_delivery: bool
    """What was last said to its people did not reach all of them."""
    needs_you: bool
    is_read_only: bool


def shown_row(row: SessionRow, session: Session) -> SessionRow:
    """Return a row with its session as far as a visitor may see it."""
    if session is row.session:
        return row
    named = None if session.project is None else row.project_name
    return replace(row, session=session, project_name=named)


class CountsView(View, frozen=True, kw_only=True):
    """How many sessions there are of each sort."""

    total: int
    unread: int
    pinned: int
    by_platform: dict[str, int]
    by_project: dict[int, int]
    archived: int
    scheduled: int


router = Router(prefix="/sessions", tags=["sessions"])

Profile = Annotated[
    str | None, Query(max_length=100, description="The profile; your own where none is named.")
]


Device = Annotated[
    str | None, Query(min_length=1, max_length=100, description="Whose drafts are marked.")
]


Number = Annotated[int | None, Query(ge=1, le=2**53)]


Ids = Annotated[
    Sequence[str],
    Query(max_length=PAGE_MOST, description="Exactly these, whatever becomes of them."),
]


async def _filter(
    *,
    shelf: ListSection = ListSection.SIDEBAR,
    platform: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
    kind: Kind | None = None,
    origin: Origin | None = None,
    project: Number = None,
    person: Number = None,
    sender: Annotated[
        str | None, Query(pattern="^[^:]+:.+$", max_length=300, examples=["telegram:42"])
    ] = None,
    is_pinned: bool | None = None,
    is_unread: bool | None = None,
    is_ended: bool | None = None,
    has_worktree: bool | None = None,
    active_since: MomentQuery = None,
    title: Annotated[str | None, Query(min_length=1, max_length=200)] = None,
    with_empty: bool = False,
) -> SessionFilter:
    platform_of, _, id = (sender or "").partition(":")
    return SessionFilter(
        shelf=shelf,
        platform=platform,
        kind=kind,
        origin=origin,
        project=None if project is None else ProjectKey(project),
        person=None if person is None else PersonKey(person),
        sender=None if sender is None else Identity(platform=platform_of, id=id),
        is_pinned=is_pinned,
        is_unread=is_unread,
        is_ended=is_ended,
        has_worktree=has_worktree,
        active_since=active_since,
        title=title,
        with_empty=with_empty,
    )


Filter = Annotated[SessionFilter, Depends(_filter)]


@router.get("", summary="List sessions")
async def list_sessions(
    *,
    visitor: Reading,
    store: StoreDep,
    only: Filter,
    profile: Profile = None,
    device: Device = None,
    ids: Ids = (),
    after: After = None,
    most: Most = PAGE,
) -> Page[SessionRowView]:
    """Read a page of sessions, pinned ones first, then the latest activity.

    Without a filter it is the sidebar: nothing archived or scheduled, and nothing empty. A member
    gets what is theirs. With `ids` it is these sessions, in this order, even if they are archived;
    those that do not exist, or that you may not see, are left out.
    """
    mine = profile_of(visitor, profile)
    reader = visitor.account.sender.id or ""
    named = None if device is None else draft_device(visitor, device)
    if ids:
        if only != SessionFilter() or after is not None:
            raise Invalid("Give either ids or a filter, not both")
        asked = [checked_session_id(id) for id in ids]
        asker = visitor.asker(mine)
        rows = await store.session_rows(asked, asker=asker, reader=reader, device=named)
        return Page(items=await _shown_rows(store, visitor, rows))
    page = await store.sessions(
        _own(visitor, only),
        profile=mine,
        reader=reader,
        device=named,
        after=None if after is None else ListCursor(after),
        most=most,
    )
    return Page(items=await _shown_rows(store, visitor, page.rows), next=page.next)


async def _shown_rows(
    store: Store, visitor: Caller, rows: Sequence[SessionRow]
) -> list[SessionRowView]:
    sessions = await shown_sessions(store, visitor, [row.session for row in rows])
    return [SessionRowView.of(shown_row(*both)) for both in zip(rows, sessions, strict=True)]


def _own(visitor: Caller, only: SessionFilter) -> SessionFilter:
    """Let a member find nothing but their own, whomever they ask about."""
    if visitor.is_owner:
        return only
    me = identity_of(visitor.account)
    if only.person is not None or only.sender not in {None, me}:
        raise Refused("Members can only list their own conversations")
    return replace(only, sender=me)


@router.get("/counts", summary="Count sessions")
async def count_sessions(visitor: Reading, store: StoreDep, profile: Profile = None) -> CountsView:
    """Count the sessions of a profile by source and project, for its owner."""
    require_owner(visitor, "count all sessions")
    counts = await store.counts(profile=profile_of(visitor, profile))
    return CountsView.of(counts)
