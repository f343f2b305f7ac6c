"""A listener: hears which queries a verb makes, in which order."""

from collections.abc import Iterable, Mapping
from typing import Any

from threadline.database.port import SqlValue, Transaction

Heard = tuple[str, SqlValue]


class Listener:
    """A transaction that hands everything on, and remembers each query with the key it was for."""

    def __init__(self, tx: Transaction) -> None:
        """Stand before another transaction."""
        self._tx = tx
        self.now, self.settings, self.new_id = tx.now, tx.settings, tx.new_id
        self.heard: list[Heard] = []

    def one(self, query: str, /, *kind: Any, **values: SqlValue) -> Any:
        """Answer the first row."""
        self._hear(query, values)
        return self._tx.one(query, *kind, **values)

    def all(self, query: str, /, *kind: Any, **values: SqlValue) -> Any:
        """Answer all rows."""
        self._hear(query, values)
        return self._tx.all(query, *kind, **values)

    def exists(self, query: str, /, **values: SqlValue) -> bool:
        """Return whether a query finds a row."""
        self._hear(query, values)
        return self._tx.exists(query, **values)

    def run(self, query: str, **values: SqlValue) -> None:
        """Carry out a query."""
        self._hear(query, values)
        self._tx.run(query, **values)

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        """Carry out a query for each set of values."""
        self._hear(query, {})
        self._tx.run_many(query, rows)

    def only(self, *queries: str) -> list[Heard]:
        """Answer what was heard of some queries."""
        return [heard for heard in self.heard if heard[0] in queries]

    def _hear(self, query: str, values: Mapping[str, SqlValue]) -> None:
        self.heard.append((query, values.get("key")))
