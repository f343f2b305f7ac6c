"""Drafts: what a device has begun to write and not sent."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from threadline.core.draft import DRAFT_LIMIT, Draft
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.web.authentication import Caller
from threadline.web.bodies import Moment, RequestBody, ResponseBody
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing, visible
from threadline.web.resources.deps import SessionIdQuery, StoreDep
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.visibility import draft_device, profile_of


class DraftView(ResponseBody):
    """Unsent words, in a session or in the one that is not there yet."""

    session_id: str | None
    text: str
    changed_at: Moment

    @classmethod
    def from_draft(cls, draft: Draft) -> "DraftView":
        """Show a draft."""
        return cls(session_id=draft.session_id, text=draft.text, changed_at=draft.changed_at)


class DraftListView(ResponseBody):
    """What a device has begun to write, the latest first."""

    items: list[DraftView]


class DraftRequest(RequestBody):
    """What a device has begun to write; nothing at all forgets it."""

    text: str = Field(max_length=DRAFT_LIMIT)


router = APIRouter(prefix="/drafts", tags=["drafts"])

Device = Annotated[
    str, Query(min_length=1, max_length=100, description="A name of your own for the device.")
]


@router.get("", summary="List drafts")
async def list_drafts(
    visitor: Reading, store: StoreDep, device: Device, profile: OfProfile = None
) -> DraftListView:
    """List the drafts of one of your devices, latest first."""
    found = await store.drafts(draft_device(visitor, device), profile=profile_of(visitor, profile))
    return DraftListView(items=[DraftView.from_draft(one) for one in found])


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
    return DraftListView(items=[DraftView.from_draft(one) for one in found])


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
