"""Platforms: how they are in all gateways, what they can do, and where things go on them."""

from collections.abc import Sequence
from datetime import datetime

from threadline.core.address import Address
from threadline.core.gateway_status import (
    GatewayRow,
    PlatformHealth,
    PlatformState,
    ServerHealth,
    ServerState,
    TurnCapacity,
)
from threadline.core.platform import Capabilities, Unit
from threadline.store.deliveries.recovery import DeadTarget
from threadline.web.bodies import Time, View
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
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of


class HealthView(View, frozen=True, kw_only=True):
    """How a platform is in one gateway, since when, and what went wrong last."""

    name: str
    state: PlatformState
    since: Time
    error: str | None

    @classmethod
    def from_health(cls, name: str, health: PlatformHealth) -> "HealthView":
        """Return the view of the state of a platform."""
        return cls(name=name, state=health.state, since=health.since, error=health.error)


class ServerView(View, frozen=True, kw_only=True):
    """The state of an MCP server in one gateway."""

    name: str
    state: ServerState
    since: Time
    tools: int
    """How many tools it listed."""
    error: str | None
    """The last error, also if the server is up again."""
    error_at: Time | None

    @classmethod
    def from_health(cls, name: str, health: ServerHealth) -> "ServerView":
        """Return the view of the state of a server."""
        return cls(
            name=name,
            state=health.state,
            since=health.since,
            tools=health.tools,
            error=health.error,
            error_at=health.error_at,
        )


class GatewayView(View, frozen=True, kw_only=True):
    """One process that serves, and its platforms."""

    host: str
    pid: int
    version: str
    url: str | None
    started_at: Time
    beat_at: Time
    is_silent: bool
    """It has not been heard from for a minute."""
    places: TurnCapacity
    platforms: Sequence[HealthView]
    servers: Sequence[ServerView]
    """The MCP servers that its agents use."""

    @classmethod
    def from_row(cls, row: GatewayRow, now: datetime) -> "GatewayView":
        """Return the view of a gateway at a time."""
        return cls(
            host=row.host,
            pid=row.pid,
            version=row.version,
            url=row.url,
            started_at=row.started_at,
            beat_at=row.beat_at,
            is_silent=row.is_silent(now),
            places=row.places,
            platforms=[HealthView.from_health(*one) for one in sorted(row.platforms.items())],
            servers=[ServerView.from_health(*one) for one in sorted(row.servers.items())],
        )


class LoadView(View, frozen=True, kw_only=True):
    """What there is to do, and how large the database is, in bytes."""

    queued: int
    running: int
    owed: int
    size: int


class CapabilitiesView(View, frozen=True, kw_only=True):
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


class PlatformView(View, frozen=True, kw_only=True):
    """A platform of the gateway that answers."""

    name: str
    can: CapabilitiesView
    health: HealthView | None
    """Null: it has yet to be begun."""
    home: AddressView | None
    """Where unprompted messages go; null: nowhere yet."""

    @classmethod
    def from_platform(
        cls, name: str, can: Capabilities, health: PlatformHealth | None, home: Address | None
    ) -> "PlatformView":
        """Return the view of a platform."""
        return cls(
            name=name,
            can=CapabilitiesView.of(can),
            health=None if health is None else HealthView.from_health(name, health),
            home=None if home is None else AddressView.from_address(home),
        )


class PlatformsView(View, frozen=True, kw_only=True):
    """All gateways and platforms."""

    platforms: Sequence[PlatformView]
    """Of the gateway that answers."""
    gateways: Sequence[GatewayView]
    """All that serve this database."""
    load: LoadView


class HomeView(View, frozen=True, kw_only=True):
    """Where unasked messages go on a platform."""

    platform: str
    place: AddressView


class DeadView(View, frozen=True, kw_only=True):
    """A place to which nothing can be sent, until something can again."""

    place: AddressView
    dead_at: Time
    why: str | None

    @classmethod
    def from_target(cls, target: DeadTarget) -> "DeadView":
        """Return the view of a dead target."""
        place = AddressView.from_address(target.address)
        return cls(place=place, dead_at=target.dead_at, why=target.why)


router = Router(prefix="/platforms", tags=["platforms"])


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
        load=LoadView.of(await store.load()),
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
