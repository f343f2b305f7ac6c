"""Health: how a gateway is."""

from collections.abc import Mapping

from msgspec import Struct, field

from threadline.core.gateway_status import PlatformHealth, ServerHealth, TurnCapacity


class GatewayHealth(Struct, frozen=True, kw_only=True):
    """How a gateway is."""

    is_ready: bool
    running: int
    """Turns that it runs."""
    places: TurnCapacity = TurnCapacity()
    """How many it may run, and how many agents are silent."""
    platforms: Mapping[str, PlatformHealth]
    servers: Mapping[str, ServerHealth] = field(default_factory=dict)
    """The MCP servers that its agents use."""
    error: str | None = None
    """What broke it."""
