"""Secure delete: nothing that was deleted stays in the journal of a SQLite file."""

import time
from collections.abc import Callable
from pathlib import Path

import apsw

from threadline.database.sqlite.connection import translated

PAUSE_SECONDS = 0.5
"""How long all writers of the file may be kept waiting for readers of an older state."""
_TRIES = 8
_NAP = 0.0005
_BETWEEN = 0.1


def wipe_journal(connect: Callable[[int], apsw.Connection], path: Path) -> bool:
    """Carry the journal into the file and cut it off; False if somebody reads an older state.

    What was deleted is overwritten with zeros inside the file already; its old pages may only be
    left in the journal. Whoever writes waits meanwhile, as for any other writer.
    """
    with translated(path):
        connection = connect(0)
        try:
            return any(_try(connection, n) for n in range(_TRIES))
        finally:
            connection.close()


def _try(connection: apsw.Connection, attempt: int) -> bool:
    if attempt:
        time.sleep(_BETWEEN)
    over = time.monotonic() + PAUSE_SECONDS

    def wait(_calls: int) -> bool:
        # SQLite's own naps grow so long that a busy writer would always be first.
        time.sleep(_NAP)
        return time.monotonic() < over

    connection.set_busy_handler(wait)
    try:
        answer = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except apsw.BusyError:
        return False
    # Busy, pages in the journal, pages carried over: all three are zero when nothing is left.
    return tuple(answer[0]) == (0, 0, 0)
