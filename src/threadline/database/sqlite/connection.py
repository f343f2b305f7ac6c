"""Connections to SQLite: how they are set up, what they can do, and what their errors mean."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from threadline.core.errors import Conflict, Damaged, StorageError, ThreadlineError
from threadline.database.port import Attempt, SqlValue, reader
from threadline.database.queries import Dialect, queries

WRITER_CACHE_KIB = 16_000
READER_CACHE_KIB = 4000
CHECKPOINT_PAGES = 1_000
"""Pages in the log (of 4 KiB) after which it is copied into the file and begins again."""
_PAGE = 4096
_OPEN_PATIENCE_MS = 30_000
_SYNCHRONOUS_OFF, _SYNCHRONOUS_FULL = 0, 2


def connect(
    path: Path,
    *,
    cache_kib: int,
    durable: bool = True,
    vfs: str | None = None,
    inspect: Callable[[apsw.Connection], None] | None = None,
) -> apsw.Connection:
    """Open the file with settings that were all read back, or say which of them did not hold.

    Some settings change the file, so `inspect` may refuse it before any of them is made.
    """
    with translated(path):
        # A database that was deleted must not come back as an empty one.
        ways = apsw.SQLITE_OPEN_READWRITE | (0 if vfs is None else apsw.SQLITE_OPEN_CREATE)
        connection = apsw.Connection(str(path), flags=ways, vfs=vfs)
        try:
            connection.set_busy_timeout(_OPEN_PATIENCE_MS)
            if inspect is not None:
                keep_log(connection, path)
                inspect(connection)
                connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
            for name, wish in _pragmas(cache_kib, durable=durable):
                _set(connection, name, wish)
            # Otherwise a statement is compiled anew for each new value of a parameter (ten times
            # the cost of running it), in case the statistics of the table suggest another plan.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            # From here on whoever writes decides how long to wait for another process.
            connection.set_busy_timeout(0)
        except BaseException:
            connection.close()
            raise
    return connection


def keep_log(connection: apsw.Connection, path: Path) -> None:
    """Make closing a connection change nothing: not copy a log into the file that a crash left."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def _pragmas(cache_kib: int, *, durable: bool) -> Iterator[tuple[str, int | str]]:
    yield "journal_mode", "wal"
    yield "synchronous", _SYNCHRONOUS_FULL if durable else _SYNCHRONOUS_OFF
    yield "foreign_keys", 1
    yield "secure_delete", 1
    yield "cache_size", -cache_kib
    yield "mmap_size", 0
    yield "wal_autocheckpoint", CHECKPOINT_PAGES
    yield "journal_size_limit", CHECKPOINT_PAGES * _PAGE
    if sys.platform == "darwin":
        yield "fullfsync", 1
        yield "checkpoint_fullfsync", 1


def _set(connection: apsw.Connection, name: str, wish: int | str) -> None:
    connection.execute(f"PRAGMA {name} = {wish}").fetchall()
    answer = connection.execute(f"PRAGMA {name}").fetchall()
    # A build without memory mapping answers nothing about it, which is as good as zero.
    found = answer[0][0] if answer else 0
    if found != wish:
        raise StorageError(
            f"SQLite answered {found!r} where {name} should be {wish!r}",
            hint="The file system may not support what a safe database needs",
        )


class SqliteTransaction(Attempt):
    """The port's transaction on one connection; its owner begins and ends it."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Speak to the database through this connection."""
        self._execute = connection.execute
        self._executemany = connection.executemany
        self._queries = queries(Dialect.SQLITE)
        self._readers: dict[tuple[str, Any], Callable[[Sequence[Any]], Any]] = {}

    def _rows(self, query: str, kind: Any, values: Mapping[str, SqlValue]) -> list[Any]:
        cursor = self._execute(self._queries[query], values)
        read = self._readers.get((query, kind))
        if read is None:
            try:
                columns = tuple(column[0] for column in cursor.get_description())
            except apsw.ExecutionCompleteError:
                return []
            read = self._readers[query, kind] = reader(kind, columns)
        return list(map(read, cursor.fetchall()))

    def run(self, query: str, **values: SqlValue) -> None:
        """Carry out a query that answers nothing."""
        self._execute(self._queries[query], values)

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        """Carry out a query once for each set of values."""
        self._executemany(self._queries[query], rows)


_MEANINGS: tuple[tuple[type[apsw.Error], str, str], ...] = (
    (apsw.FullError, "The disk is full", "Free some space; what was acknowledged is safe"),
    (apsw.ReadOnlyError, "The database is read-only", "Make the file and its folder writable"),
    (apsw.CantOpenError, "The database cannot be opened", "Does the folder exist and may I write?"),
    (apsw.BusyError, "Another process holds the database", "Wait for it, or end it"),
    (apsw.IOError, "The disk failed to read or write", "Check the disk and the system's log"),
    (apsw.PermissionsError, "The database may not be opened", "Look at the file's permissions"),
)


_DAMAGE: tuple[tuple[type[apsw.Error], str, str], ...] = (
    (apsw.NotADBError, "The file is no SQLite database", "Name another file, or restore a backup"),
    (apsw.CorruptError, "The database is damaged", "Stop writing to it and restore a backup"),
)


def translate(error: apsw.Error, path: Path) -> ThreadlineError:
    """Return the error of our own that an error of SQLite means.

    Damage is told apart from what may pass: a full disk, a failed read, another process.
    """
    for kind, what, hint in _DAMAGE:
        if isinstance(error, kind):
            return Damaged(f"{what} ({error})", id=str(path), hint=hint)
    if isinstance(error, apsw.ConstraintError):
        return Conflict(f"The database refused it: {error}", id=path.name)
    for kind, what, hint in _MEANINGS:
        if isinstance(error, kind):
            return StorageError(f"{what} ({error})", id=str(path), hint=hint)
    return StorageError(f"SQLite failed: {error}", id=str(path))


def checkpoint_file(path: Path) -> None:
    """Copy the write-ahead log of a file that nobody has open into it, and empty the log.

    The connection is exclusive and therefore needs no index file: this works on a full disk.
    """
    with translated(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            connection.close()


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into ours."""
    try:
        yield
    except apsw.Error as error:
        raise translate(error, path) from error
