"""Transactions on PostgreSQL: named queries, prepared once on each connection.

This speaks to libpq through psycopg's own thin layer. A cursor would convert and prepare every
query anew in Python, which costs more than the server's answer.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from psycopg.errors import error_from_result
from psycopg.pq import Escaping, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult

from threadline.core.errors import StorageError
from threadline.database.port import Attempt, SqlValue, Transaction, reader
from threadline.database.postgres.connection import Raw
from threadline.database.queries import Dialect, queries

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_FINE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)
_TEXT, _BINARY = 0, 1
_INT4, _INT8, _BYTEA = 23, 20, 17


class Statement(Struct, frozen=True, kw_only=True):
    """A query as libpq wants it: numbered placeholders, and which value belongs to which."""

    name: bytes
    text: bytes
    parameters: tuple[str, ...]
    writes: bool
    locks: bool


@cache
def statements() -> Mapping[str, Statement]:
    """Answer all queries by name."""
    return MappingProxyType(
        {name: _statement(name, text) for name, text in queries(Dialect.POSTGRES).items()}
    )


def _statement(name: str, text: str) -> Statement:
    numbers: dict[str, int] = {}
    numbered = _PLACEHOLDER.sub(
        lambda found: f"${numbers.setdefault(found[1], len(numbers) + 1)}", text
    )
    return Statement(
        name=name.encode(),
        text=numbered.replace("%%", "%").encode(),
        parameters=tuple(numbers),
        writes=not text.startswith("SELECT"),
        locks=text.endswith("FOR NO KEY UPDATE"),
    )


class PostgresTransaction(Attempt):
    """The port's transaction on one connection; its owner begins and ends it."""

    def __init__(self, connection: Raw) -> None:
        """Speak to the database through this connection."""
        self.connection = connection
        self.has_written = False
        self._pgconn = connection.pgconn
        self._statements = statements()
        self._prepared: set[str] = set()
        self._readers: dict[
            tuple[str, Any],
            tuple[list[tuple[int, Callable[[bytes], SqlValue]]], Callable[[Sequence[Any]], Any]],
        ] = {}

    def command(self, text: bytes) -> str:
        """Carry out a command without values, such as COMMIT; answer what the server says."""
        return (_checked(self._pgconn.exec_(text)).command_status or b"").decode()

    def transaction_id(self) -> int | None:
        """Return the id of the transaction, or None if it has none, as it wrote nothing.

        Ask at its end only: the feed is ordered by these ids, so that a transaction must get its id
        after it has waited for the session's lock, not before.
        """
        if not self.has_written or self._pgconn.transaction_status != TransactionStatus.INTRANS:
            return None
        text = b"SELECT pg_current_xact_id_if_assigned()"
        value = _checked(self._pgconn.exec_(text)).get_value(0, 0)
        return None if value is None else int(value)

    def _rows(self, query: str, kind: Any, values: Mapping[str, SqlValue]) -> list[Any]:
        rows = self._read(query, kind, self._execute(query, values))
        if not rows and self._statements[query].locks:
            # A row that was replaced while its lock was awaited is left out of the answer. Who
            # asks again sees what replaced it.
            rows = self._read(query, kind, self._execute(query, values))
        return rows

    def run(self, query: str, **values: SqlValue) -> None:
        """Carry out a query that answers nothing."""
        self._execute(query, values)

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        """Carry out a query once for each set of values."""
        for values in rows:
            self._execute(query, values)

    def _execute(self, query: str, values: Mapping[str, SqlValue]) -> PGresult:
        statement = self._statements[query]
        if query not in self._prepared:
            # Without types: the server knows which ones the query needs, whatever the values are.
            _checked(self._pgconn.prepare(statement.name, statement.text))
            self._prepared.add(query)
        data: list[bytes | None] = []
        formats: list[int] = []
        for parameter in statement.parameters:
            value = values[parameter]
            if isinstance(value, str):
                # As binary it has a length, so that a NUL is refused and does not end it.
                data.append(value.encode())
                formats.append(_BINARY)
            elif isinstance(value, bytes):
                data.append(value)
                formats.append(_BINARY)
            else:
                data.append(None if value is None else str(value).encode())
                formats.append(_TEXT)
        result = _checked(
            self._pgconn.exec_prepared(statement.name, data, formats)  # type: ignore[arg-type]  # NULL
        )
        if statement.writes and result.command_tuples:
            self.has_written = True
        return result

    def _read(self, query: str, kind: Any, result: PGresult) -> list[Any]:
        known = self._readers.get((query, kind))
        if known is None:
            names = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
            columns = [(n, _reader(result.ftype(n))) for n in range(result.nfields)]
            known = self._readers[query, kind] = columns, reader(kind, names)
        columns, read = known
        value_at = result.get_value
        rows = []
        for at in range(result.ntuples):
            data = [(value_at(at, n), convert) for n, convert in columns]
            rows.append(
                read([None if value is None else convert(value) for value, convert in data])
            )
        return rows


def raw(tx: Transaction) -> Raw:
    """Answer the connection of a transaction, for what only PostgreSQL can do."""
    if not isinstance(tx, PostgresTransaction):
        raise StorageError("This transaction is none of PostgreSQL's")
    return tx.connection


def _checked(result: PGresult) -> PGresult:
    if result.status not in _FINE:
        raise error_from_result(result, encoding="utf-8")
    return result


def _reader(type_id: int) -> Callable[[bytes], SqlValue]:
    if type_id in {_INT4, _INT8}:
        return int
    return Escaping().unescape_bytea if type_id == _BYTEA else bytes.decode
