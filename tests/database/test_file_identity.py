"""A database that is deleted, replaced or damaged while it is open."""

import asyncio
import logging
import os
import shutil
import sys
import textwrap
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.databases import DURABLE, POSTGRES, OpenStore, PostgresFactory, SqliteFactory, on
from tests.gateway.worker_setup import until
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Damaged, Misplaced
from threadline.core.inbound import Inbound
from threadline.database.sqlite import SqliteDatabase
from threadline.gateway.gateway import Gateway
from threadline.gateway.settings import GatewaySettings
from threadline.store import Store
from threadline.testing.scripted_agent import ScriptedAgent

ADDRESS = Address(platform="p", kind=Kind.DM, chat="c")


def hello(store: Store, id: str) -> Inbound:
    """Make a message."""
    return Inbound.text(id, address=ADDRESS, sender=Sender(id="s"), at=store.now(), message_id=id)


def delete(path: Path) -> None:
    """Delete the database."""
    path.unlink()


def replace(path: Path) -> None:
    """Put a copy in its place."""
    shutil.copy(path, path.with_name("copy.db"))
    path.with_name("copy.db").replace(path)


def delete_log(path: Path) -> None:
    """Delete the write-ahead log."""
    path.with_name(f"{path.name}-wal").unlink()


def delete_index(path: Path) -> None:
    """Delete the index of the write-ahead log."""
    path.with_name(f"{path.name}-shm").unlink()


