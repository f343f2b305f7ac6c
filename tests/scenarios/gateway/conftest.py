"""The gateway's house in which these scenarios play, once on each database."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory
from tests.scenarios.gateway.unreliable_database import Fickle
from threadline.core.settings import Settings
from threadline.database.postgres import PostgresDatabase
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.testing.gateway_scenario import GatewayScenario
from threadline.testing.scenario import OpenStore, quiet_nights


@pytest.fixture(params=(FAST, POSTGRES))
def database_kind(request: pytest.FixtureRequest) -> str:
    """Choose the database; what a durable disk adds is shown elsewhere."""
    return str(request.param)


@pytest.fixture
def fickle() -> list[Fickle]:
    """The databases that were opened so far, each of which can be sent away."""
    return []


@pytest.fixture
def open_again(database_factory: DatabaseFactory, fickle: list[Fickle]) -> OpenStore:
    """Open the same store again and again; whoever asked for it closes it."""
    is_postgres, where = database_factory.kind == POSTGRES, database_factory.where

    async def open_one(
        *, rules: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> Store:
        database: SqliteDatabase | PostgresDatabase
        if is_postgres:
            database = PostgresDatabase(where, clock=clock)
        else:
            database = SqliteDatabase(Path(where), durable=False, clock=clock)
        await database.open()
        fickle.append(Fickle(database))
        return Store(fickle[-1], rules)

    return open_one


@pytest.fixture
async def house(open_again: OpenStore) -> AsyncIterator[GatewayScenario]:
    """Move into a house on whose two platforms everybody may speak."""
    async with GatewayScenario(open_again, rules=quiet_nights()) as house:
        yield house
