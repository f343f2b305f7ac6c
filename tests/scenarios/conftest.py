"""The house in which all scenarios play, once on each database."""

from collections.abc import AsyncIterator, Callable
from datetime import datetime
from pathlib import Path

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory
from threadline.core.settings import Settings
from threadline.database.postgres import PostgresDatabase
from threadline.store import Store
from threadline.testing.scenario import OpenStore, Scenario, sqlite_at


@pytest.fixture(params=(FAST, POSTGRES))
def database_kind(request: pytest.FixtureRequest) -> str:
    """Choose the database; what a durable disk adds is shown elsewhere."""
    return str(request.param)


@pytest.fixture
async def house(database_factory: DatabaseFactory) -> AsyncIterator[Scenario]:
    """Move into a house whose sessions are over after eight hours of silence.

    It opens its stores itself, as each of its crashes closes one.
    """
    is_postgres = database_factory.kind == POSTGRES
    where = database_factory.where
    async with Scenario(postgres_at(where) if is_postgres else sqlite_at(Path(where))) as house:
        yield house


def postgres_at(url: str) -> OpenStore:
    """Open stores on a database of PostgreSQL."""

    async def open_one(
        *, rules: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> Store:
        database = PostgresDatabase(url, clock=clock)
        await database.open()
        return Store(database, rules)

    return open_one
