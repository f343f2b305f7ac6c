"""Pairing: who may speak from a chat, beside those whom the settings name."""

from typing import Annotated

from fastapi import Query, Response
from msgspec import Meta

from threadline.core.access import Grant, Pairing
from threadline.core.errors import NotFound
from threadline.store import Store
from threadline.web.bodies import Body, Time, View
from threadline.web.resources.addresses import parse_identity
from threadline.web.resources.auth_deps import Administering
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.pagination import Page
from threadline.web.resources.people import SenderName
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of


class WaitingView(View, frozen=True, kw_only=True):
    """Somebody who asked to be let in; the code was shown to them alone."""

    sender: Annotated[str, Meta(examples=["telegram:42"])]
    name: str | None
    asked_at: Time
    expires_at: Time

    @classmethod
    def from_pairing(cls, pairing: Pairing) -> "WaitingView":
        """Return the view of a request for access."""
        return cls(
            sender=str(pairing.identity),
            name=pairing.name,
            asked_at=pairing.asked_at,
            expires_at=pairing.expires_at,
        )


class GrantView(View, frozen=True, kw_only=True):
    """Somebody whom the owner let in, beside those whom the settings name."""

    sender: Annotated[str, Meta(examples=["telegram:42"])]
    name: str | None
    granted_at: Time

    @classmethod
    def from_grant(cls, grant: Grant) -> "GrantView":
        """Return the view of a grant."""
        return cls(sender=str(grant.identity), name=grant.name, granted_at=grant.granted_at)


class PairingApprovalRequest(Body, frozen=True, kw_only=True):
    """The code that somebody was shown who wants to be let in."""

    code: Annotated[str, Meta(min_length=1, max_length=40, examples=["K7QM-2XPA"])]
    platform: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class GrantRequest(Body, frozen=True, kw_only=True):
    """Somebody to be let in without a code."""

    sender: SenderName
    name: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


router = Router(prefix="/pairing", tags=["pairing"])


@router.get("/waiting")
async def list_waiting(
    visitor: Administering, store: StoreDep, profile: OfProfile = None
) -> Page[WaitingView]:
    """List who is waiting to be let in. Only they know their codes."""
    found = await store.pairings(profile=profile_of(visitor, profile))
    return Page(items=[WaitingView.from_pairing(one) for one in found])


@router.post(
    "/approve", status_code=201, response_model=GrantView, responses=problem_responses(409)
)
async def approve_pairing(
    wish: PairingApprovalRequest,
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
            by=visitor.actor,
        )

    return await once.answer(visitor.account, approve, GrantView.from_grant)


@router.get("/grants")
async def list_grants(
    visitor: Administering, store: StoreDep, profile: OfProfile = None
) -> Page[GrantView]:
    """List everybody who was let in, in addition to those named in the settings."""
    found = await store.grants(profile=profile_of(visitor, profile))
    return Page(items=[GrantView.from_grant(one) for one in found])


@router.post("/grants", status_code=201, response_model=GrantView, responses=problem_responses(409))
async def allow_sender(
    wish: GrantRequest,
    visitor: Administering,
    once: OnceDep,
    profile: OfProfile = None,
) -> Response:
    """Let somebody in without a code."""

    async def allow(store: Store) -> Grant:
        return await store.allow(
            parse_identity(wish.sender),
            name=wish.name,
            profile=profile_of(visitor, profile),
            by=visitor.actor,
        )

    return await once.answer(visitor.account, allow, GrantView.from_grant)


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
    who = parse_identity(sender)
    named = profile_of(visitor, profile)
    if not await store.revoke(who, profile=named, by=visitor.actor):
        raise NotFound(
            "They were not let in here, and are not waiting",
            id=sender[:60],
            hint="Access given in the settings is revoked there",
        )
