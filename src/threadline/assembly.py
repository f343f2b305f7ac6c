"""Assembly: the only place where ports meet adapters."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from threadline.core.errors import ConfigError, StorageError
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


async def restore(
    where: str | Path,
    backup: Path,
    *,
    replace: bool = False,
    now: datetime | None = None,
    told: Callable[[int, int], None] | None = None,
) -> Path | None:
    """Put what a backup holds into a database that is new or empty, or in the place of another.

    What was there before is kept aside in a file; answers which. Nobody may have it open.
    """
    location = checked_location(str(where))
    told = told or (lambda _done, _whole: None)
    now = now or datetime.now(UTC)
    if not is_server(location):
        from threadline.storage.sqlite.backup import restore as restore_file

        aside = await asyncio.to_thread(
            restore_file, _file(where), backup, replace=replace, now=now, told=told
        )
    else:
        aside = await _restore_server(location, backup, replace=replace, now=now, told=told)
    await _forget_again(where, aside)
    return aside


async def _forget_again(where: str | Path, aside: Path | None) -> None:
    """Let nothing come back with a backup that had been forgotten in what it replaces."""
    marks: list[str] = []
    try:
        if aside is not None:
            async with open(aside) as replaced:
                marks = await replaced.tombstones()
    except StorageError:
        marks = []  # It may be restored just because it is damaged.
    # Opening it also brings an older schema up to date.
    async with open(where) as restored:
        if marks:
            await restored.forget_again(marks)


async def _restore_server(
    url: str, backup: Path, *, replace: bool, now: datetime, told: Callable[[int, int], None]
) -> Path | None:
    database = await _open_postgres(url)
    from threadline.storage.backup import examine
    from threadline.storage.postgres.backup import is_used
    from threadline.storage.postgres.backup import restore as restore_tables
    from threadline.storage.postgres.connection import Target

    target, aside = Target(url), None
    try:
        await asyncio.to_thread(examine, backup)
        if replace and await asyncio.to_thread(is_used, target):
            aside = backup.with_name(f"{backup.name}.before-{now:%Y%m%d-%H%M%S}")
            await database.back_up(aside)
    finally:
        await database.close()
    await asyncio.to_thread(restore_tables, target, backup, replace=replace, now=now, told=told)
    return aside


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
