"""The part of the database contract that is about looking after a store."""

import asyncio
import tempfile
from datetime import timedelta
from pathlib import Path

from threadline.core.errors import StorageError, ThreadlineError
from threadline.database.sqlite import SqliteDatabase
from threadline.testing.database_target import DatabaseTarget, Obligation
from threadline.testing.database_verbs import arrive_slowly, error_of, knows, note

SECRET_BYTES = 32


async def a_newer_schema_is_refused(ground: DatabaseTarget) -> None:
    """A store of a newer version is not opened, and not changed."""
    await (await ground()).close()
    ground.tamper("UPDATE migrations SET number = 1000 + number")
    before = ground.tamper("SELECT number, name FROM migrations ORDER BY number")

    error = await error_of(ground())

    assert isinstance(error, StorageError)
    assert "newer" in str(error)
    assert ground.tamper("SELECT number, name FROM migrations ORDER BY number") == before


async def a_foreign_database_is_refused(ground: DatabaseTarget) -> None:
    """What another program keeps is not opened, and nothing is added to it."""
    await (await ground()).close()
    ground.tamper("DROP TABLE migrations")

    error = await error_of(ground())

    assert isinstance(error, StorageError)
    assert "another program" in str(error)
    # Had it begun to migrate, this would be there already.
    ground.tamper("CREATE TABLE migrations (number INTEGER)")


async def a_healthy_store_has_no_damage(ground: DatabaseTarget) -> None:
    """A check of a store that is well finds nothing grave, however deep it looks."""
    database = await ground()
    await database.write(arrive_slowly, "a", "1", 0.0)

    assert not [f for f in await database.check() if f.grave]
    assert not [f for f in await database.check(deep=True) if f.grave]


async def its_clock_goes_forward(ground: DatabaseTarget) -> None:
    """All users of a store are told the same time, in UTC, and it goes on."""
    first, second = await ground(), await ground()
    before = first.now()

    await asyncio.sleep(0.01)

    assert before.utcoffset() == timedelta(0)
    assert first.now() - before >= timedelta(milliseconds=10)
    skew = timedelta(seconds=1)
    assert first.now() - skew < second.now() < first.now() + skew


async def its_secret_stays_the_same(ground: DatabaseTarget) -> None:
    """Everybody who opens the store is told one secret, and it is in no table."""
    first, second = await ground(), await ground()
    secret = await first.secret()

    assert len(secret) >= SECRET_BYTES
    assert await second.secret() == secret


async def what_was_deleted_is_wiped(ground: DatabaseTarget) -> None:
    """With nobody looking at an older state it is done at once, and the store goes on."""
    database = await ground()
    await database.write(note, "a")

    assert await database.wipe()
    await database.write(note, "b")
    assert await database.read(knows, "b")


async def a_backup_is_a_store_of_its_own(ground: DatabaseTarget) -> None:
    """It holds what was there, nothing of what came later, and is never written over by mistake."""
    database = await ground()
    await database.write(note, "before")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "backup.db"
        await database.back_up(path)
        await database.write(note, "after")
        assert isinstance(await error_of(database.back_up(path)), ThreadlineError)
        copy = SqliteDatabase(path)
        await copy.open()
        try:
            assert await copy.read(knows, "before")
            assert not await copy.read(knows, "after")
        finally:
            await copy.close()


CARE: tuple[Obligation, ...] = (
    a_newer_schema_is_refused,
    a_foreign_database_is_refused,
    a_healthy_store_has_no_damage,
    its_clock_goes_forward,
    its_secret_stays_the_same,
    what_was_deleted_is_wiped,
    a_backup_is_a_store_of_its_own,
)
