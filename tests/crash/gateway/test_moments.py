"""Gateways that are killed in the worst moments keep every promise."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from tests.crash.gateway.conditions import UNLIMITED, Conditions, LimitedDisk, made_conditions
from tests.crash.gateway.moments import MOMENTS, open_scene, settle, strike
from tests.crash.gateway.server import (
    Proxy,
    folder_of,
    make_clock_adjustable,
    shift_clock,
    through,
)
from tests.crash.gateway.test_gateway_kills import assert_kept
from tests.databases import DURABLE, POSTGRES, DatabaseFactory, on
from threadline.core.errors import StorageError
from threadline.database.postgres import PostgresDatabase
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store

SEED = 12
STRIKES = 2
CONVERSATIONS = 10


@pytest.mark.parametrize("name", [name for name in MOMENTS if name != "random"])
@on(DURABLE, POSTGRES)
async def test_nothing_is_lost_or_doubled(database_factory: DatabaseFactory, name: str) -> None:
    """After kills in each of the moments all users are answered once, in order."""
    moment = replace(MOMENTS[name], conversations=CONVERSATIONS)
    async with open_scene(moment, database_factory.where, SEED) as scene:
        for number in range(1, STRIKES + 1):
            assert_kept(await strike(moment, scene), f"{name} {number} of seed {SEED}")
        assert_kept(await settle(moment, scene), f"the end of seed {SEED}")

        assert scene.victim.kills >= STRIKES
        assert len(scene.exchange.acknowledged) >= CONVERSATIONS


@pytest.fixture
def conditions() -> Iterator[Conditions]:
    """Conditions as they are before a moment."""
    with made_conditions() as conditions:
        yield conditions


async def test_a_full_disk_refuses_writes_until_it_is_freed(
    conditions: Conditions, tmp_path: Path
) -> None:
    """The disk of the harness is full in the eyes of SQLite, and works again afterwards."""
    disk = LimitedDisk(conditions)
    database = SqliteDatabase(tmp_path / "s.db", vfs=disk.name, clock=conditions.now)
    await database.open()
    async with Store(database) as store:
        conditions.room = 0
        with pytest.raises(StorageError, match="The disk is full"):
            await store.owner_account()
        conditions.room = UNLIMITED
        assert await store.owner_account()

        before = store.now()
        conditions.clock_shift = timedelta(days=8)
        assert store.now() - before >= timedelta(days=8)
    disk.unregister()


@on(POSTGRES)
async def test_the_clock_of_the_server_can_be_shifted(database_factory: DatabaseFactory) -> None:
    """A process reads the shifted clock of PostgreSQL as soon as it connects."""
    where = database_factory.where
    make_clock_adjustable(where)
    shift_clock(where, timedelta(days=8))
    ahead = PostgresDatabase(where)
    await ahead.open()
    shifted = ahead.now()
    await ahead.close()

    shift_clock(where, timedelta(0))
    database = await database_factory()
    assert timedelta(days=7) < shifted - database.now() < timedelta(days=9)


@on(POSTGRES)
async def test_connections_can_be_cut_and_mended(database_factory: DatabaseFactory) -> None:
    """Through a proxy that is cut no process reaches the server, and afterwards it does."""
    proxy = Proxy(folder_of(database_factory.where))
    async with proxy.open():
        where = through(database_factory.where, proxy.folder)
        proxy.cut()
        with pytest.raises(StorageError):
            await PostgresDatabase(where).open()
        proxy.mend()
        database = PostgresDatabase(where)
        await database.open()
        await database.close()
