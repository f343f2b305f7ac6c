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
    if not tables:
        execute(_LEDGER)
        applied = 0
    elif "migrations" in tables:
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
    for step in known[applied:]:
        for statement in step.statements:
            execute(statement)
        execute(f"INSERT INTO migrations VALUES ({step.number}, '{step.name}', {stamp(now)})")
