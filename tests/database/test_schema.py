"""Bringing a schema up to date, on every database."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import DatabaseFactory, Server
from threadline.assembly import open_database
from threadline.core.errors import StorageError
from threadline.database.queries import Dialect, migrations
from threadline.testing.database_verbs import knows, note

STEPS = [(step.number, step.name) for step in migrations(Dialect.SQLITE)]


@pytest.fixture
def empty(database_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Name a place where nothing is yet."""
    if database_kind == "postgres":
        server: Server = request.getfixturevalue("postgres_server")
        name = server.create(empty=True)
        yield server.url(name)
        server.drop(name)
    else:
        yield str(tmp_path / "new.db")


async def test_every_step_is_written_down(database_factory: DatabaseFactory) -> None:
    """A store knows which steps made it, in order."""
    await database_factory()

    rows = database_factory.tamper("SELECT number, name FROM migrations ORDER BY number")

    assert rows == STEPS


async def test_opening_again_changes_nothing(database_factory: DatabaseFactory) -> None:
    """A store that is up to date stays as it is."""
    database = await database_factory()
    await database.write(note, "a")
    before = database_factory.tamper("SELECT * FROM migrations")

    again = await database_factory()

    assert await again.read(knows, "a")
    assert database_factory.tamper("SELECT * FROM migrations") == before


async def test_many_can_open_a_new_store_at_once(empty: str) -> None:
    """When several begin with an empty place, one makes the schema and all go on."""
    databases = await asyncio.gather(*(open_database(empty) for _ in range(6)))

    for n, database in enumerate(databases):
        await database.write(note, str(n))
    assert all([await databases[0].read(knows, str(n)) for n in range(6)])
    for database in databases:
        await database.close()


async def test_a_failed_step_leaves_nothing(database_factory: DatabaseFactory) -> None:
    """A migration that fails half-way is undone as a whole, and says so in our words."""
    await (await database_factory()).close()
    last = "CREATE TABLE half AS SELECT * FROM migrations"
    database_factory.tamper(last)
    # The first step is missing by the ledger, but its tables are there: it must fail.
    database_factory.tamper("DELETE FROM migrations")

    with pytest.raises(StorageError):
        await database_factory()

    assert database_factory.tamper("SELECT count(*) FROM migrations") == [(0,)]
