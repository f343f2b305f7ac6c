"""Looks for damage in a PostgreSQL database, and for what holds it up."""

import psycopg

from threadline.database.port import Finding
from threadline.database.postgres.connection import ConnectionTarget, Raw
from threadline.database.postgres.errors import unreachable

LONG_SECONDS = 60
_MOST = 20

_HOLDING_BACK = """
SELECT pid, CAST(extract(epoch FROM clock_timestamp() - xact_start) AS BIGINT),
       coalesce(nullif(application_name, ''), 'a nameless program'), datname
FROM pg_stat_activity
WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
  AND xact_start < clock_timestamp() - make_interval(secs => %(seconds)s)
ORDER BY xact_start LIMIT %(most)s
"""
_PREPARED = """
SELECT gid, CAST(extract(epoch FROM clock_timestamp() - prepared) AS BIGINT), database
FROM pg_prepared_xacts
WHERE prepared < clock_timestamp() - make_interval(secs => %(seconds)s)
ORDER BY prepared LIMIT %(most)s
"""
_INVALID = """
SELECT c.relname FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND NOT (i.indisvalid AND i.indisready)
ORDER BY c.relname
"""
_REFERENCES = """
SELECT child.relname, a.attname, parent.relname, b.attname
FROM pg_constraint k
JOIN pg_class child ON child.oid = k.conrelid
JOIN pg_class parent ON parent.oid = k.confrelid
JOIN pg_namespace n ON n.oid = child.relnamespace
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
WHERE k.contype = 'f' AND n.nspname = current_schema()
ORDER BY child.relname, a.attname
"""
_ORPHANS = """
SELECT count(*) FROM {child} c
WHERE c.{column} IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM {parent} p WHERE p.{key} = c.{column})
"""
_COUNT = "SELECT count(*) FROM {table}"
_INDEXES = """
SELECT c.oid::BIGINT, c.relname FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_am m ON m.oid = c.relam
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND m.amname = 'btree' AND i.indisvalid
ORDER BY c.relname
"""


def check_database(target: ConnectionTarget, *, deep: bool) -> list[Finding]:
    """Reach the server, and look at what a healthy database does not have."""
    try:
        with target.connect() as connection:
            found = _held_back(connection) + _invalid(connection) + _orphans(connection)
            return found + (_examined(connection) if deep else [])
    except psycopg.Error as error:
        raise unreachable(error, target) from error


def _held_back(connection: Raw) -> list[Finding]:
    """Name transactions that keep the feed from going on."""
    limits = {"seconds": LONG_SECONDS, "most": _MOST}
    running = [
        f"Process {pid} of the server ({who}, database {name}) has been in one transaction for "
        f"{age} s, and holds the feed back"
        for pid, age, who, name in connection.execute(_HOLDING_BACK, limits)
    ]
    prepared = [
        f"The prepared transaction {gid} (database {name}) has waited for {age} s, and holds the "
        "feed back"
        for gid, age, name in connection.execute(_PREPARED, limits)
    ]
    return [Finding(what=what, grave=False) for what in (*running, *prepared)]


def _invalid(connection: Raw) -> list[Finding]:
    return [
        Finding(what=f"The index {name} is not valid; reindex it", grave=True)
        for (name,) in connection.execute(_INVALID)
    ]


def _orphans(connection: Raw) -> list[Finding]:
    """Count rows that belong to something that is gone, for each promise of the schema."""
    found = []
    for child, column, parent, key in connection.execute(_REFERENCES).fetchall():
        text = _ORPHANS.format(child=child, column=column, parent=parent, key=key)
        row = connection.execute(text.encode()).fetchone()
        if row is not None and row[0]:
            what = f"{row[0]} rows of {child} belong to a row of {parent} that is gone"
            found.append(Finding(what=what, grave=True))
    return found


def _examined(connection: Raw) -> list[Finding]:
    """Hold every index against its table: by amcheck where it is, else by counting both ways."""
    row = connection.execute("SELECT to_regproc('bt_index_check') IS NOT NULL").fetchone()
    has_amcheck = row is not None and bool(row[0])
    found = []
    for oid, name in connection.execute(_INDEXES).fetchall():
        try:
            if has_amcheck:
                connection.execute("SELECT bt_index_check(%s::OID::REGCLASS, true)", [oid])
        except psycopg.Error as error:
            found.append(Finding(what=f"The index {name} is damaged: {error}", grave=True))
    return found if has_amcheck else _counted(connection)


def _counted(connection: Raw) -> list[Finding]:
    found = []
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1"
    for (table,) in connection.execute(tables).fetchall():
        counts = [_count(connection, table, by_index=by_index) for by_index in (False, True)]
        if counts[0] != counts[1]:
            what = f"{table} has {counts[0]} rows, and {counts[1]} by its index"
            found.append(Finding(what=what, grave=True))
    return found


def _count(connection: Raw, table: str, *, by_index: bool) -> int:
    with connection.transaction():
        for way in ("indexscan", "indexonlyscan", "bitmapscan"):
            connection.execute(f"SET LOCAL enable_{way} = {'on' if by_index else 'off'}".encode())
        seq = "off" if by_index else "on"
        connection.execute(f"SET LOCAL enable_seqscan = {seq}".encode())
        row = connection.execute(_COUNT.format(table=table).encode()).fetchone()
    return 0 if row is None else int(row[0])
