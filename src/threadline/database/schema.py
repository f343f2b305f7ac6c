"""Brings a store's schema up to date, or refuses one that it does not know."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from threadline.core.errors import StorageError
from threadline.database.port import SqlValue
from threadline.database.queries import Dialect, migrations
from threadline.database.timestamps import stamp

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
    """Return the number of the last step that was applied to a database, 0 if it is empty.

    Raise `StorageError` if the database belongs to another program, if a recorded step has another
    name than the step of this number in this version, or if a newer version made it.
    """
    if not tables:
        return 0
    if "migrations" not in tables:
        raise StorageError(
            "This database belongs to another program", id=where, hint="Name another one"
        )
    found = execute("SELECT number, name FROM migrations ORDER BY number")
    recorded = {int(number or 0): str(name) for number, name in found}
    known = migrations(dialect)
    # Before the comparison of numbers: development versions had more steps than this version.
    if any(recorded.get(step.number, step.name) != step.name for step in known):
        raise StorageError(
            "This database was made by a development version of Threadline, and its schema cannot "
            f"be upgraded: it has {len(recorded)} migrations, the last one is "
            f"{recorded[max(recorded)]!r}",
            id=where,
            hint="Export it with the version that made it (threadline export --all -o FILE) and "
            "import that file here, into a new database (threadline import FILE); nothing was "
            "changed",
        )
    applied = max(recorded, default=0)
    if applied > known[-1].number:
        raise StorageError(
            f"This store was written by a newer Threadline: its schema is {applied}, "
            f"and this one knows {known[-1].number}",
            id=where,
            hint="Upgrade Threadline; nothing was changed",
        )
    return applied
