"""What the web knows of a gateway."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from threadline.core.gateway_status import PlatformHealth, TurnCapacity
from threadline.core.platform import Platform
from threadline.core.session import SessionId
from threadline.database.port import Database
from threadline.gateway.compaction import CompactionResult
from threadline.gateway.turn_pubsub import TurnPubSub


class HealthReport(Protocol):
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
    def places(self) -> TurnCapacity:
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


class MetricsText(Protocol):
    """What can be read by Prometheus."""

    def text(self) -> bytes:
        """Write everything down."""
        ...

    def unsigned(self, platform: str) -> None:
        """Count a request to a platform that was not rightly signed."""
        ...


class GatewayPort(Protocol):
    """What the web server knows of a gateway."""

    @property
    def meters(self) -> MetricsText:
        """What it counts."""
        ...

    @property
    def platforms(self) -> Mapping[str, Platform]:
        """The platforms that it serves, by name."""
        ...

    def health(self) -> HealthReport:
        """Tell how everything is."""
        ...


class CompactionPort(Protocol):
    """Who makes room in conversations."""

    async def compress(
        self, id: SessionId, focus: str = "", *, database: Database | None = None
    ) -> str:
        """Compact a conversation; answer what is told of it. `database` is that of the request."""
        ...

    async def make_cut(
        self, id: SessionId, focus: str = "", *, database: Database | None = None
    ) -> CompactionResult:
        """Do the same, and answer with it the cut that was made."""
        ...


class WorkerPort(Protocol):
    """Who runs turns."""

    @property
    def live(self) -> TurnPubSub:
        """What they say while they run."""
        ...

    @property
    def upkeep(self) -> CompactionPort:
        """Who makes room."""
        ...


@runtime_checkable
class WorkingGatewayPort(Protocol):
    """A gateway that runs turns itself."""

    @property
    def worker(self) -> WorkerPort:
        """Who runs them."""
        ...


def live_of(gateway: object) -> TurnPubSub | None:
    """Find what is said live in a gateway; None: it runs no turns."""
    return gateway.worker.live if isinstance(gateway, WorkingGatewayPort) else None


def upkeep_of(gateway: object) -> CompactionPort | None:
    """Find who makes room in a gateway's conversations; None: it runs no turns."""
    return gateway.worker.upkeep if isinstance(gateway, WorkingGatewayPort) else None
