"""Bare connections: the drivers by themselves, with the settings that Threadline uses."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import psycopg
from psycopg.types.numeric import Int8BinaryDumper, IntDumper

from threadline.database.port import SqlValue
from threadline.database.queries import Dialect, queries
from threadline.database.sqlite.connection import WRITER_CACHE_KIB, connect

_PATIENCE_MS = 30_000


class Bare(Protocol):
    """What the floor and the filling need of a driver. Values stand where `?` is."""

    def ask(self, sql: str, values: Sequence[SqlValue] = ()) -> list[tuple[SqlValue, ...]]:
        """Carry out a statement and answer its rows."""
        ...

    def look(self, query: str, values: Mapping[str, SqlValue]) -> list[tuple[SqlValue, ...]]:
        """Carry out a query of Threadline's own, and answer its rows."""
        ...

    def run(self, sql: str, values: Sequence[SqlValue] = ()) -> None:
        """Carry out a statement that answers nothing."""
        ...

    def begin(self) -> None:
        """Begin a transaction that writes."""
        ...

    def commit(self) -> None:
        """End it durably."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...


class BareSqlite:
    """One apsw connection."""

    def __init__(self, path: Path) -> None:
        self._connection = connect(path, cache_kib=WRITER_CACHE_KIB)
        self._connection.set_busy_timeout(_PATIENCE_MS)
        self._execute = self._connection.execute
        self._queries = queries(Dialect.SQLITE)

    def ask(self, sql: str, values: Sequence[SqlValue] = ()) -> list[tuple[SqlValue, ...]]:
        return self._execute(sql, values).fetchall()

    def look(self, query: str, values: Mapping[str, SqlValue]) -> list[tuple[SqlValue, ...]]:
        return self._execute(self._queries[query], values).fetchall()

    def run(self, sql: str, values: Sequence[SqlValue] = ()) -> None:
        self._execute(sql, values)

    def begin(self) -> None:
        self._execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


class BarePostgres:
    """One psycopg connection."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        self._connection.adapters.register_dumper(int, Int8BinaryDumper)
        self._cursor = self._connection.cursor()
        # Our own queries are not written for numbers that are all of the widest type.
        self._looking = self._connection.cursor()
        self._looking.adapters.register_dumper(int, IntDumper)
        self._queries = {name: text.encode() for name, text in queries(Dialect.POSTGRES).items()}

    def ask(self, sql: str, values: Sequence[SqlValue] = ()) -> list[tuple[SqlValue, ...]]:
        self._cursor.execute(_translated(sql), values or None)
        return self._cursor.fetchall()

    def look(self, query: str, values: Mapping[str, SqlValue]) -> list[tuple[SqlValue, ...]]:
        self._looking.execute(self._queries[query], values)
        return self._looking.fetchall()

    def run(self, sql: str, values: Sequence[SqlValue] = ()) -> None:
        self._cursor.execute(_translated(sql), values or None)

    def begin(self) -> None:
        self._cursor.execute(b"BEGIN", prepare=False)

    def commit(self) -> None:
        self._cursor.execute(b"COMMIT", prepare=False)

    def close(self) -> None:
        self._connection.close()


@cache
def _translated(sql: str) -> bytes:
    return sql.replace("?", "%s").encode()
