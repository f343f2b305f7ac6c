"""What only SQLite can get wrong: settings, batches, and the lock between processes."""

import asyncio
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import apsw
import pytest

from tests.databases import SqliteFactory, on
from tests.gateway.worker_setup import until
from threadline.core.errors import NotFound, StorageError
from threadline.database.availability import FaultReport
from threadline.database.port import Environment, Transaction
from threadline.database.sqlite import connection as settings
from threadline.database.sqlite.connection import connect
from threadline.database.sqlite.writer import IDLE_LOG_BYTES, Writer
from threadline.database.thread_calls import CallQueue, ThreadCall
from threadline.testing.database_verbs import error_of, knows, note
from threadline.testing.deadline import HANG_SECONDS

pytestmark = on("sqlite-fast")

MANY_WRITES = """
import asyncio, sys
from threadline.assembly import open_database
from threadline.testing.database_verbs import note

async def write():
    database = await open_database(sys.argv[1])
    for n in range(int(sys.argv[2])):
        await database.write(note, f"theirs {n}")
    await database.close()

asyncio.run(write())
"""


def pragma(connection: apsw.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchall()[0][0]


@pytest.mark.parametrize(("durable", "synchronous"), [(True, 2), (False, 0)])
def test_settings_are_as_they_should_be(
    durable: bool, synchronous: int, tmp_path: Path, database_kind: str
) -> None:
    """Every connection has a write-ahead log, keeps references, and wipes what it deletes."""
    (tmp_path / "a.db").touch()
    connection = connect(tmp_path / "a.db", cache_kib=4000, durable=durable)

    names = ("journal_mode", "synchronous", "foreign_keys", "secure_delete", "cache_size")
    found = [pragma(connection, name) for name in names]

    connection.close()
    assert found == ["wal", synchronous, 1, 1, -4000]


def test_a_setting_that_does_not_hold_is_refused(tmp_path: Path, database_kind: str) -> None:
    """What SQLite answers is compared with the wish: a silent refusal is an error of ours."""
    (tmp_path / "a.db").touch()
    connection = connect(tmp_path / "a.db", cache_kib=4000)

    with pytest.raises(StorageError, match="journal_mode should be 'paper'"):
        settings._set(connection, "journal_mode", "paper")
    connection.close()


async def test_a_batch_that_fails_as_a_whole_is_run_again(database_factory: SqliteFactory) -> None:
    """When SQLite gives up a whole batch nobody was answered, and every verb runs once more."""
    database = await database_factory()
    go_on = threading.Event()
    runs: list[str] = []

    def verb(tx: Transaction, name: str) -> str:
        runs.append(name)
        note(tx, name)
        if name == "7" and runs.count("7") == 1:
            # As a full disk does: the transaction of the whole batch is gone.
            getattr(tx, "_execute")("ROLLBACK")  # noqa: B009
            raise apsw.FullError("as if the disk were full")
        return name

    first = asyncio.create_task(database.write(lambda _: go_on.wait(HANG_SECONDS)))
    names = [str(n) for n in range(20)]
    calls = [asyncio.create_task(database.write(verb, name)) for name in names]
    await asyncio.sleep(0.05)
    go_on.set()

    assert await asyncio.gather(*calls) == names
    await first
    assert runs.count("7") == 2
    assert runs.count("0") == 2
    assert all([await database.read(knows, name) for name in names])


async def test_a_verb_that_fails_after_writing_costs_only_itself(
    database_factory: SqliteFactory,
) -> None:
    """What it wrote is undone, and what the others of its batch wrote is kept."""
    database = await database_factory()
    go_on = threading.Event()
    runs: list[str] = []

    def verb(tx: Transaction, name: str) -> None:
        runs.append(name)
        if name != "early":
            note(tx, name)
        if name in {"early", "late"}:
            raise NotFound(name)

    first = asyncio.create_task(database.write(lambda _: go_on.wait(HANG_SECONDS)))
    names = ["one", "early", "two", "late", "three"]
    calls = [asyncio.create_task(database.write(verb, name)) for name in names]
    await asyncio.sleep(0.05)
    go_on.set()
    ends = await asyncio.gather(*calls, return_exceptions=True)

    await first
    assert [isinstance(end, NotFound) for end in ends] == [False, True, False, True, False]
    assert [await database.read(knows, name) for name in names] == [True, False, True, False, True]
    assert runs == [*names[:4], *names[:4], "three"]


async def test_only_those_that_fail_alone_raise(database_factory: SqliteFactory) -> None:
    """A verb that breaks the batch every time raises its own error; its neighbours are stored."""
    database = await database_factory()

    def verb(tx: Transaction, name: str) -> str:
        note(tx, name)
        if name == "7":
            raise apsw.FullError("as if the disk were full")
        if name == "8":
            raise NotFound("a verb's own error")
        return name

    names = [str(n) for n in range(20)]
    outcomes = await asyncio.gather(
        *(database.write(verb, name) for name in names), return_exceptions=True
    )

    assert isinstance(outcomes[7], StorageError)
    assert "disk is full" in str(outcomes[7])
    assert isinstance(outcomes[8], NotFound)
    stored = [await database.read(knows, name) for name in names]
    assert stored == [name not in {"7", "8"} for name in names]


async def test_a_write_waits_for_another_process_until_its_deadline(
    database_factory: SqliteFactory,
) -> None:
    """While somebody else holds the write lock a write waits; past its deadline it says so."""
    patient = await database_factory()
    hasty = await database_factory(deadline_seconds=0.3)
    other = apsw.Connection(database_factory.where)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(patient.write(note, "patient"))
    begin = time.monotonic()

    error = await error_of(hasty.write(note, "hasty"))

    assert time.monotonic() - begin > 0.25
    assert isinstance(error, StorageError)
    assert "held the database for too long; nothing was stored" in str(error)
    assert "locked" not in str(error)
    assert not waiting.done()
    other.execute("ROLLBACK")
    other.close()
    await waiting
    await hasty.write(note, "hasty")


async def test_a_write_that_begins_late_is_stored(database_factory: SqliteFactory) -> None:
    """If no other process holds the write lock, a machine that was too busy is no error."""
    database = await database_factory(deadline_seconds=-1)

    await database.write(note, "late")

    assert await database.read(knows, "late")


async def test_two_processes_never_see_a_locked_database(database_factory: SqliteFactory) -> None:
    """Two processes that write as fast as they can both get everything stored, without an error."""
    database = await database_factory()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", MANY_WRITES, database_factory.where, "150"
    )

    for n in range(150):
        await database.write(note, f"ours {n}")

    assert await asyncio.wait_for(process.wait(), HANG_SECONDS) == 0
    for n in range(150):
        assert await database.read(knows, f"ours {n}")
        assert await database.read(knows, f"theirs {n}")


