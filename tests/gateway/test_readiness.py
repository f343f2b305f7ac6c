"""A gateway is ready as long as it can write that it is there."""

from datetime import timedelta

from tests.databases import DatabaseFactory
from tests.faulty_database import FaultyDatabase
from tests.gateway.worker_setup import until
from threadline.core.errors import StorageError
from threadline.gateway.gateway import Gateway
from threadline.gateway.settings import GatewaySettings
from threadline.store import Store
from threadline.testing.scripted_agent import ScriptedAgent


async def test_a_store_that_cannot_be_written_is_not_ready(
    database_factory: DatabaseFactory,
) -> None:
    """While the disk is full others are told to ask elsewhere; afterwards all is well again."""
    database = FaultyDatabase(await database_factory())
    store = Store(database)
    settings = GatewaySettings(beat=timedelta(milliseconds=10))
    async with Gateway(store, ScriptedAgent(), [], settings=settings) as gateway:

        async def is_ready() -> bool:
            return gateway.health().is_ready

        async def is_not_ready() -> bool:
            return not gateway.health().is_ready

        await until(is_ready, "it is ready")
        database.fail("record_heartbeat", StorageError("The disk is full"))
        await until(is_not_ready, "it is not ready")
        database.before.clear()
        await until(is_ready, "it is ready again")
