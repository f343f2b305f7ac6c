"""A later version upgrades a database of this version, once and completely or not at all."""

import sqlite3
from pathlib import Path

import psycopg
import pytest

from tests.database.later_version import NAME, NUMBER, SQL, LaterVersion
from tests.databases import DURABLE, POSTGRES, DatabaseFactory, on
from tests.gateway.outbox_setup import soon
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import StorageError
from threadline.core.inbound import Inbound
from threadline.database.queries import Dialect, migrations
from threadline.store import Store

STEPS = [(step.number, step.name) for step in migrations(Dialect.SQLITE)]
LEDGER = "SELECT number, name FROM migrations ORDER BY number"
SLOW = """
CREATE TABLE colours AS
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000000)
SELECT max(i) AS highest FROM n;
"""
"""A migration that would take days."""


async def write_and_close(database_factory: DatabaseFactory, text: str) -> None:
    """Store one message with this version."""
    async with Store(await database_factory()) as store:
        address = Address(platform="telegram", kind=Kind.DM, chat="alice")
        sender = Sender(id="alice")
        await store.receive(Inbound.text(text, address=address, sender=sender, at=store.now()))


async def read_texts(database_factory: DatabaseFactory) -> list[str]:
    """Open the database with this version and read all messages of users."""
    await database_factory()
    rows = database_factory.tamper("SELECT text FROM messages WHERE role = 'user'")
    return [str(text) for (text,) in rows]


@on(DURABLE, POSTGRES)
async def test_a_later_version_adds_its_migration(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """The new step is applied to what is stored, and this version then refuses the database."""
    await write_and_close(database_factory, "red")

    assert LaterVersion(tmp_path / "later").open(database_factory.where) == ""

    assert database_factory.tamper(LEDGER) == [*STEPS, (NUMBER, NAME)]
    assert database_factory.tamper("SELECT name FROM colours") == [("red",)]
    with pytest.raises(StorageError, match=f"newer Threadline: its schema is {NUMBER}"):
        await database_factory()
    assert database_factory.tamper(LEDGER) == [*STEPS, (NUMBER, NAME)]


@on(DURABLE, POSTGRES)
async def test_a_later_version_makes_a_new_database(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """The new step follows the baseline in one opening."""
    later = LaterVersion(tmp_path / "later")
    if database_factory.kind == POSTGRES:
        database_factory.tamper("DROP SCHEMA public CASCADE")
        database_factory.tamper("CREATE SCHEMA public")

    assert later.open(database_factory.where) == ""

    assert database_factory.tamper(LEDGER) == [*STEPS, (NUMBER, NAME)]


@on(DURABLE, POSTGRES)
async def test_two_processes_upgrade_at_once(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """One of them applies the step, and both open the database."""
    await write_and_close(database_factory, "red")
    later = LaterVersion(tmp_path / "later")

    with later.start(database_factory.where) as one, later.start(database_factory.where) as other:
        errors = [process.communicate()[1] for process in (one, other)]

    assert errors == ["", ""]
    assert database_factory.tamper("SELECT name FROM colours") == [("red",)]


@on(DURABLE, POSTGRES)
async def test_a_migration_that_fails_changes_nothing(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """All steps are one transaction: this version goes on with the database."""
    await write_and_close(database_factory, "red")
    later = LaterVersion(tmp_path / "later", SQL + "INSERT INTO nothing VALUES (1);\n")

    assert "StorageError" in later.open(database_factory.where)

    assert database_factory.tamper(LEDGER) == STEPS
    assert await read_texts(database_factory) == ["red"]


def is_writing(path: str) -> bool:
    """Return whether a process is in a transaction that writes to a SQLite file."""
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError:
        return True
    finally:
        connection.close()
    return False


@on(DURABLE)
async def test_a_migration_that_is_killed_changes_nothing(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """After kill -9 in the middle of a step this version goes on, and the next upgrade succeeds."""
    await write_and_close(database_factory, "red")

    with LaterVersion(tmp_path / "slow", SLOW).start(database_factory.where) as process:
        await soon(lambda: is_writing(database_factory.where), "the migration runs")
        process.kill()

    assert database_factory.tamper(LEDGER) == STEPS
    assert await read_texts(database_factory) == ["red"]
    assert LaterVersion(tmp_path / "later").open(database_factory.where) == ""
    assert database_factory.tamper("SELECT name FROM colours") == [("red",)]


@on(POSTGRES)
async def test_a_migration_of_a_server_whose_process_is_killed_changes_nothing(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """The server undoes the steps when it finds that the client is gone."""
    await write_and_close(database_factory, "red")
    later = LaterVersion(tmp_path / "later")
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'colour'"

    with (
        psycopg.connect(database_factory.where) as other,
        later.start(database_factory.where) as process,
    ):
        other.execute("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
        await soon(lambda: bool(database_factory.tamper(waits)), "the migration waits")
        process.kill()
        process.wait()

    assert database_factory.tamper(LEDGER) == STEPS
    assert await read_texts(database_factory) == ["red"]
    assert later.open(database_factory.where) == ""
    assert database_factory.tamper("SELECT name FROM colours") == [("red",)]
