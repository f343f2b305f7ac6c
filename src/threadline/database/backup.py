"""Backups: one SQLite file that holds everything, whichever database it came from."""

import fcntl
import os
import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

import apsw

from threadline.core.errors import Conflict, StorageError
from threadline.database.port import SqlValue
from threadline.database.queries import Dialect
from threadline.database.schema import count_applied

Told: TypeAlias = Callable[[int, int], None]
"""Is told how much is done, and of how much."""

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST = 3
_UNFINISHED = ".threadline-unfinished"
_OURS = re.compile(rf"\..+\.[0-9a-f]{{8}}{re.escape(_UNFINISHED)}")


def place(
    to: Path,
    make: Callable[[Path], None],
    *,
    replace: bool,
    make_room: Callable[[], None] | None = None,
) -> None:
    """Let a copy appear under its name only when it is whole, examined, and on disk.

    Where room has to be made for it, that is the last thing before.
    """
    if make_room is None and to.exists():
        if not replace:
            raise Conflict(
                "There is such a file already", id=str(to), hint="--force writes over it"
            )
        refuse_open(to)
    remove_abandoned(to.parent)
    unseen = to.with_name(f".{to.name}.{secrets.token_hex(4)}{_UNFINISHED}")
    lock = None
    try:
        lock = os.open(unseen, _NEW, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        make(unseen)
        check_backup(unseen)
        _sync(unseen)
        if make_room is not None:
            make_room()
        _appear(unseen, to, replace=replace)
        _sync(to.parent)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise StorageError(f"The backup cannot be written: {why}", id=str(to)) from error
    finally:
        _remove(unseen)
        if lock is not None:
            os.close(lock)


def remove_abandoned(folder: Path) -> None:
    """Remove unfinished copies in a folder whose makers were killed: nobody holds their lock."""
    with suppress(OSError):
        for file in list(folder.iterdir()):
            if _OURS.fullmatch(file.name) and _is_abandoned(file):
                _remove(file)


def _is_abandoned(file: Path) -> bool:
    try:
        found = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(found)


def _remove(unseen: Path) -> None:
    for suffix in ("-journal", "-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            unseen.with_name(unseen.name + suffix).unlink()


def refuse_open(path: Path) -> None:
    """Raise `Conflict` if a process has the store open: what it stores would be lost."""
    # Here, because SQLite's own modules stand on this one.
    from threadline.database.sqlite.process_locks import ProcessLocks

    owners = ProcessLocks(path)
    try:
        if owners.list_others():
            hint = "Stop the processes that use it first"
            raise Conflict("Another process has the database open", id=str(path), hint=hint)
    finally:
        owners.close()


def _appear(unseen: Path, to: Path, *, replace: bool) -> None:
    if replace:
        unseen.replace(to)
        return
    try:
        os.link(unseen, to)
    except FileExistsError as error:
        raise Conflict("Somebody else was quicker", id=str(to), hint="Use another name") from error


def check_backup(file: Path) -> int:
    """Refuse a file that is no whole backup of ours; answer the number of its schema."""
    if not file.is_file():
        raise StorageError("There is no such backup", id=str(file))
    try:
        connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    except apsw.Error as error:
        raise StorageError(f"The backup cannot be opened ({error})", id=str(file)) from error
    try:
        applied = _applied(connection, str(file))
        lines = [str(line) for (line,) in connection.execute(f"PRAGMA integrity_check({_MOST})")]
        strays = connection.execute("PRAGMA foreign_key_check").fetchall()
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise StorageError(f"The file is no backup ({error})", id=str(file)) from error
    except apsw.Error as error:
        raise StorageError(f"The backup cannot be read ({error})", id=str(file)) from error
    finally:
        connection.close()
    if lines != ["ok"] or strays:
        why = "; ".join(line for line in lines if line != "ok") or "rows without their owner"
        raise StorageError(f"The backup is damaged: {why}", id=str(file))
    return applied


def _applied(connection: apsw.Connection, where: str) -> int:
    def execute(sql: str) -> Sequence[Sequence[SqlValue]]:
        return connection.execute(sql).fetchall()

    names = execute("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")
    applied = count_applied(
        execute, frozenset(str(name) for (name,) in names), Dialect.SQLITE, where=where
    )
    if not applied:
        raise StorageError("The file is no backup: it is empty", id=where)
    return applied


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
