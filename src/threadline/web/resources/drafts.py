"""Drafts: what a device has begun to write and not sent."""

from typing import Annotated

from fastapi import Query
from msgspec import Meta

from threadline.core.draft import DRAFT_LIMIT, Draft
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import Body, View
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import SessionIdQuery, StoreDep
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import draft_device, profile_of


class DraftListView(View, frozen=True, kw_only=True):
    """What a device has begun to write, the latest first."""

    items: list[Draft]


class DraftRequest(Body, frozen=True, kw_only=True):
    """What a device has begun to write; nothing at all forgets it."""

    text: Annotated[str, Meta(max_length=DRAFT_LIMIT)]


router = Router(prefix="/drafts", tags=["drafts"])

Device = Annotated[
    str, Query(min_length=1, max_length=100, description="A name of your own for the device.")
]


@router.get("", summary="List drafts")
async def list_drafts(
    visitor: Reading, store: StoreDep, device: Device, profile: OfProfile = None
) -> DraftListView:
    """List the drafts of one of your devices, latest first."""
    found = await store.drafts(draft_device(visitor, device), profile=profile_of(visitor, profile))
    return DraftListView(items=list(found))


@router.put("", summary="Keep a draft")
async def put_draft(
    *,
    visitor: Exchanging,
    store: StoreDep,
    wish: DraftRequest,
    device: Device,
    session: SessionIdQuery = None,
    profile: OfProfile = None,
) -> DraftListView:
    """Keep a draft of a device; an empty one deletes it. Returns all its drafts.

    Without a session it is for a conversation that does not exist yet.
    """
    id, profile = await _place(store, visitor, session, profile)
    name = draft_device(visitor, device)
    await store.put_draft(name, wish.text, id=id, profile=profile)
    found = await store.drafts(name, profile=profile)
    return DraftListView(items=list(found))


@router.delete("", status_code=204, summary="Forget a draft")
async def delete_draft(
    visitor: Writing,
    store: StoreDep,
    device: Device,
    session: SessionIdQuery = None,
    profile: OfProfile = None,
) -> None:
    """Delete a draft of a device: it was sent, or thrown away."""
    id, profile = await _place(store, visitor, session, profile)
    await store.put_draft(draft_device(visitor, device), "", id=id, profile=profile)


async def _place(
    store: Store, visitor: Caller, session: str | None, profile: str | None
) -> tuple[SessionId | None, str]:
    if session is None:
        return None, profile_of(visitor, profile)
    found = await visible(store, visitor, session)
    return found.id, found.profile
