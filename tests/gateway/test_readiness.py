"""A gateway is ready as long as it can write that it is there."""

from collections.abc import Mapping
from datetime import timedelta

from tests.databases import DatabaseFactory
from tests.gateway.worker_setup import until
from threadline.core.errors import StorageError
from threadline.core.gateway_status import PlatformHealth, ServerHealth, TurnCapacity
from threadline.gateway.gateway import Gateway
from threadline.gateway.settings import GatewaySettings
from threadline.store import Store
from threadline.testing.scripted_agent import ScriptedAgent


class Moody(Store):
    """A store that cannot always be written to."""

    is_broken = False

    async def beat(
        self,
        platforms: Mapping[str, PlatformHealth],
        places: TurnCapacity = TurnCapacity(),
        servers: Mapping[str, ServerHealth] | None = None,
    ) -> None:
        if self.is_broken:
            raise StorageError("The disk is full")
        await super().beat(platforms, places, servers)


async def test_a_store_that_cannot_be_written_is_not_ready(
    database_factory: DatabaseFactory,
) -> None:
    """While the disk is full others are told to ask elsewhere; afterwards all is well again."""
    store = Moody(await database_factory())
    settings = GatewaySettings(beat=timedelta(milliseconds=10))
    async with Gateway(store, ScriptedAgent(), [], settings=settings) as gateway:

        async def is_ready() -> bool:
            return gateway.health().is_ready

        async def is_not_ready() -> bool:
            return not gateway.health().is_ready

        await until(is_ready, "it is ready")
        store.is_broken = True
        await until(is_not_ready, "it is not ready")
        store.is_broken = False
        await until(is_ready, "it is ready again")
