"""Mishaps: what an error of PostgreSQL means, and whether it is worth another try."""

import psycopg

from threadline.core.errors import Conflict, Damaged, StorageError, ThreadlineError
from threadline.storage.postgres.connection import Raw, Target

AGAIN = frozenset({"40001", "40P01", "23505"})
"""Serialization failure, deadlock, and a unique row that somebody else was quicker to store."""

_VIOLATION = "08P01"
"""One side could not read the other: a bad value is enough for it, and does not end anything."""
_GONE = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "25P04"})
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


def translate(error: psycopg.Error, target: Target) -> ThreadlineError:
    """Return the error of our own that an error of PostgreSQL means."""
    said = target.without_password(_first_line(error))
    state = error.sqlstate or ""
    if state.startswith("23"):
        return Conflict(f"The database refused it: {said}", id=target.where)
    if state in _DAMAGE:
        what, hint = _DAMAGE[state]
        return Damaged(f"{what} ({said})", id=target.where, hint=hint)
    if state in _MEANINGS:
        what, hint = _MEANINGS[state]
        return StorageError(f"{what} ({said})", id=target.where, hint=hint)
    return StorageError(f"PostgreSQL failed: {said}", id=target.where)


def unreachable(error: psycopg.Error, target: Target) -> StorageError:
    """Say that the server cannot be reached."""
    said = target.without_password(_first_line(error))
    return StorageError(
        f"PostgreSQL cannot be reached ({said})",
        id=target.where,
        hint="Does the server run, and are host, database and user right?",
    )


def unknown(target: Target) -> StorageError:
    """Say that nobody knows whether a commit took place."""
    return StorageError(
        "The connection was lost while committing; whether it was stored is unknown",
        id=target.where,
        hint="Look before you repeat it",
    )


def _first_line(error: psycopg.Error) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
