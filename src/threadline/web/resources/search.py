"""Search: everything that was said, as far as the visitor may see it."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import Query

from threadline.core.address import Kind
from threadline.core.message import Role
from threadline.core.person import PersonKey
from threadline.core.search import (
    HITS,
    LARGEST_HITS,
    QUERY_LIMIT,
    SKIP_LIMIT,
    Found,
    Hit,
    SearchFilter,
    TitleHit,
)
from threadline.core.session import ProjectKey, SessionId
from threadline.web.bodies import View
from threadline.web.resources.auth_deps import Reading, visible
from threadline.web.resources.deps import MomentQuery, SessionIdQuery, StoreDep
from threadline.web.resources.pagination import After, number_after
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of, require_owner


class FoundView(View, frozen=True, kw_only=True):
    """A page of what was found, the best first."""

    sessions: Sequence[TitleHit]
    """By their titles; on the first page only."""
    items: Sequence[Hit]
    next: str | None
    """Give this as `after` for the next page."""
    is_complete: bool
    """False while much is still to be indexed."""

    @classmethod
    def from_found(cls, found: Found) -> "FoundView":
        """Return the view of what a search found."""
        return cls(
            sessions=found.sessions,
            items=found.hits,
            next=None if found.next is None else str(found.next),
            is_complete=found.is_complete,
        )


router = Router(prefix="/search", tags=["search"])

Number = Annotated[int | None, Query(ge=1, le=2**53)]


@router.get("", summary="Search")
async def find_messages(
    *,
    visitor: Reading,
    store: StoreDep,
    text: Annotated[
        str,
        Query(min_length=1, max_length=QUERY_LIMIT, examples=['"number 7" -eight']),
    ],
    is_typing: Annotated[bool, Query(description="The last word may be unfinished.")] = False,
    profile: OfProfile = None,
    role: Annotated[list[Role] | None, Query(max_length=4)] = None,
    platform: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
    kind: Kind | None = None,
    person: Number = None,
    project: Number = None,
    session: SessionIdQuery = None,
    since: MomentQuery = None,
    until: MomentQuery = None,
    is_archived: bool | None = None,
    after: After = None,
    most: Annotated[int, Query(ge=1, le=LARGEST_HITS)] = HITS,
) -> FoundView:
    """Find what was said: words, "phrases", -exclusions, beginnings* and *parts* of words.

    Each hit names its session and line. Matching titles are on the first page.
    """
    if person is not None:
        require_owner(visitor, "search by person")
    if session is not None:
        await visible(store, visitor, session)
    where = SearchFilter(
        roles=tuple(role) if role else None,
        platform=platform,
        kind=kind,
        person=None if person is None else PersonKey(person),
        project=None if project is None else ProjectKey(project),
        session=None if session is None else SessionId(session),
        since=since,
        until=until,
        is_archived=is_archived,
    )
    found = await store.search(
        text,
        asker=visitor.asker(profile_of(visitor, profile)),
        where=where,
        is_typing=is_typing,
        skip=min(number_after(after) or 0, SKIP_LIMIT),
        most=most,
    )
    return FoundView.from_found(found)
