"""A database of a development version is refused, and nothing in it is changed."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

import threadline
from tests.cli.program import run_apart
from tests.databases import DURABLE, POSTGRES, DatabaseFactory, Server, on
from threadline.assembly import restore
from threadline.core.errors import StorageError
from threadline.testing.database_verbs import knows, note

OLD = (
    *("foundation", "session_layer", "search", "keeping", "gateway", "agents", "web"),
    *("taking_over", "outcomes", "outputs", "freshness", "observations", "repeats"),
    *("forgetting_lookups", "askers_and_links", "credentials"),
)
"""The migrations of the development versions, which are now one baseline."""
COMMANDS = (
    ("serve", "--port", "0"),
    ("doctor",),
    ("backup", "copy.db"),
    ("sessions", "list"),
)


def statements(count: int) -> list[str]:
    """Return the SQL that makes a database with the first of the old migrations."""
    rows = ", ".join(f"({n}, '{name}', 0)" for n, name in enumerate(OLD[:count], start=1))
    return [
        "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT, applied_at BIGINT)",
        f"INSERT INTO migrations VALUES {rows}",
        "CREATE TABLE sessions (key INTEGER PRIMARY KEY, id TEXT NOT NULL)",
        "INSERT INTO sessions VALUES (1, '20260101_120000_0a1b2c3d')",
    ]


def make_file(path: Path, count: int = len(OLD)) -> None:
    """Create a SQLite database of a development version, in WAL mode as they all were."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    for statement in statements(count):
        connection.execute(statement)
    connection.close()


class Old(NamedTuple):
    """A database of a development version."""

    where: str
    read: Callable[[], object]
    """Returns everything that is stored: the bytes of the file, or all rows of the server."""


@pytest.fixture(params=[1, 10, len(OLD)])
def old(database_kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Old]:
    """Make a database of a development version."""
    if database_kind == POSTGRES:
        server: Server = request.getfixturevalue("postgres_server")
        name = server.create(empty=True)
        for statement in statements(request.param):
            server.execute(statement, name)
        yield Old(server.url(name), lambda: read_tables(server.url(name)))
        server.drop(name)
    else:
        path = tmp_path / "old.db"
        make_file(path, request.param)
        yield Old(str(path), lambda: (path.read_bytes(), sorted(path.parent.glob("old.db*"))))


def read_tables(url: str) -> list[object]:
    """Read all rows of a PostgreSQL database, with the transactions that wrote them."""
    with psycopg.connect(url) as connection:
        names = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"
        ).fetchall()
        tables = [name for (name,) in names if not name.endswith("_pkey")]
        rows = [
            connection.execute(f"SELECT xmin::TEXT, * FROM {table}".encode()).fetchall()
            for table in tables
        ]
    return [names, rows]


@on(DURABLE, POSTGRES)
async def test_the_library_refuses_an_old_database(old: Old) -> None:
    """The error says what was found and what to do, and the database stays as it was."""
    before = old.read()

    with pytest.raises(StorageError) as caught:
        async with threadline.open(old.where):
            pass

    assert "made by a development version" in caught.value.message
    assert caught.value.hint is not None
    assert "threadline export" in caught.value.hint
    assert "threadline import" in caught.value.hint
    assert old.read() == before


@pytest.mark.parametrize("old", [len(OLD)], indirect=True)
@on(DURABLE, POSTGRES)
def test_every_command_refuses_an_old_database(old: Old, tmp_path: Path) -> None:
    """Each says so in one line, and the database stays as it was."""
    home = tmp_path / "home"
    home.mkdir()
    before = old.read()

    for command in COMMANDS:
        result = run_apart(home, *command, "-d", old.where)
        said = (result.stdout if command[0] == "doctor" else result.stderr).decode()
        (line,) = [line for line in said.splitlines() if "development version" in line]
        assert "it has 16 migrations, the last one is 'credentials'" in line
        assert "threadline export" in line
        assert result.returncode == 1
    assert not (home / "copy.db").exists()
    assert old.read() == before


async def test_the_log_of_a_crash_stays_beside_an_old_database(tmp_path: Path) -> None:
    """A refused file is not changed either if its last commits are only in the log."""
    made, path = tmp_path / "made.db", tmp_path / "old.db"
    connection = sqlite3.connect(made, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    for statement in statements(len(OLD)):
        connection.execute(statement)
    for suffix in ("", "-wal"):
        shutil.copy(f"{made}{suffix}", f"{path}{suffix}")
    connection.close()
    log = tmp_path / "old.db-wal"
    before = path.read_bytes(), log.read_bytes()

    with pytest.raises(StorageError, match="made by a development version"):
        async with threadline.open(path):
            pass

    assert (path.read_bytes(), log.read_bytes()) == before


@on(DURABLE, POSTGRES)
async def test_an_old_backup_is_not_restored(
    database_factory: DatabaseFactory, tmp_path: Path
) -> None:
    """It is refused before anything is replaced or put aside."""
    database = await database_factory()
    await database.write(note, "precious")
    await database.close()
    backup = tmp_path / "backup.db"
    make_file(backup)
    before = backup.read_bytes()

    with pytest.raises(StorageError, match="made by a development version"):
        await restore(database_factory.where, backup, replace=True)

    assert await (await database_factory()).read(knows, "precious")
    assert backup.read_bytes() == before
    assert not list(tmp_path.glob("*.before-*"))


@pytest.mark.parametrize("old", [len(OLD)], indirect=True)
@pytest.mark.parametrize("replace", [False, True])
@on(DURABLE, POSTGRES)
async def test_no_backup_is_restored_into_an_old_database(
    old: Old, tmp_path: Path, *, replace: bool
) -> None:
    """What was deleted there would come back with the backup, as it cannot be read."""
    backup = tmp_path / "backup.db"
    async with threadline.open(tmp_path / "new.db") as store:
        await store.back_up(backup)
    before = old.read()

    with pytest.raises(StorageError, match="made by a development version"):
        await restore(old.where, backup, replace=replace)

    assert old.read() == before
    assert not list(tmp_path.glob("*.before-*"))
