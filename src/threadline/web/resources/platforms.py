"""Platforms: how they are in all gateways, what they can do, and where things go on them."""

from collections.abc import Sequence
from datetime import datetime

from fastapi import APIRouter
from pydantic import Field

from threadline.core.address import Address
from threadline.core.gateway_status import (
    GatewayRow,
    PlatformHealth,
    PlatformState,
    ServerHealth,
    ServerState,
    StoreLoad,
    TurnCapacity,
)
from threadline.core.platform import Capabilities, Unit
from threadline.store.deliveries.recovery import DeadTarget
from threadline.web.bodies import Moment, ResponseBody
from threadline.web.resources.addresses import AddressView
from threadline.web.resources.auth_deps import Administering
from threadline.web.resources.deps import GatewayDep, StoreDep
from threadline.web.resources.pagination import (
    PAGE,
    After,
    Most,
    Page,
    moment_after,
    number_after,
    place_at,
)
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.visibility import profile_of


class HealthView(ResponseBody):
    """How a platform is in one gateway, since when, and what went wrong last."""

    name: str
    state: PlatformState
    since: Moment
    error: str | None

    @classmethod
    def from_health(cls, name: str, health: PlatformHealth) -> "HealthView":
        """Tell how it is."""
        return cls(name=name, state=health.state, since=health.since, error=health.error)


class ServerView(ResponseBody):
    """The state of an MCP server in one gateway."""

    name: str
    state: ServerState
    since: Moment
    tools: int = Field(description="How many tools it listed.")
    error: str | None = Field(description="The last error, also if the server is up again.")
    error_at: Moment | None

    @classmethod
    def from_health(cls, name: str, health: ServerHealth) -> "ServerView":
        """Show the state of a server."""
        return cls(
            name=name,
            state=health.state,
            since=health.since,
            tools=health.tools,
            error=health.error,
            error_at=health.error_at,
        )


class TurnCapacityView(ResponseBody):
    """How many turns a gateway may run at a time, and how many it runs."""

    total: int
    taken: int
    silent: int = Field(description="Taken by agents that have said nothing for five minutes.")

    @classmethod
    def from_places(cls, places: TurnCapacity) -> "TurnCapacityView":
        """Show the places of a gateway."""
        return cls(total=places.total, taken=places.taken, silent=places.silent)


class GatewayView(ResponseBody):
    """One process that serves, and its platforms."""

    host: str
    pid: int
    version: str
    url: str | None
    started_at: Moment
    beat_at: Moment
    is_silent: bool = Field(description="It has not been heard from for a minute.")
    places: TurnCapacityView
    platforms: Sequence[HealthView]
    servers: Sequence[ServerView] = Field(description="The MCP servers that its agents use.")

    @classmethod
    def from_row(cls, row: GatewayRow, now: datetime) -> "GatewayView":
        """Tell how it is by now."""
        return cls(
            host=row.host,
            pid=row.pid,
            version=row.version,
            url=row.url,
            started_at=row.started_at,
            beat_at=row.beat_at,
            is_silent=row.is_silent(now),
            places=TurnCapacityView.from_places(row.places),
            platforms=[HealthView.from_health(*one) for one in sorted(row.platforms.items())],
            servers=[ServerView.from_health(*one) for one in sorted(row.servers.items())],
        )


class LoadView(ResponseBody):
    """What there is to do, and how large the database is, in bytes."""

    queued: int
    running: int
    owed: int
    size: int

    @classmethod
    def from_load(cls, load: StoreLoad) -> "LoadView":
        """Tell how much there is."""
        return cls(queued=load.queued, running=load.running, owed=load.owed, size=load.size)


class CapabilitiesView(ResponseBody):
    """What a platform can do."""

    text_limit: int
    unit: Unit
    edits: bool
    typing: bool
    attachments: bool
    attachment_limit: int
    threads: bool
    buttons: bool
    receives: bool
    speaks: bool


class PlatformView(ResponseBody):
    """A platform of the gateway that answers."""

    name: str
    can: CapabilitiesView
    health: HealthView | None = Field(description="Null: it has yet to be begun.")
    home: AddressView | None = Field(description="Where unprompted messages go; null: nowhere yet.")

    @classmethod
    def from_platform(
        cls, name: str, can: Capabilities, health: PlatformHealth | None, home: Address | None
    ) -> "PlatformView":
        """Tell what it can do, and how it is."""
        fields = CapabilitiesView.model_fields
        return cls(
            name=name,
            can=CapabilitiesView(**{field: getattr(can, field) for field in fields}),
            health=None if health is None else HealthView.from_health(name, health),
            home=None if home is None else AddressView.from_address(home),
        )


class PlatformsView(ResponseBody):
    """All gateways and platforms."""

    platforms: Sequence[PlatformView] = Field(description="Of the gateway that answers.")
    gateways: Sequence[GatewayView] = Field(description="All that serve this database.")
    load: LoadView


class HomeView(ResponseBody):
    """Where unasked messages go on a platform."""

    platform: str
    place: AddressView


class DeadView(ResponseBody):
    """A place to which nothing can be sent, until something can again."""

    place: AddressView
    dead_at: Moment
    why: str | None

    @classmethod
    def from_target(cls, target: DeadTarget) -> "DeadView":
        """Tell which place that is."""
        place = AddressView.from_address(target.address)
        return cls(place=place, dead_at=target.dead_at, why=target.why)


router = APIRouter(prefix="/platforms", tags=["platforms"])


@router.get("")
async def list_platforms(
    visitor: Administering, store: StoreDep, gateway: GatewayDep, profile: OfProfile = None
) -> PlatformsView:
    """Show the state of every gateway and platform, and what the platforms can do."""
    health, homes = gateway.health(), await store.homes(profile_of(visitor, profile))
    now = store.now()
    return PlatformsView(
        platforms=[
            PlatformView.from_platform(
                name, platform.capabilities, health.platforms.get(name), homes.get(name)
            )
            for name, platform in sorted(gateway.platforms.items())
        ],
        gateways=[GatewayView.from_row(row, now) for row in await store.gateways()],
        load=LoadView.from_load(await store.load()),
    )


@router.get("/homes")
async def list_homes(
    visitor: Administering, store: StoreDep, profile: OfProfile = None
) -> Page[HomeView]:
    """List where unprompted messages go, one chat per platform. People set it with /sethome."""
    homes = await store.homes(profile_of(visitor, profile))
    return Page(
        items=[
            HomeView(platform=platform, place=AddressView.from_address(address))
            for platform, address in sorted(homes.items())
        ]
    )


@router.get("/dead")
async def list_dead_targets(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[DeadView]:
    """List the places to which nothing can be sent, the latest first."""
    place = moment_after(after)
    before = None if place is None else (place[0], number_after(place[1]) or 0)
    found = await store.dead_targets(most + 1, before=before)
    return Page.cut(found, most, DeadView.from_target, lambda one: place_at(one.dead_at, one.key))
