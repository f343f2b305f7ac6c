"""Platforms: how they are, what they can do, and where things go on them."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from threadline.core.address import Address
from threadline.core.platform import Capabilities, Unit
from threadline.core.serving import GatewayRow, Load, Places, PlatformHealth, PlatformState
from threadline.sessions.deliveries.reclaim import DeadTarget
from threadline.web.api.shapes.model import Answer, Moment
from threadline.web.api.shapes.places import PlaceShape


class HealthShape(Answer):
    """How a platform is in one gateway, since when, and what went wrong last."""

    name: str
    state: PlatformState
    since: Moment
    error: str | None

    @classmethod
    def from_health(cls, name: str, health: PlatformHealth) -> "HealthShape":
        """Tell how it is."""
        return cls(name=name, state=health.state, since=health.since, error=health.error)


class PlacesShape(Answer):
    """How many turns a gateway may run at a time, and how many it runs."""

    total: int
    taken: int
    silent: int = Field(description="Taken by agents that have said nothing for five minutes.")

    @classmethod
    def from_places(cls, places: Places) -> "PlacesShape":
        """Show the places of a gateway."""
        return cls(total=places.total, taken=places.taken, silent=places.silent)


class GatewayShape(Answer):
    """One process that serves, and its platforms."""

    host: str
    pid: int
    version: str
    url: str | None
    started_at: Moment
    beat_at: Moment
    is_silent: bool = Field(description="It has not been heard from for a minute.")
    places: PlacesShape
    platforms: Sequence[HealthShape]

    @classmethod
    def from_row(cls, row: GatewayRow, now: datetime) -> "GatewayShape":
        """Tell how it is by now."""
        return cls(
            host=row.host,
            pid=row.pid,
            version=row.version,
            url=row.url,
            started_at=row.started_at,
            beat_at=row.beat_at,
            is_silent=row.is_silent(now),
            places=PlacesShape.from_places(row.places),
            platforms=[HealthShape.from_health(*one) for one in sorted(row.platforms.items())],
        )


class LoadShape(Answer):
    """What there is to do, and how large the database is, in bytes."""

    queued: int
    running: int
    owed: int
    size: int

    @classmethod
    def from_load(cls, load: Load) -> "LoadShape":
        """Tell how much there is."""
        return cls(queued=load.queued, running=load.running, owed=load.owed, size=load.size)


class CapabilitiesShape(Answer):
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


class PlatformShape(Answer):
    """A platform of the gateway that answers."""

    name: str
    can: CapabilitiesShape
    health: HealthShape | None = Field(description="Null: it has yet to be begun.")
    home: PlaceShape | None = Field(description="Where unprompted messages go; null: nowhere yet.")

    @classmethod
    def from_platform(
        cls, name: str, can: Capabilities, health: PlatformHealth | None, home: Address | None
    ) -> "PlatformShape":
        """Tell what it can do, and how it is."""
        fields = CapabilitiesShape.model_fields
        return cls(
            name=name,
            can=CapabilitiesShape(**{field: getattr(can, field) for field in fields}),
            health=None if health is None else HealthShape.from_health(name, health),
            home=None if home is None else PlaceShape.from_address(home),
        )


class PlatformsShape(Answer):
    """All gateways and platforms."""

    platforms: Sequence[PlatformShape] = Field(description="Of the gateway that answers.")
    gateways: Sequence[GatewayShape] = Field(description="All that serve this database.")
    load: LoadShape


class HomeShape(Answer):
    """Where unasked messages go on a platform."""

    platform: str
    place: PlaceShape


class DeadShape(Answer):
    """A place to which nothing can be sent, until something can again."""

    place: PlaceShape
    dead_at: Moment
    why: str | None

    @classmethod
    def from_target(cls, target: DeadTarget) -> "DeadShape":
        """Tell which place that is."""
        place = PlaceShape.from_address(target.address)
        return cls(place=place, dead_at=target.dead_at, why=target.why)
