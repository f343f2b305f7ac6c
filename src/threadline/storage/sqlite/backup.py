"""Backup and restore of a SQLite file, by SQLite's own online backup."""

import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import apsw

from threadline.core.errors import Conflict, StorageError
from threadline.storage.backup import Told, examine, place
from threadline.storage.sqlite.connection import READER_CACHE_KIB, connect, translated
from threadline.storage.sqlite.owners import Owners

_PAGES = 400
_NAP = 0.001


def back_up(
    connect: Callable[[int], apsw.Connection], path: Path, to: Path, *, replace: bool, told: Told
) -> None:
    """Copy a file that is in use, as it is at one moment; whoever writes to it goes on."""

    def make(unseen: Path) -> None:
        with translated(path):
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
    examine(backup)
    aside = _put_aside(path, replace=replace, now=now)

    def make(unseen: Path) -> None:
        source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            _copy(source, unseen, told)
        finally:
            source.close()

    place(path, make, replace=False)
    return aside


def _put_aside(path: Path, *, replace: bool, now: datetime) -> Path | None:
    if not path.exists():
        return None
    owners = Owners(path)
    try:
        if owners.count_others():
            hint = "End the processes that use it first"
            raise Conflict("Somebody has the database open", id=str(path), hint=hint)
    finally:
        owners.close()
    if not replace and not _is_unused(path):
        raise Conflict(
            "The database is not empty", id=str(path), hint="Use --force; it is then kept aside"
        )
    aside = path.with_name(f"{path.name}.before-{now:%Y%m%d-%H%M%S}")
    if aside.exists():
        raise Conflict("There is something by that name already", id=str(aside), hint="Move it")
    _fold_journal(path)
    path.rename(aside)
    return aside


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


def _fold_journal(path: Path) -> None:
    """Let the last commits be in the file itself: whoever closes it last carries them over."""
    try:
        connection = connect(path, cache_kib=0)
    except StorageError:
        # A damaged file is kept aside as it is, journal and all.
        _move_journal(path)
        return
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()
    connection.close()


def _move_journal(path: Path) -> None:
    for suffix in ("-wal", "-shm"):
        journal = path.with_name(path.name + suffix)
        if journal.exists():
            journal.rename(path.with_name(f"{path.name}.damaged{suffix}"))
