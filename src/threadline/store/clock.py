"""The clock: whether it can be trusted, and what to correct after it was set back."""

from datetime import datetime, timedelta

from msgspec import Struct

from threadline.core.turn import CLOCK_SLACK
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp

CLOCK_GAP = timedelta(hours=1)
"""After so long without a reading, the clock may have jumped as well as the program stood still."""
TRUSTED_AFTER = timedelta(hours=1)
"""How long the clock must run without a jump before anything is given up or deleted by its age.

A machine that is switched off every night still deletes what its retention rules name.
"""


class _Reading(Struct, frozen=True, kw_only=True):
    """When the clock was last read, and since when it runs without a jump."""

    seen_at: datetime
    steady_since: datetime


def record_clock(tx: Transaction) -> timedelta | None:
    """Record that the clock was read; return by how much it jumped, or None if it did not.

    A gateway does so at every sweep. A time in which none ran looks like a jump ahead.
    """
    last = tx.one("read_clock", _Reading)
    jump = None if last is None else _jump(last, tx.now)
    since = tx.now if last is None or jump is not None else last.steady_since
    tx.run("set_clock", seen_at=stamp(tx.now), steady_since=stamp(since))
    return jump


def steady_for(tx: Transaction) -> timedelta:
    """Return for how long the clock was observed to run without a jump."""
    last = tx.one("read_clock", _Reading)
    if last is None or _jump(last, tx.now) is not None:
        return timedelta(0)
    return max(tx.now - last.steady_since, timedelta(0))


def _jump(last: _Reading, now: datetime) -> timedelta | None:
    gap = now - last.seen_at
    return gap if gap < -CLOCK_SLACK or gap > CLOCK_GAP else None