@on(DURABLE)
@pytest.mark.parametrize("mishap", [delete, replace, delete_log, delete_index])
async def test_nothing_is_acknowledged_after_the_file_is_gone(
    database_factory: SqliteFactory,
    open_store: OpenStore,
    mishap: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whichever file of the database is deleted or replaced, the next message is refused.

    It says what to do; reads are refused too, and the log says it once.
    """
    store = await open_store()
    await store.receive(hello(store, "before"))

    mishap(database_factory.path)

    for n in range(3):
        with pytest.raises(Misplaced, match="Stop Threadline") as refusal:
            await store.receive(hello(store, f"after {n}"))
        assert "while it was open" in str(refusal.value)
    assert isinstance(store.trouble, Misplaced)
    with pytest.raises(Misplaced):
        await store.sessions.list()
    told = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(told) == 1


@on(DURABLE)
async def test_what_was_acknowledged_before_the_log_was_deleted_is_kept(
    database_factory: SqliteFactory, open_store: OpenStore, tmp_path: Path
) -> None:
    """Messages that only the deleted log holds are copied into the file when that is noticed."""
    store = await open_store()
    for n in range(20):
        await store.receive(hello(store, f"m{n}"))
    delete_log(database_factory.path)
    with pytest.raises(Misplaced):
        await store.receive(hello(store, "refused"))

    # What a process finds that is started after a kill -9 of this one.
    copy = tmp_path / "after.db"
    shutil.copy(database_factory.path, copy)
    database = SqliteDatabase(copy)
    await database.open()
    async with Store(database) as after:
        (row,) = (await after.sessions()).rows
        queued = [line.text for line in await after.transcripts.waiting(row.session.id)]

    assert queued == [f"m{n}" for n in range(20)]


@on(DURABLE)
async def test_a_file_that_is_moved_back_is_used_again(
    database_factory: SqliteFactory, open_store: OpenStore
) -> None:
    """Who moves the file away by mistake and back finds the store working again."""
    store, aside = await open_store(), database_factory.path.with_name("aside.db")
    database_factory.path.rename(aside)
    with pytest.raises(Misplaced):
        await store.receive(hello(store, "one"))

    aside.rename(database_factory.path)

    assert not (await store.receive(hello(store, "two"))).is_repeated

    async def is_well() -> bool:
        return store.trouble is None

    await until(is_well, "the trouble is over")
    assert len((await store.sessions.list()).rows) == 1


@on(DURABLE)
async def test_no_new_database_appears_where_one_is_still_open(
    database_factory: SqliteFactory, open_store: OpenStore
) -> None:
    """A second process does not begin an empty store in the place of one whose file is gone."""
    await open_store()
    delete(database_factory.path)

    with pytest.raises(Misplaced, match="Stop that process"):
        await SqliteDatabase(database_factory.path).open()

    assert not database_factory.path.exists()


@on(DURABLE)
async def test_a_gateway_without_its_file_is_not_ready(
    database_factory: SqliteFactory, open_store: OpenStore
) -> None:
    """Readiness tells that the file is gone, also while nobody writes."""
    store = await open_store()
    settings = GatewaySettings(beat=timedelta(milliseconds=10))
    async with Gateway(store, ScriptedAgent(), [], settings=settings) as gateway:

        async def is_ready() -> bool:
            return gateway.health().is_ready

        async def has_noticed() -> bool:
            return not gateway.health().is_ready

        await until(is_ready, "it is ready")
        aside = database_factory.path.with_name("aside.db")
        database_factory.path.rename(aside)
        await until(has_noticed, "it is not ready")
        error = gateway.health().error
        aside.rename(database_factory.path)
        await until(is_ready, "it is ready again")
    assert error is not None
    assert "was deleted while it was open" in error


@on(DURABLE)
async def test_a_gateway_with_a_damaged_file_is_not_ready(
    database_factory: SqliteFactory, open_store: OpenStore
) -> None:
    """A read that finds damage makes the gateway say so until it is started again."""
    first = await open_store()
    for n in range(50):
        await first.receive(hello(first, f"m{n}"))
    await first.close()
    store = await open_store()
    async with Gateway(store, ScriptedAgent(), []) as gateway:
        assert gateway.health().is_ready
        with database_factory.path.open("r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))

        async def has_noticed() -> bool:
            return not gateway.health().is_ready

        await until(has_noticed, "it is not ready")

        assert isinstance(store.trouble, Damaged)
        assert "damaged" in str(gateway.health().error)


@on(POSTGRES)
async def test_a_database_that_is_dropped_and_made_again_is_refused(
    database_factory: PostgresFactory, open_store: OpenStore
) -> None:
    """A gateway that finds another database under its URL stores nothing there."""
    from threadline.database.postgres.schema import upgrade

    store = await open_store()
    await store.receive(hello(store, "before"))
    server, name = database_factory.server, database_factory.name
    server.drop(name)
    server.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    upgrade(database_factory.where)

    with pytest.raises(Misplaced, match="dropped or replaced"):
        await store.receive(hello(store, "after"))
    assert isinstance(store.trouble, Misplaced)


FULL = textwrap.dedent(
    """
    import asyncio, os, sys
    from pathlib import Path
    from threadline.database.sqlite import SqliteDatabase

    path = Path(sys.argv[1])

    def fill(tx, size):
        tx.run("add_blob_chunk", hash="h", n=size, data=os.urandom(200_000))

    async def write():
        for _ in range(2):
            database = SqliteDatabase(path)
            await database.open()
            await database.write(lambda tx: tx.run("drop_blob_chunks", hash="h"))
            for n in range(8):
                await database.write(fill, n)
            if not path.with_name("s.db-first").exists():
                await database.close()
                path.with_name("s.db-first").touch()
        ballast = os.open(path.with_name("ballast"), os.O_CREAT | os.O_WRONLY)
        try:
            while True:
                os.write(ballast, bytes(4096))
        except OSError:
            os._exit(9)

    async def look():
        database = SqliteDatabase(path)
        await database.open()
        rows = await database.read(lambda tx: tx.all("list_all_tombstones", after="", most=1))
        print("opened", len(rows))
        await database.close()

    asyncio.run(write() if sys.argv[2] == "write" else look())
    """
)
"""Fills a small volume and dies; then opens the store there again."""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a volume of its own")
@pytest.mark.parametrize("lost", ["s.db-shm", "s.db-none"])
async def test_a_full_volume_can_be_opened_again(tmp_path: Path, lost: str) -> None:
    """A process that died on a full volume can be started again, with or without the log's index.

    There is no room for a new index, so the log is copied into the file first, and emptied.
    """
    script, home = tmp_path / "full.py", tmp_path / "volume"
    script.write_text(FULL)
    home.mkdir()
    run = f"{sys.executable} {script} {home}/s.db"
    steps = (
        f"mount -t tmpfs -o size=8m none {home} || exit 77; {run} write;"
        f" rm -f {home}/{lost}; dd if=/dev/zero of={home}/more bs=4096 2>/dev/null; {run} look"
    )
    process = await asyncio.create_subprocess_exec(
        "unshare", "-rm", "/bin/sh", "-c", steps, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    if process.returncode == 77:
        pytest.skip("no volume can be mounted here")

    assert said.decode().strip() == "opened 0"
