"""The providers of these stories, and where their houses stand: on SQLite, unless one says so."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory
from tests.doubles.providers import ProviderDouble
from tests.scenarios.conftest import postgres_at
from threadline.testing.scenario import OpenStore, sqlite_at


@pytest.fixture(params=(FAST,))
def database_kind(request: pytest.FixtureRequest) -> str:
    """Choose the database; most of these stories are the same on every one."""
    return str(request.param)


@pytest.fixture
def open_again(database_factory: DatabaseFactory) -> OpenStore:
    """Open the same store again and again; whoever asked for it closes it."""
    where = database_factory.where
    return postgres_at(where) if database_factory.kind == POSTGRES else sqlite_at(Path(where))


@pytest.fixture
async def double() -> AsyncIterator[ProviderDouble]:
    """Have all providers on this machine."""
    async with ProviderDouble() as double:
        yield double
