"""Secure delete: the server takes what was deleted out of its tables and indexes."""

import psycopg
from psycopg import sql

from threadline.database.postgres.connection import ConnectionTarget
from threadline.database.postgres.errors import translate

_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"


def vacuum(target: ConnectionTarget) -> bool:
    """Remove the dead rows of all tables; those that an old transaction may still see stay.

    False: there is such a transaction, and it has to be done again.
    """
    try:
        with target.connect() as connection:
            for (table,) in connection.execute(_TABLES).fetchall():
                name = sql.Identifier(table)
                connection.execute(sql.SQL("VACUUM (INDEX_CLEANUP ON) {}").format(name))
            row = connection.execute(_HELD_BACK).fetchone()
    except psycopg.Error as error:
        raise translate(error, target) from error
    return row is not None and not row[0]


_HELD_BACK = """
SELECT count(*) FROM pg_stat_activity
WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid() AND datname = current_database()
  AND xact_start < statement_timestamp() - interval '1 minute'
"""
