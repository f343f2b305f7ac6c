"""Platforms: how they are in all gateways, what they can do, and where things go on them."""

from fastapi import APIRouter

from threadline.web.api.asking import Administering
from threadline.web.api.deps import GatewayDep, StoreDep
from threadline.web.api.looking import profile_of
from threadline.web.api.paging import PAGE, After, Most, Page, moment_after, number_after, place_at
from threadline.web.api.profiles import OfProfile
from threadline.web.api.shapes.places import PlaceShape
from threadline.web.api.shapes.platforms import (
    DeadShape,
    GatewayShape,
    HomeShape,
    LoadShape,
    PlatformShape,
    PlatformsShape,
)

router = APIRouter(prefix="/platforms", tags=["platforms"])


@router.get("")
async def list_platforms(
    visitor: Administering, store: StoreDep, gateway: GatewayDep, profile: OfProfile = None
) -> PlatformsShape:
    """Show the state of every gateway and platform, and what the platforms can do."""
    health, homes = gateway.health(), await store.homes(profile_of(visitor, profile))
    now = store.now()
    return PlatformsShape(
        platforms=[
            PlatformShape.from_platform(
                name, platform.capabilities, health.platforms.get(name), homes.get(name)
            )
            for name, platform in sorted(gateway.platforms.items())
        ],
        gateways=[GatewayShape.from_row(row, now) for row in await store.gateways()],
        load=LoadShape.from_load(await store.load()),
    )


@router.get("/homes")
async def list_homes(
    visitor: Administering, store: StoreDep, profile: OfProfile = None
) -> Page[HomeShape]:
    """List where unprompted messages go, one chat per platform. People set it with /sethome."""
    homes = await store.homes(profile_of(visitor, profile))
    return Page(
        items=[
            HomeShape(platform=platform, place=PlaceShape.from_address(address))
            for platform, address in sorted(homes.items())
        ]
    )


@router.get("/dead")
async def list_dead_targets(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[DeadShape]:
    """List the places to which nothing can be sent, the latest first."""
    place = moment_after(after)
    before = None if place is None else (place[0], number_after(place[1]) or 0)
    found = await store.dead_targets(most + 1, before=before)
    return Page.cut(found, most, DeadShape.from_target, lambda one: place_at(one.dead_at, one.key))
