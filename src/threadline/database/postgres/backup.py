"""Backup and restore of a PostgreSQL database: table by table, from and into a SQLite file."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import apsw
import psycopg
from psycopg import sql

from threadline.core.errors import Conflict
from threadline.database.backup import Told, check_backup, place
from threadline.database.port import SqlValue
from threadline.database.postgres.connection import ConnectionTarget, Raw
from threadline.database.postgres.errors import translate, unreachable
from threadline.database.postgres.process_locks import has_alone
from threadline.database.postgres.schema import upgrade_through
from threadline.database.queries import Dialect, queries
from threadline.database.schema import migrate

_ROWS = 2_000
_LEDGER = "migrations"
_ANEW = "forget_indexed"
"""The search index is not copied: it is made anew from what is there."""
_IDENTITIES = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND is_identity = 'YES'
"""


def back_up(
    target: ConnectionTarget, to: Path, *, replace: bool, now: datetime, told: Told
) -> None:
    """Copy a database in use, as it is at one moment, into a SQLite file of ours."""

    def make(unseen: Path) -> None:
        with _reached(target) as source:
            source.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            _copy(source, unseen, now, told)
            source.execute("COMMIT")

    place(to, make, replace=replace)


def restore(
    target: ConnectionTarget, backup: Path, *, aside: Path, replace: bool, now: datetime, told: Told
) -> Path | None:
    """Put what a backup holds into a database that no process has open.

    What was there before is copied to `aside` in the same transaction, which excludes all others:
    whatever was committed is in the copy, and whatever comes later is in the restored database.
    Return `aside` if there was anything.
    """
    check_backup(backup)
    with tempfile.TemporaryDirectory(prefix="threadline-") as folder, _reached(target) as server:
        if not has_alone(server):
            raise Conflict(
                "Another process has the database open",
                id=target.where,
                hint="Stop the processes that use it first",
            )
        upgrade_through(server, target.where, now)
        with _brought_up(backup, Path(folder) / "backup.db", now) as file:
            return _swap(server, file, target, aside=aside, replace=replace, now=now, told=told)


def _swap(
    server: Raw,
    file: apsw.Connection,
    target: ConnectionTarget,
    *,
    aside: Path,
    replace: bool,
    now: datetime,
    told: Told,
) -> Path | None:
    """Copy what is there aside and put the backup in its place, in one transaction."""
    with server.transaction():
        # Examining the copy takes a while in which the server hears nothing.
        server.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        tables = _tables(file)
        names = sql.SQL(", ").join(sql.Identifier(table) for table in tables)
        server.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(names))
        is_used = _is_used(server)
        if is_used and not replace:
            raise Conflict(
                "The database is not empty",
                id=target.where,
                hint="Use --force; what is there is backed up first",
            )
        if is_used:
            place(aside, lambda unseen: _copy(server, unseen, now, _ignored), replace=False)
        try:
            _fill(server, file, tables, told)
        except BaseException:
            # Nothing was replaced. If the commit itself fails, that is not certain.
            if is_used:
                aside.unlink()
            raise
    return aside if is_used else None


def _fill(server: Raw, file: apsw.Connection, tables: list[str], told: Told) -> None:
    """Replace the rows of all tables by those of a backup."""
    _empty(server, tables)
    for n, table in enumerate(tables, start=1):
        _give(file, server, table)
        told(n, len(tables))
    server.execute(queries(Dialect.POSTGRES)[_ANEW].encode())
    _go_on_counting(server)


def _ignored(_done: int, _whole: int) -> None:
    """Report no progress."""


def _copy(source: Raw, to: Path, now: datetime, told: Told) -> None:
    """Copy all tables, as one transaction sees them, into a new SQLite file."""
    with _filled(to, now) as file:
        tables = _tables(file)
        for n, table in enumerate(tables, start=1):
            _take(source, file, table)
            told(n, len(tables))
        file.execute(queries(Dialect.SQLITE)[_ANEW])


def _is_used(server: Raw) -> bool:
    question = "SELECT 1 FROM addresses UNION ALL SELECT 1 FROM forgettings LIMIT 1"
    return server.execute(question).fetchone() is not None


@contextmanager
def _reached(target: ConnectionTarget) -> Iterator[Raw]:
    try:
        connection = target.connect()
    except psycopg.Error as error:
        raise unreachable(error, target) from error
    try:
        with connection:
            yield connection
    except psycopg.Error as error:
        raise translate(error, target) from error


