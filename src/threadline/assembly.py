"""Assembly: the only place where ports meet adapters."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from threadline.core.errors import ConfigError
from threadline.core.location import checked_location, is_server
from threadline.core.rules import Rules
from threadline.sessions.store import Store
from threadline.storage.database import Database


@asynccontextmanager
async def open(where: str | Path, *, rules: Rules | None = None) -> AsyncIterator[Store]:
    """Open a store: the path of a file, or a PostgreSQL URL."""
    database = await open_database(where)
    async with Store(database, rules) as store:
        yield store


async def open_database(where: str | Path) -> Database:
    """Open the database that a path or URL names."""
    location = checked_location(str(where))
    if is_server(location):
        return await _open_postgres(location)
    from threadline.storage.sqlite import SqliteDatabase

    sqlite = SqliteDatabase(_file(where))
    await sqlite.open()
    return sqlite


def _file(where: str | Path) -> Path:
    return Path(where).expanduser()


async def _open_postgres(url: str) -> Database:
    try:
        from threadline.storage.postgres import PostgresDatabase
    except ImportError as error:
        raise ConfigError(
            "PostgreSQL needs an extra package", hint="Run: pip install 'threadline[postgres]'"
        ) from error
    postgres = PostgresDatabase(url)
    await postgres.open()
    return postgres
