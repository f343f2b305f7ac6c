"""What the web knows of a gateway."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from threadline.core.platform import Platform
from threadline.core.serving import Places, PlatformHealth
from threadline.core.session import SessionId
from threadline.gateway.live import Live
from threadline.gateway.upkeep import Compacted


class Health(Protocol):
    """How a gateway is."""

    @property
    def is_ready(self) -> bool:
        """Whether messages are taken in and answered."""
        ...

    @property
    def running(self) -> int:
        """How many turns run."""
        ...

    @property
    def places(self) -> Places:
        """How many turns may run, and how many agents are silent."""
        ...

    @property
    def platforms(self) -> Mapping[str, PlatformHealth]:
        """How each platform is."""
        ...

    @property
    def error(self) -> str | None:
        """What broke it."""
        ...


class Exposition(Protocol):
    """What can be read by Prometheus."""

    def text(self) -> bytes:
        """Write everything down."""
        ...

    def unsigned(self, platform: str) -> None:
        """Count a request to a platform that was not rightly signed."""
        ...


class Served(Protocol):
    """What the web server knows of a gateway."""

    @property
    def meters(self) -> Exposition:
        """What it counts."""
        ...

    @property
    def platforms(self) -> Mapping[str, Platform]:
        """The platforms that it serves, by name."""
        ...

    def health(self) -> Health:
        """Tell how everything is."""
        ...


class Upkeep(Protocol):
    """Who makes room in conversations."""

    async def compress(self, id: SessionId, focus: str = "") -> str:
        """Compact a conversation; answer what is told of it."""
        ...

    async def make_cut(self, id: SessionId, focus: str = "") -> Compacted:
        """Do the same, and answer with it the cut that was made."""
        ...


class Worker(Protocol):
    """Who runs turns."""

    @property
    def live(self) -> Live:
        """What they say while they run."""
        ...

    @property
    def upkeep(self) -> Upkeep:
        """Who makes room."""
        ...


@runtime_checkable
class Working(Protocol):
    """A gateway that runs turns itself."""

    @property
    def worker(self) -> Worker:
        """Who runs them."""
        ...


def live_of(gateway: object) -> Live | None:
    """Find what is said live in a gateway; None: it runs no turns."""
    return gateway.worker.live if isinstance(gateway, Working) else None


def upkeep_of(gateway: object) -> Upkeep | None:
    """Find who makes room in a gateway's conversations; None: it runs no turns."""
    return gateway.worker.upkeep if isinstance(gateway, Working) else None
