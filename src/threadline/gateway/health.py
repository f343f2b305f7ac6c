"""Health: how a gateway is."""

from collections.abc import Mapping
from dataclasses import dataclass

from threadline.core.serving import Places, PlatformHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a gateway is."""

    is_ready: bool
    running: int
    """Turns that it runs."""
    places: Places = Places()
    """How many it may run, and how many agents are silent."""
    platforms: Mapping[str, PlatformHealth]
    error: str | None = None
    """What broke it."""
