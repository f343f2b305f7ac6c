"""Pairing: who may speak from a chat, beside those whom the settings name."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from threadline.core.access import Grant
from threadline.core.errors import NotFound
from threadline.sessions.store import Store
from threadline.web.api.asking import Administering
from threadline.web.api.deps import StoreDep
from threadline.web.api.idempotency import OnceDep
from threadline.web.api.looking import profile_of
from threadline.web.api.paging import Page
from threadline.web.api.problems import told
from threadline.web.api.profiles import OfProfile
from threadline.web.api.shapes.pairing import GrantShape, GrantWish, PairingApproval, WaitingShape
from threadline.web.api.shapes.places import read_identity

router = APIRouter(prefix="/pairing", tags=["pairing"])


@router.get("/waiting")
async def list_waiting(
    visitor: Administering, store: StoreDep, profile: OfProfile = None
) -> Page[WaitingShape]:
    """List who is waiting to be let in. Only they know their codes."""
    found = await store.pairings(profile=profile_of(visitor, profile))
    return Page(items=[WaitingShape.from_pairing(one) for one in found])


@router.post("/approve", status_code=201, response_model=GrantShape, responses=told(409))
async def approve_pairing(
    wish: PairingApproval,
    visitor: Administering,
    once: OnceDep,
    profile: OfProfile = None,
) -> Response:
    """Let in whoever was shown a code. After five wrong codes none is accepted for an hour."""

    async def approve(store: Store) -> Grant:
        return await store.approve_pairing(
            wish.code,
            platform=wish.platform,
            profile=profile_of(visitor, profile),
            by=visitor.account.actor,
        )

    return await once.answer(visitor.account, approve, GrantShape.from_grant)


@router.get("/grants")
async def list_grants(
    visitor: Administering, store: StoreDep, profile: OfProfile = None
) -> Page[GrantShape]:
    """List everybody who was let in, in addition to those named in the settings."""
    found = await store.grants(profile=profile_of(visitor, profile))
    return Page(items=[GrantShape.from_grant(one) for one in found])


@router.post("/grants", status_code=201, response_model=GrantShape, responses=told(409))
async def allow_sender(
    wish: GrantWish,
    visitor: Administering,
    once: OnceDep,
    profile: OfProfile = None,
) -> Response:
    """Let somebody in without a code."""

    async def allow(store: Store) -> Grant:
        return await store.allow(
            read_identity(wish.sender),
            name=wish.name,
            profile=profile_of(visitor, profile),
            by=visitor.account.actor,
        )

    return await once.answer(visitor.account, allow, GrantShape.from_grant)


@router.delete("/grants", status_code=204)
async def revoke_sender(
    visitor: Administering,
    store: StoreDep,
    sender: Annotated[
        str,
        Query(min_length=3, max_length=600, description="Who is meant.", examples=["telegram:42"]),
    ],
    profile: OfProfile = None,
) -> None:
    """Revoke somebody's access, or reject a request. Those named in the settings keep theirs."""
    who = read_identity(sender)
    named = profile_of(visitor, profile)
    if not await store.revoke(who, profile=named, by=visitor.account.actor):
        raise NotFound(
            "They were not let in here, and are not waiting",
            id=sender[:60],
            hint="Access given in the settings is revoked there",
        )