async def test_closing_twice_does_no_harm(database_factory: SqliteFactory) -> None:
    """Who closes a second time closes nothing that has become somebody else's meanwhile."""
    database = await database_factory()
    await database.close()
    await database.close()


class BrokenConnection:
    """A connection to a disk that is gone: nothing can even begin, and nothing be undone."""

    in_transaction = True

    def total_changes(self) -> int:
        """Count nothing."""
        return 0

    def execute(self, statement: str, values: object = None) -> object:
        """Fail as SQLite does when the disk does."""
        raise apsw.IOError(f"disk I/O error at {statement} {values}")

    def executemany(self, statement: str, values: object) -> object:
        """Fail likewise."""
        return self.execute(statement, values)

    def set_wal_hook(self, hook: object) -> None:
        """Call nobody."""

    def close(self) -> None:
        """Let go of nothing."""


async def test_a_verb_that_cannot_even_begin_is_answered(database_kind: str) -> None:
    """When no transaction can begin each caller hears of it, and the writer lives on."""
    desk = CallQueue(5.0, Environment(clock=lambda: datetime.now(UTC)))
    writer = Writer(
        cast("apsw.Connection", BrokenConnection()),
        Path("gone.db"),
        answer=lambda jobs, _: desk.answer(jobs),
        has_peers=lambda: False,
        entries=None,
        trouble=FaultReport(),
    )
    for _ in range(3):
        job = desk.job(lambda _: None)
        writer.submit(cast("ThreadCall[object]", job))
        with pytest.raises(StorageError, match="disk"):
            await job.outcome()
    await asyncio.to_thread(writer.close)


def _fill(tx: Transaction, n: int) -> None:
    tx.run("add_blob_chunk", hash="h", n=n, data=bytes(400_000))


async def test_the_log_stays_short_while_others_read(database_factory: SqliteFactory) -> None:
    """However much is written while readers are at work, the write-ahead log stays at a few MB.

    It is emptied when nothing is written for a while, so that it does not occupy a small volume.
    """
    database = await database_factory()
    log = database_factory.path.with_name(f"{database_factory.path.name}-wal")
    is_over, sizes = asyncio.Event(), []

    async def read_on() -> None:
        while not is_over.is_set():
            await database.read(lambda tx: tx.all("list_all_tombstones", after="", most=1))

    readers = [asyncio.create_task(read_on()) for _ in range(3)]
    for n in range(100):
        await database.write(_fill, n)
        sizes.append(log.stat().st_size)
    is_over.set()
    await asyncio.gather(*readers)

    async def is_short() -> bool:
        return log.stat().st_size <= IDLE_LOG_BYTES

    assert max(sizes) < 16 * 2**20
    await until(is_short, "the log is emptied")
