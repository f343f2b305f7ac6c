"""A witness: a transaction that remembers what it was asked."""

from collections.abc import Iterable, Mapping
from typing import Any

from threadline.database.port import SqlValue, Transaction


class QueryWitness:
    """Stands before a transaction, and remembers the queries in their order."""

    def __init__(self, tx: Transaction) -> None:
        """Stand before a transaction."""
        self._tx = tx
        self.now, self.settings, self.new_id = tx.now, tx.settings, tx.new_id
        self.asked: list[tuple[str, Mapping[str, SqlValue]]] = []

    def one(self, query: str, /, *kind: Any, **values: SqlValue) -> Any:
        """Answer the first row."""
        self.asked.append((query, values))
        return self._tx.one(query, *kind, **values)

    def all(self, query: str, /, *kind: Any, **values: SqlValue) -> Any:
        """Answer all rows."""
        self.asked.append((query, values))
        return self._tx.all(query, *kind, **values)

    def exists(self, query: str, /, **values: SqlValue) -> bool:
        """Return whether a query finds a row."""
        self.asked.append((query, values))
        return self._tx.exists(query, **values)

    def run(self, query: str, **values: SqlValue) -> None:
        """Carry out a query."""
        self.asked.append((query, values))
        self._tx.run(query, **values)

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        """Carry out a query many times."""
        self._tx.run_many(query, rows)
