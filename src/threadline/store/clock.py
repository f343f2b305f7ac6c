"""The clock: whether it can be trusted, and what to correct after it was set back."""

from datetime import datetime, timedelta

from threadline.core.turn import CLOCK_SLACK
from threadline.database.port import Row, Transaction
from threadline.database.timestamps import stamp

CLOCK_GAP = timedelta(hours=1)
"""After so long without a reading, the clock may have jumped as well as the program stood still."""
TRUSTED_AFTER = timedelta(hours=1)
"""How long the clock must run without a jump before anything is given up or deleted by its age.

A machine that is switched off every night still deletes what its retention rules name.
"""


def record_clock(tx: Transaction) -> timedelta | None:
    """Record that the clock was read; return by how much it jumped, or None if it did not.

    A gateway does so at every sweep. A time in which none ran looks like a jump ahead.
    """
    row = tx.one("read_clock")
    jump = None if row is None else _jump(row, tx.now)
    since = tx.now if row is None or jump is not None else row.moment("steady_since")
    tx.run("set_clock", seen_at=stamp(tx.now), steady_since=stamp(since))
    return jump


def steady_for(tx: Transaction) -> timedelta:
    """Return for how long the clock was observed to run without a jump."""
    row = tx.one("read_clock")
    if row is None or _jump(row, tx.now) is not None:
        return timedelta(0)
    return max(tx.now - row.moment("steady_since"), timedelta(0))


def _jump(row: Row, now: datetime) -> timedelta | None:
    gap = now - row.moment("seen_at")
    return gap if gap < -CLOCK_SLACK or gap > CLOCK_GAP else None
