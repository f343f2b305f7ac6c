"""The floor of the reads: the queries by themselves, every row fetched and nothing made of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from bench.bare import Bare
from threadline.assembly import open_database
from threadline.database.port import SqlValue, Transaction

Asked: TypeAlias = Sequence[tuple[str, Mapping[str, SqlValue]]]
"""Queries by their names, each with its values."""

_PAGE = (
    "SELECT m.key, m.seq, m.turn_id, m.role, m.text, m.parts, m.at, m.changed_at, m.deleted_at, "
    "p.id, p.name FROM messages m LEFT JOIN senders p ON p.key = m.sender_key "
    "WHERE m.session_key = ? AND m.seq IS NOT NULL ORDER BY m.seq DESC LIMIT 50"
)
_LIST = (
    "SELECT s.key, s.id, s.profile, s.platform, s.kind, p.id, coalesce(r.id, s.id), s.cause, "
    "s.opened_at, s.last_activity_at, s.ended_at, s.end_reason, s.suspended_at, s.title, "
    "s.titled_by, s.model, s.provider, s.base_url, s.last_seq, s.revision, "
    "(SELECT t.state FROM turns t WHERE t.session_key = s.key "
    "AND t.state IN ('running', 'waiting')) "
    "FROM sessions s LEFT JOIN sessions p ON p.key = s.parent_key "
    "LEFT JOIN sessions r ON r.key = s.root_key "
    "WHERE s.profile = 'main' AND s.archived_at IS NULL AND s.origin <> 'job' "
    "AND s.pinned_at IS NULL ORDER BY s.last_activity_at DESC, s.key DESC LIMIT 51"
)


class Glance:
    """Reads by one bare connection what a caller of the store asks for."""

    def __init__(self, bare: Bare) -> None:
        self._bare = bare

    def transcript(self, key: int) -> None:
        """Read the last 50 messages of a session."""
        if len(self._bare.ask(_PAGE, (key,))) != 50:
            raise ValueError("The long transcript is not there")

    def sessions(self) -> None:
        """Read the first page of the list."""
        if not self._bare.ask(_LIST):
            raise ValueError("The list is empty")


class Note:
    """A transaction that writes down what is asked of it."""

    def __init__(self, tx: Transaction) -> None:
        """Pass on to a transaction what is asked."""
        self._tx = tx
        self.now, self.settings, self.new_id = tx.now, tx.settings, tx.new_id
        self.asked: list[tuple[str, Mapping[str, SqlValue]]] = []

    def one(self, query: str, /, *kind: Any, **values: SqlValue) -> Any:
        self.asked.append((query, values))
        return self._tx.one(query, *kind, **values)

    def all(self, query: str, /, *kind: Any, **values: SqlValue) -> Any:
        self.asked.append((query, values))
        return self._tx.all(query, *kind, **values)

    def exists(self, query: str, /, **values: SqlValue) -> bool:
        self.asked.append((query, values))
        return self._tx.exists(query, **values)

    def run(self, query: str, **values: SqlValue) -> None:
        self._tx.run(query, **values)

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        self._tx.run_many(query, rows)


async def overhear(
    where: str, reads: Mapping[str, Callable[[Transaction], object]]
) -> dict[str, Asked]:
    """Answer the queries that some reads are made of, with the values of this store."""

    def noted(tx: Transaction, read: Callable[[Transaction], object]) -> Asked:
        note = Note(tx)
        read(note)
        return note.asked

    database = await open_database(where)
    try:
        return {name: await database.read(noted, read) for name, read in reads.items()}
    finally:
        await database.close()
