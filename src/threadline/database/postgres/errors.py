"""Errors: what an error of PostgreSQL means, and whether it is worth another try."""

import time

import psycopg
from msgspec import Struct

from threadline.core.errors import Conflict, Damaged, StorageError, ThreadlineError
from threadline.database.port import CommitUnknown
from threadline.database.postgres.connection import ConnectionTarget, Raw, pooled

AGAIN = frozenset({"40001", "40P01", "23505"})
"""Serialization failure, deadlock, and a unique row that somebody else was quicker to store."""

_VIOLATION = "08P01"
"""One side could not read the other: a bad value is enough for it, and does not end anything."""
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
_STRANGE_STATEMENT = frozenset({"42P05", "26000"})
"""A prepared statement of another client is there, or ours is not: connections were changed."""
_HISTORY = """
SELECT concat_ws(' ', CASE WHEN NOT pg_is_in_recovery()
                      THEN substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END,
                 extract(epoch FROM stats_reset))
FROM pg_stat_bgwriter
"""
_STATUS = "SELECT pg_xact_status(CAST(%s AS xid8))"
_END = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND backend_xid = xid(CAST(%s AS xid8))
"""
_LOOK_AGAIN = 0.05
_MEANINGS = {
    "53100": ("The server's disk is full", "Free some space; what was acknowledged is safe"),
    "53200": ("The server is out of memory", "Look at its log"),
    "53300": ("The server has too many connections", "Raise max_connections, or close some"),
    "55P03": ("Somebody else held the rows for too long; nothing was stored", "Try again"),
    "25006": ("The server is read-only", "Connect to the one that takes writes"),
    "42501": ("The database user may not do that", "Grant it the rights on this schema"),
    "58030": ("The server's disk failed to read or write", "Check its disk and its log"),
}
_DAMAGE = {
    "XX001": ("The database is damaged", "Stop writing to it and restore a backup"),
    "XX002": ("An index is damaged", "Stop writing to it; reindex, or restore a backup"),
}


def is_lost(connection: Raw, error: psycopg.Error) -> bool:
    """Tell whether the connection went with the error."""
    state = error.sqlstate
    if state is None:
        # Not the server said it but libpq, which does not always call the connection bad at once.
        return not isinstance(error, psycopg.ProgrammingError | psycopg.DataError)
    if connection.closed or state in _GONE:
        return True
    return state.startswith("08") and state != _VIOLATION


def translate(error: psycopg.Error, target: ConnectionTarget) -> ThreadlineError:
    """Return the error of our own that an error of PostgreSQL means."""
    said = target.without_password(_first_line(error))
    state = error.sqlstate or ""
    if state.startswith("23"):
        return Conflict(f"The database refused it: {said}", id=target.where)
    if state in _STRANGE_STATEMENT:
        return pooled(target.where, said)
    if state in _DAMAGE:
        what, hint = _DAMAGE[state]
        return Damaged(f"{what} ({said})", id=target.where, hint=hint)
    if state in _MEANINGS:
        what, hint = _MEANINGS[state]
        return StorageError(f"{what} ({said})", id=target.where, hint=hint)
    return StorageError(f"PostgreSQL failed: {said}", id=target.where)


def unreachable(error: psycopg.Error, target: ConnectionTarget) -> StorageError:
    """Say that the server cannot be reached."""
    said = target.without_password(_first_line(error))
    return StorageError(
        f"PostgreSQL cannot be reached ({said})",
        id=target.where,
        hint="Does the server run, and are host, database and user right?",
    )


class Commit(Struct, frozen=True, kw_only=True):
    """A transaction that was being committed."""

    id: int
    history: str
    """In which history of the server it ran: ids of transactions are unique in that only."""


def history_of(connection: Raw) -> str:
    """Return what changes when a server may give the id of a transaction to another one.

    That is after a failover, which begins a new timeline, and after a crash, which forgets ids that
    were not yet on disk, and resets the statistics.
    """
    row = connection.execute(_HISTORY).fetchone()
    return "" if row is None else str(row[0])


def is_committed(commit: Commit, target: ConnectionTarget, *, deadline: float) -> bool | None:
    """Look up whether a commit took place whose response was lost, on a new connection.

    A transaction that is still open is ended first: its client is gone. Return None if the server
    cannot be reached until the deadline (of `time.monotonic`), or no longer knows.
    """
    while True:
        try:
            with target.connect() as connection:
                if history_of(connection) != commit.history:
                    return None
                row = connection.execute(_STATUS, [str(commit.id)]).fetchone()
                status = None if row is None else row[0]
                if status != "in progress":
                    return None if status is None else status == "committed"
                connection.execute(_END, [str(commit.id)])
        except (psycopg.OperationalError, StorageError):
            pass  # It may be back in a moment.
        except psycopg.Error:
            return None  # An id of the future: the server has an older state than we have seen.
        if time.monotonic() > deadline:
            return None
        time.sleep(_LOOK_AGAIN)


def unknown(target: ConnectionTarget) -> CommitUnknown:
    """Say that nobody knows whether a commit took place."""
    return CommitUnknown(
        "The connection was lost while committing; whether it was stored is unknown",
        id=target.where,
        hint="Look before you repeat it",
    )


def _first_line(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
