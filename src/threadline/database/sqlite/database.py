"""The database port on SQLite."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

import apsw

from threadline.core.errors import Misplaced, StorageError
from threadline.core.turn import OwnerId
from threadline.database.availability import FaultReport
from threadline.database.backup import remove_abandoned
from threadline.database.installation_secret import read_secret
from threadline.database.notifier import CommitNotifier, CommitWatch
from threadline.database.port import Environment, Finding, SqlValue, Transaction
from threadline.database.queries import Dialect
from threadline.database.schema import Execute, count_applied, migrate
from threadline.database.sqlite.backup import back_up
from threadline.database.sqlite.change_watcher import ChangeWatcher
from threadline.database.sqlite.check import check_file
from threadline.database.sqlite.connection import (
    READER_CACHE_KIB,
    WRITER_CACHE_KIB,
    checkpoint_file,
    connect,
    translated,
)
from threadline.database.sqlite.file_identity import FileIdentity
from threadline.database.sqlite.process_locks import ProcessLocks, list_living, refuse_lost
from threadline.database.sqlite.readers import Readers
from threadline.database.sqlite.secure_delete import wipe_journal
from threadline.database.sqlite.writer import Writer
from threadline.database.thread_calls import CallQueue, ThreadCall

P = ParamSpec("P")
T = TypeVar("T")

WRITE_DEADLINE_SECONDS = 30.0
_OUT_OF_SPACE = (apsw.FullError, apsw.IOError, apsw.CantOpenError)
"""What opening a file fails with where there is no room for the index of its log."""


class SqliteDatabase:
    """One file, shared by all processes of one machine."""

    def __init__(
        self,
        path: Path,
        *,
        durable: bool = True,
        deadline_seconds: float = WRITE_DEADLINE_SECONDS,
        clock: Callable[[], datetime] | None = None,
        vfs: str | None = None,
    ) -> None:
        """Name the file; `open` opens it. Not `durable`: a power cut may lose the last commits."""
        self._path = path
        self._durable = durable
        self._vfs = vfs
        self._clock = clock
        self.environment = Environment(clock=self.now)
        self._desk = CallQueue(deadline_seconds, self.environment)
        self._bell = CommitNotifier()
        self._deaths = CommitNotifier()
        self._trouble = FaultReport()
        self._entries: FileIdentity | None = None

    async def open(self) -> None:
        """Open the file, bring its schema up to date and start the threads."""
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        # One file is one store, whatever links lead to it.
        self._path = _resolved(self._path)
        if self._vfs is None:
            refuse_lost(self._path)
            remove_abandoned(self._path.parent)
            _make_private(self._path)
        connection = self._connect_first()
        try:
            with translated(self._path):
                self._migrate(connection)
            # A second connection, as a commit is news only to connections that did not make it.
            watching = self._connect(0)
        except BaseException:
            connection.close()
            raise
        try:
            self._owners = _owners(self._path)
        except BaseException:
            watching.close()
            connection.close()
            raise
        if self._vfs is None:
            self._entries = FileIdentity(self._path)
        self._sentinel = ChangeWatcher(
            watching,
            self._owners,
            changed=self._ring,
            died=lambda: self._desk.answer((), self._deaths.ring),
            look=self._look_for_place,
        )
        self._writer = Writer(
            connection,
            self._path,
            answer=self._committed,
            has_peers=self._sentinel.has_peers,
            entries=self._entries,
            trouble=self._trouble,
        )
        self._readers = Readers(
            lambda: self._connect(READER_CACHE_KIB),
            self._path,
            answer=self._desk.answer,
            trouble=self._trouble,
        )

    def _connect_first(self) -> apsw.Connection:
        """Connect; on a full disk first copy a log that a crash left behind into the file."""
        try:
            return self._connect(WRITER_CACHE_KIB, self._refuse_stranger)
        except StorageError as error:
            if self._vfs is not None or not isinstance(error.__cause__, _OUT_OF_SPACE):
                raise
            if list_living(self._path):
                raise
            checkpoint_file(self._path)
            return self._connect(WRITER_CACHE_KIB, self._refuse_stranger)

    def _connect(
        self, cache_kib: int, inspect: Callable[[apsw.Connection], None] | None = None
    ) -> apsw.Connection:
        connection = connect(
            self._path, cache_kib=cache_kib, durable=self._durable, vfs=self._vfs, inspect=inspect
        )
        try:
            if self._entries is not None:
                self._entries.require()
        except BaseException:
            connection.close()
            raise
        return connection

    def _look_for_place(self) -> None:
        """Notice at once, also while nothing is written, that the file was deleted or replaced."""
        if self._entries is None:
            return
        try:
            self._entries.require()
        except Misplaced as error:
            self._trouble.note(error)
        else:
            self._trouble.is_in_place()

    @property
    def trouble(self) -> StorageError | None:
        """Why the open file cannot be relied on, or None."""
        return self._trouble.error

    def _refuse_stranger(self, connection: apsw.Connection) -> None:
        """Refuse a file that is not ours, before a setting changes it."""
        execute = _executing(connection)
        count_applied(execute, _tables(execute), Dialect.SQLITE, where=str(self._path))

    def _migrate(self, connection: apsw.Connection) -> None:
        execute = _executing(connection)
        connection.set_busy_timeout(int(WRITE_DEADLINE_SECONDS * 1000))
        execute("BEGIN IMMEDIATE")
        try:
            tables = _tables(execute)
            migrate(execute, tables, Dialect.SQLITE, where=str(self._path), now=self.now())
            execute("COMMIT")
        finally:
            if connection.in_transaction:
                execute("ROLLBACK")
            connection.set_busy_timeout(0)

    @property
    def owner(self) -> OwnerId:
        """Who this process is, for the leases it takes."""
        return self._owners.me

    def now(self) -> datetime:
        """Tell the time: all users of the file are on this machine."""
        return self._clock() if self._clock is not None else datetime.now(UTC)

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a verb in one transaction; return after its commit is on disk."""
        job = self._desk.job(verb, *args, **kwargs)
        self._writer.submit(cast("ThreadCall[object]", job))
        return await job.outcome()

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query that sees one consistent state of the whole store."""
        job = self._desk.job(query, *args, **kwargs)
        self._readers.submit(cast("ThreadCall[object]", job))
        return await job.outcome()

    def watch(self) -> AbstractContextManager[CommitWatch]:
        """Begin to notice commits."""
        return self._bell.watch()

    def deaths(self) -> AbstractContextManager[CommitWatch]:
        """Begin to notice that other processes which had the store open are gone."""
        return self._deaths.watch()

    async def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
        """Answer those of these owners whose process is certainly gone."""
        return await asyncio.to_thread(self._owners.dead, owners)

    async def check(self, *, deep: bool = False) -> list[Finding]:
        """Return the damage that is found; deep reads every page and index."""
        return await asyncio.to_thread(check_file, self._connect, self._path, deep=deep)

    async def wipe(self) -> bool:
        """Carry the journal into the file and cut it off, so that deleted bytes are in neither."""
        return await asyncio.to_thread(wipe_journal, self._connect, self._path)

    async def back_up(
        self, to: Path, *, replace: bool = False, told: Callable[[int, int], None] | None = None
    ) -> None:
        """Copy the file, as it is at one moment, while others go on writing to it."""
        told = told or (lambda _done, _whole: None)
        await asyncio.to_thread(back_up, self._connect, self._path, to, replace=replace, told=told)

    async def secret(self) -> bytes:
        """Answer the secret of this installation, from a file beside the database."""
        return await asyncio.to_thread(read_secret, self._path.with_name(f"{self._path.name}-seal"))

    async def close(self) -> None:
        """Finish what was begun and let go of everything."""
        if self._desk.close():
            self._bell.close()
            self._deaths.close()
            await asyncio.to_thread(self._stop)
        # The threads' last answers are on their way to this loop.
        await asyncio.sleep(0)

    def _stop(self) -> None:
        self._readers.close()
        self._sentinel.close()
        self._writer.close()
        self._owners.close()

    def _committed(self, jobs: Iterable[ThreadCall[object]], changed: bool) -> None:  # noqa: FBT001 - a callback
        self._desk.answer(jobs, self._bell.ring if changed else None)

    def _ring(self) -> None:
        self._desk.answer((), self._bell.ring)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, a NUL, …
        raise StorageError(
            "The database cannot be opened: its path leads nowhere", id=str(path)
        ) from error


def _make_private(path: Path) -> None:
    """Make a new file for its owner's eyes only; SQLite gives the same mode to those beside it."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return  # Its mode is its owner's choice.
    except OSError as error:
        raise StorageError(
            f"The database cannot be opened ({error.strerror})",
            id=str(path),
            hint="Does the folder exist and may I write?",
        ) from error


def _owners(path: Path) -> ProcessLocks:
    try:
        return ProcessLocks(path)
    except OSError as error:
        raise StorageError(
            f"No lock file can be made beside the database ({error.strerror})",
            id=str(path),
            hint="Make its folder writable",
        ) from error


def _executing(connection: apsw.Connection) -> Execute:
    def execute(sql: str) -> Sequence[Sequence[SqlValue]]:
        return connection.execute(sql).fetchall()

    return execute


def _tables(execute: Execute) -> frozenset[str]:
    names = execute("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    return frozenset(str(name) for (name,) in names)
