"""Backup and restore of a SQLite file, by SQLite's own online backup."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import apsw

from threadline.core.errors import Conflict
from threadline.database.backup import Told, check_backup, place, refuse_open
from threadline.database.port import SqlValue
from threadline.database.queries import Dialect
from threadline.database.schema import count_applied
from threadline.database.sqlite.connection import READER_CACHE_KIB, keep_log, translated

_PAGES = 400
_NAP = 0.001


def back_up(
    connect: Callable[[int], apsw.Connection], path: Path, to: Path, *, replace: bool, told: Told
) -> None:
    """Copy a file that is in use, as it is at one moment; whoever writes to it goes on."""
    _refuse_itself(path, to)

    def make(unseen: Path) -> None:
        with translated(to):
            source = connect(READER_CACHE_KIB)
            try:
                # Inside a transaction the copy is of one moment, however much is written.
                source.execute("BEGIN")
                source.execute("SELECT count(*) FROM migrations").fetchall()
                _copy(source, unseen, told)
            finally:
                source.close()

    place(to, make, replace=replace)


def _copy(source: apsw.Connection, to: Path, told: Told) -> None:
    target = apsw.Connection(str(to))
    try:
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(_PAGES)
                told(backup.page_count - backup.remaining, backup.page_count)
                time.sleep(_NAP)
        # One file, without a journal beside it.
        target.execute("PRAGMA journal_mode = DELETE").fetchall()
    finally:
        target.close()


def restore(path: Path, backup: Path, *, replace: bool, now: datetime, told: Told) -> Path | None:
    """Put a backup in the place of a file that nobody has open.

    What was there is kept aside; answers where.
    """
    check_backup(backup)
    _refuse_itself(path, backup)
    aside = path.with_name(f"{path.name}.before-{now:%Y%m%d-%H%M%S}")
    if aside.exists():
        raise Conflict("There is something by that name already", id=str(aside), hint="Move it")
    is_there = path.exists()
    if is_there:
        _require_free(path, replace=replace)

    def make(unseen: Path) -> None:
        with translated(path):
            source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                _copy(source, unseen, told)
            finally:
                source.close()

    try:
        place(path, make, replace=False, make_room=lambda: _move(path, aside))
    except BaseException:
        if not path.exists():
            _move(aside, path)
        raise
    return aside if is_there else None


def _refuse_itself(path: Path, other: Path) -> None:
    if path.exists() and other.exists() and path.samefile(other):
        raise Conflict("This is the database itself", id=str(other), hint="Name another file")


def _require_free(path: Path, *, replace: bool) -> None:
    """Refuse to put something in the place of a database that is used, or has something in it."""
    refuse_open(path)
    _require_known_schema(path)
    if not replace and not _is_unused(path):
        raise Conflict(
            "The database is not empty", id=str(path), hint="Use --force; it is then kept aside"
        )


def _require_known_schema(path: Path) -> None:
    """Raise `StorageError` if a development version or a newer version made a database.

    What was deleted there cannot be read, and would come back with the backup. A damaged database
    is not refused: it may be the reason for the restore.
    """
    with suppress(apsw.Error):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)

        def execute(sql: str) -> Sequence[Sequence[SqlValue]]:
            return connection.execute(sql).fetchall()

        try:
            keep_log(connection, path)
            tables = frozenset(str(name) for (name,) in execute("SELECT name FROM sqlite_schema"))
            if "migrations" in tables:
                count_applied(execute, tables, Dialect.SQLITE, where=str(path))
        finally:
            connection.close()


def _move(path: Path, to: Path) -> None:
    """Give a file another name, together with the last commits, which may stand beside it.

    Unopened, as it may be damaged.
    """
    for suffix in ("-wal", "-shm", ""):
        file = path.with_name(path.name + suffix)
        if file.exists():
            file.rename(to.with_name(to.name + suffix))


def _is_unused(path: Path) -> bool:
    with translated(path):
        connection = apsw.Connection(str(path))
        try:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
            if not tables:
                return True
            question = "SELECT 1 FROM addresses UNION ALL SELECT 1 FROM forgettings LIMIT 1"
            known = {"addresses", "forgettings"} <= tables
            return known and not connection.execute(question).fetchall()
        finally:
            connection.close()
