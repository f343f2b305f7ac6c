"""Session list: the sidebar, and every other list of sessions."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from msgspec.structs import replace
from pydantic import Field, TypeAdapter

from threadline.core.address import Kind
from threadline.core.errors import Invalid, Refused
from threadline.core.message import Role
from threadline.core.person import Identity, PersonKey
from threadline.core.session import Origin, ProjectKey, Session, checked_session_id
from threadline.core.session_list import (
    ListCursor,
    ListSection,
    SessionCounts,
    SessionFilter,
    SessionRow,
    Speaker,
)
from threadline.core.turn import TurnState
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import ResponseBody, Told
from threadline.web.resources.auth_deps import Reading
from threadline.web.resources.deps import MomentQuery, StoreDep
from threadline.web.resources.pagination import PAGE, PAGE_MOST, After, Most, Page
from threadline.web.resources.sessions import SessionView
from threadline.web.resources.visibility import (
    draft_device,
    identity_of,
    profile_of,
    require_owner,
    shown_sessions,
)


class SpeakerView(ResponseBody):
    """Who said something."""

    role: Role
    name: str | None = Field(description="Null: nobody knows, or it was the agent.")


class SessionRowView(ResponseBody):
    """A session as a list shows it."""

    session: Annotated[Session, Told(SessionView)]
    label: str = Field(description="Where it takes place, as a person would call it.")
    people: tuple[str, ...]
    people_count: int
    last_words: str | None
    last_speaker: Annotated[Speaker, Told(SpeakerView)] | None = Field(description="Who said them.")
    held: TurnState | None = Field(description="The state of the turn under way, if there is one.")
    queued: int
    project_name: str | None
    is_unread: bool
    has_draft: bool
    has_failed_delivery: bool = Field(
        description="What was last said to its people did not reach all of them."
    )
    needs_you: bool
    is_read_only: bool


_Rows = Page[Annotated[SessionRow, Told(SessionRowView)]]


_rows = TypeAdapter(_Rows)


def shown_row(row: SessionRow, session: Session) -> SessionRow:
    """Show a row, with its session as far as whoever asks may know it."""
    if session is row.session:
        return row
    named = None if session.project is None else row.project_name
    return replace(row, session=session, project_name=named)


def tell_rows(rows: list[SessionRow], next: str | None = None) -> Response:
    """Tell a page of rows, as a page of their views is told."""
    page = _Rows(items=rows, next=next)
    return Response(_rows.dump_json(page, by_alias=True), media_type="application/json")


class CountsView(ResponseBody):
    """How many sessions there are of each sort."""

    total: int
    unread: int
    pinned: int
    by_platform: dict[str, int]
    by_project: dict[int, int]
    archived: int
    scheduled: int

    @classmethod
    def from_counts(cls, counts: SessionCounts) -> "CountsView":
        """Show counts."""
        return cls(
            total=counts.total,
            unread=counts.unread,
            pinned=counts.pinned,
            by_platform=dict(counts.by_platform),
            by_project={int(key): count for key, count in counts.by_project.items()},
            archived=counts.archived,
            scheduled=counts.scheduled,
        )


router = APIRouter(prefix="/sessions", tags=["sessions"])

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


@router.get("", summary="List sessions", response_model=Page[SessionRowView])
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
) -> Response:
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
        return tell_rows(await _shown_rows(store, visitor, rows))
    page = await store.sessions(
        _own(visitor, only),
        profile=mine,
        reader=reader,
        device=named,
        after=None if after is None else ListCursor(after),
        most=most,
    )
    return tell_rows(await _shown_rows(store, visitor, page.rows), page.next)


async def _shown_rows(
    store: Store, visitor: Caller, rows: Sequence[SessionRow]
) -> list[SessionRow]:
    sessions = await shown_sessions(store, visitor, [row.session for row in rows])
    return [shown_row(*both) for both in zip(rows, sessions, strict=True)]


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
    return CountsView.from_counts(counts)
