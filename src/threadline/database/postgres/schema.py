"""The schema of a PostgreSQL database: brought up to date by one process at a time."""

from collections.abc import Sequence
from datetime import UTC, datetime

from threadline.database.port import SqlValue
from threadline.database.postgres.connection import ConnectionTarget, Raw
from threadline.database.queries import Dialect
from threadline.database.schema import migrate

_LOCK = 0x7468726561646C6E
"""Any number will do, if it is always the same."""
_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"


def upgrade(url: str) -> None:
    """Bring a database up to date without opening it."""
    target = ConnectionTarget(url)
    with target.connect() as connection:
        upgrade_through(connection, target.where, datetime.now(UTC))


def upgrade_through(connection: Raw, where: str, now: datetime) -> None:
    """Apply the steps that a database lacks, all in one transaction that excludes all others."""

    def execute(statement: str) -> Sequence[Sequence[SqlValue]]:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []

    with connection.transaction():
        execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
        tables = frozenset(str(name) for (name,) in execute(_TABLES))
        migrate(execute, tables, Dialect.POSTGRES, where=where, now=now)