@contextmanager
def _filled(path: Path, now: datetime) -> Iterator[apsw.Connection]:
    """Make a file with our schema, to be filled in one transaction."""
    connection = apsw.Connection(str(path))

    def execute(statement: str) -> Sequence[Sequence[SqlValue]]:
        return connection.execute(statement).fetchall()

    try:
        execute("PRAGMA foreign_keys = OFF")
        execute("BEGIN IMMEDIATE")
        migrate(execute, frozenset(), Dialect.SQLITE, where=str(path), now=now)
        yield connection
        execute("COMMIT")
    finally:
        connection.close()


@contextmanager
def _brought_up(backup: Path, copy: Path, now: datetime) -> Iterator[apsw.Connection]:
    """Open a copy of a backup whose schema is that of this program."""
    copy.write_bytes(b"")
    source = apsw.Connection(str(backup), flags=apsw.SQLITE_OPEN_READONLY)
    file = apsw.Connection(str(copy))

    def execute(statement: str) -> Sequence[Sequence[SqlValue]]:
        return file.execute(statement).fetchall()

    try:
        with file.backup("main", source, "main") as pages:
            pages.step()
        known = frozenset(
            str(name) for (name,) in execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        )
        execute("BEGIN IMMEDIATE")
        migrate(execute, known, Dialect.SQLITE, where=str(backup), now=now)
        execute("COMMIT")
        yield file
    finally:
        file.close()
        source.close()


def _tables(file: apsw.Connection) -> list[str]:
    """List the tables that hold what is true, those that others refer to first."""
    listed = file.execute("PRAGMA table_list").fetchall()
    names = {
        str(name)
        for schema, name, kind, *_ in listed
        if schema == "main" and kind == "table" and not str(name).startswith("sqlite_")
    } - {_LEDGER}
    needs = {
        name: {str(row[2]) for row in file.execute(f"PRAGMA foreign_key_list({name})")} - {name}
        for name in names
    }
    order: list[str] = []
    while needs:
        ready = sorted(name for name, others in needs.items() if not others - set(order))
        order += ready
        needs = {name: others for name, others in needs.items() if name not in ready}
    return order


def _columns(file: apsw.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in file.execute(f"PRAGMA table_info({table})")]


def _take(source: Raw, file: apsw.Connection, table: str) -> None:
    columns = _columns(file, table)
    file.execute(f"DELETE FROM {table}")  # noqa: S608 - our own name
    marks = ", ".join("?" * len(columns))
    into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608 - the same
    with source.cursor(name="backup") as cursor:
        cursor.itersize = _ROWS
        cursor.execute(_select(table, columns))
        while rows := cursor.fetchmany(_ROWS):
            file.executemany(into, rows)


def _give(file: apsw.Connection, server: Raw, table: str) -> None:
    columns = _columns(file, table)
    names = sql.SQL(", ").join(sql.Identifier(column) for column in columns)
    into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    listed = ", ".join(columns)
    with server.cursor() as cursor, cursor.copy(into) as copy:
        for row in file.execute(f"SELECT {listed} FROM {table}"):  # noqa: S608 - our own names
            copy.write_row(row)


def _select(table: str, columns: list[str]) -> sql.Composed:
    names = sql.SQL(", ").join(sql.Identifier(column) for column in columns)
    return sql.SQL("SELECT {} FROM {}").format(names, sql.Identifier(table))


def _empty(server: Raw, tables: list[str]) -> None:
    derived = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
    every = {str(name) for (name,) in server.execute(derived)} | set(tables)
    names = sql.SQL(", ").join(sql.Identifier(name) for name in sorted(every - {_LEDGER}))
    server.execute(sql.SQL("TRUNCATE {}").format(names))


def _go_on_counting(server: Raw) -> None:
    """Let new rows get keys above those that came with the backup."""
    for table, column in server.execute(_IDENTITIES).fetchall():
        if table != _LEDGER:
            newest = sql.SQL(
                "SELECT setval(pg_get_serial_sequence({}, {}), coalesce(max({}), 0) + 1, false)"
                " FROM {}"
            ).format(table, column, sql.Identifier(column), sql.Identifier(table))
            server.execute(newest)
