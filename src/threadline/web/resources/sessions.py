"""Sessions: listed, begun by their first words, changed, and forgotten."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from msgspec.structs import replace

from threadline.core.address import Kind
from threadline.core.errors import Invalid, Refused
from threadline.core.person import Identity, PersonKey
from threadline.core.session import Origin, ProjectKey, SessionId, checked_session_id
from threadline.core.session_list import ListCursor, ListSection, SessionFilter, SessionRow
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival
from threadline.web.authentication import Caller
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.choice_limits import require_leave
from threadline.web.resources.deps import MomentQuery, SessionIdPath, StoreDep
from threadline.web.resources.etags import IfMatch, seen_in, tell_tag
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.pagination import PAGE, PAGE_MOST, After, Most, Page
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.schemas.messages import SentView
from threadline.web.resources.schemas.sessions import (
    CertificateView,
    CountsView,
    DeletionPreviewView,
    MarkRequest,
    MarkView,
    RoundsView,
    SessionRequest,
    SessionRowView,
    SessionUpdateRequest,
    SessionView,
    StreamingView,
    shown_row,
    tell_rows,
)
from threadline.web.resources.visibility import (
    draft_device,
    identity_of,
    make_inbound,
    profile_of,
    require_owner,
    shown_session,
    shown_sessions,
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


@router.post(
    "",
    status_code=201,
    summary="Start a session",
    response_model=SentView,
    responses=problem_responses(402, 409),
)
async def begin_session(
    visitor: Writing, store: StoreDep, wish: SessionRequest, once: OnceDep
) -> Response:
    """Start a conversation with its first message; before that nothing is stored.

    The agent is asked, and `turn_id` is the turn that answers.
    """
    profile = profile_of(visitor, wish.profile)
    require_leave(visitor, wish.wanted(), store.rules)

    async def begin(store: Store) -> Arrival:
        said = await make_inbound(
            store, visitor, wish, once.name, profile=profile, thread=once.name[:16]
        )
        return await store.begin(said, wish.wanted())

    return await once.answer(visitor.account, begin, SentView.from_arrival)


@router.get("/{id}", summary="Read a session")
async def read_session(
    visitor: Reading, store: StoreDep, id: SessionIdPath, response: Response
) -> SessionView:
    """Read a session; pass its `ETag` as `If-Match` to change it."""
    session = await visible(store, visitor, id)
    tell_tag(response, session.etag)
    return SessionView.from_session(await shown_session(store, visitor, session))


@router.patch("/{id}", summary="Change a session", responses=problem_responses(409, 412, 428))
async def change_session(
    *,
    visitor: Exchanging,
    store: StoreDep,
    id: SessionIdPath,
    wish: SessionUpdateRequest,
    response: Response,
    seen: IfMatch = None,
) -> SessionView:
    """Rename, pin, archive or move a session, or choose how its agent works.

    What you do not name stays as it is. Only an owner can set tools, folders and a model's address.
    """
    session = await visible(store, visitor, id)
    expected = seen_in(seen)
    require_leave(visitor, wish.wanted(), store.rules)
    session = await store.change_session(session.id, wish.wanted(), seen=expected, by=visitor.actor)
    tell_tag(response, session.etag)
    return SessionView.from_session(await shown_session(store, visitor, session))


@router.get("/{id}/forgetting", summary="Plan to forget a session")
async def plan_forgetting(
    visitor: Reading, store: StoreDep, id: SessionIdPath
) -> DeletionPreviewView:
    """Tell what would be removed with a session, without changing anything."""
    session = await visible(store, visitor, id)
    plan = await store.plan_forgetting([session.id])
    if not visitor.is_owner:
        seen = await store.visible(plan.branches, viewer=visitor.account)
        plan = replace(plan, branches=tuple(id for id in plan.branches if id in seen))
    return DeletionPreviewView.from_plan(plan)


@router.delete("/{id}", summary="Forget a session", responses=problem_responses(409, 412, 428))
async def forget_session(
    visitor: Writing, store: StoreDep, id: SessionIdPath, seen: IfMatch = None
) -> CertificateView:
    """Forget a session for good: rows, attachments, index, journal and free pages.

    A member may forget their own direct conversations.
    """
    session = await visible(store, visitor, id)
    expected = seen_in(seen)
    require_own(visitor, session.id, session.kind)
    by = visitor.actor
    certificate = await store.forget_session(session.id, seen=expected, by=by)
    return CertificateView.from_certificate(certificate)


def require_own(visitor: Caller, id: SessionId, kind: Kind) -> None:
    """Refuse that a member does away with what others wrote, too."""
    if not visitor.is_owner and kind is not Kind.DM:
        raise Refused("Only an owner may delete a shared conversation", id=id)


@router.post("/{id}/end", summary="End a session")
async def end_session(visitor: Exchanging, store: StoreDep, id: SessionIdPath) -> SessionView:
    """End a session; the next message there starts a new one."""
    session = await visible(store, visitor, id)
    await store.end(session.id)
    session = await store.session(session.id)
    return SessionView.from_session(await shown_session(store, visitor, session))


@router.get("/{id}/streaming", summary="Read what is being said")
async def read_streaming(visitor: Reading, store: StoreDep, id: SessionIdPath) -> StreamingView:
    """Read what the turn under way has said so far, whichever process runs it."""
    session = await visible(store, visitor, id)
    return StreamingView.from_streaming(await store.streaming(session.id))


@router.put("/{id}/mark", summary="Mark as read")
async def mark_read(
    visitor: Writing, store: StoreDep, id: SessionIdPath, wish: MarkRequest
) -> MarkView:
    """Mark everything up to a line, or everything, as read. This never moves the mark back."""
    session = await visible(store, visitor, id)
    reader = visitor.account.sender.id or ""
    return MarkView(seq=await store.mark_read(session.id, reader, seq=wish.seq))


@router.delete("/{id}/mark", summary="Mark as unread")
async def mark_unread(
    visitor: Writing,
    store: StoreDep,
    id: SessionIdPath,
    seq: Annotated[int | None, Query(ge=0, le=2**53)] = None,
) -> MarkView:
    """Mark everything from a line on, or only the last line, as unread."""
    session = await visible(store, visitor, id)
    reader = visitor.account.sender.id or ""
    return MarkView(seq=await store.mark_unread(session.id, reader, seq=seq))


@router.get("/{id}/rounds", summary="Count rounds")
async def count_rounds(
    visitor: Reading, store: StoreDep, id: SessionIdPath, since: MomentQuery = None
) -> RoundsView:
    """Count the questions that were answered, in all or since a moment."""
    session = await visible(store, visitor, id)
    return RoundsView(rounds=await store.rounds(session.id, since=since))
