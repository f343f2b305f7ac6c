"""Brings a store's schema up to date, or refuses one that it does not know."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from threadline.core.errors import StorageError
from threadline.storage.database import SqlValue
from threadline.storage.moments import stamp
from threadline.storage.queries import Dialect, migrations

Execute: TypeAlias = Callable[[str], Sequence[Sequence[SqlValue]]]

_LEDGER = """CREATE TABLE migrations (
    number     INTEGER PRIMARY KEY,
    name       TEXT NOT NULL,
    applied_at BIGINT NOT NULL
)"""


def migrate(
    execute: Execute, tables: frozenset[str], dialect: Dialect, *, where: str, now: datetime
) -> None:
    """Apply the steps that a store lacks. Call it inside a transaction that excludes all others."""
    applied = count_applied(execute, tables, dialect, where=where)
    if not tables:
        execute(_LEDGER)
    for step in migrations(dialect)[applied:]:
        for statement in step.statements:
            execute(statement)
        # All three are ours: a number, the name of a file in this package, and the clock.
        done = f"({step.number}, '{step.name}', {stamp(now)})"
        execute(f"INSERT INTO migrations VALUES {done}")  # noqa: S608


def count_applied(execute: Execute, tables: frozenset[str], dialect: Dialect, *, where: str) -> int:
    """Tell how many steps a store has; refuse one that is foreign, or newer than this program."""
    if not tables:
        return 0
    if "migrations" in tables:
        ((number,),) = execute("SELECT coalesce(max(number), 0) FROM migrations")
        applied = int(number or 0)
    else:
        raise StorageError(
            "This database belongs to another program", id=where, hint="Name another one"
        )
    known = migrations(dialect)
    if applied > known[-1].number:
        raise StorageError(
            f"This store was written by a newer Threadline: its schema is {applied}, "
            f"and this one knows {known[-1].number}",
            id=where,
            hint="Upgrade Threadline; nothing was changed",
        )
    return applied
