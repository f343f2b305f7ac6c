"""The clock: whether it can be trusted, and what to correct after it was set back."""

from datetime import datetime, timedelta

from threadline.core.job import JobId
from threadline.core.turn import CLOCK_SLACK, LEASE
from threadline.sessions.runs import plan_again
from threadline.sessions.waiting import ERRAND_LEASE
from threadline.storage.database import Row, Transaction
from threadline.storage.moments import stamp

CLOCK_GAP = timedelta(hours=1)
"""After so long without a reading, the clock may have jumped as well as the program stood still."""
TRUSTED_AFTER = timedelta(hours=1)
"""How long the clock must run without a jump before anything is given up or deleted by its age.

A machine that is switched off every night still deletes what its retention rules name.
"""
_SLICE = 50


def observe(tx: Transaction, *, now: datetime) -> timedelta | None:
    """Record that the clock was read; return by how much it jumped, or None if it did not.

    A gateway does so at every sweep. A time in which none ran looks like a jump ahead.
    """
    row = tx.one("read_clock")
    jump = None if row is None else _jump(row, now)
    since = now if row is None or jump is not None else row.moment("steady_since")
    tx.run("set_clock", seen_at=stamp(now), steady_since=stamp(since))
    return jump


def steady_for(tx: Transaction, *, now: datetime) -> timedelta:
    """Return for how long the clock was observed to run without a jump."""
    row = tx.one("read_clock")
    if row is None or _jump(row, now) is not None:
        return timedelta(0)
    return max(now - row.moment("steady_since"), timedelta(0))


def correct_future(tx: Transaction, *, now: datetime) -> None:
    """Correct what was stored before the clock was set back and would last far too long now.

    Codes are no longer valid, wrong codes and passwords count from now, leases are over, and jobs
    are planned again.
    """
    at, latest = stamp(now), stamp(now + CLOCK_SLACK)
    tx.run("drop_future_pairings", latest=latest)
    tx.run("redate_pairing_mistakes", now=at, latest=latest)
    tx.run("drop_future_codes", latest=latest)
    tx.run("drop_future_login_links", latest=latest)
    tx.run("redate_login_mistakes", now=at, latest=latest)
    lease = stamp(now + 2 * LEASE)
    tx.run("redate_endings", now=at, latest=lease)
    tx.run("free_future_endings", latest=lease)
    tx.run("free_future_commands", latest=stamp(now + 2 * ERRAND_LEASE))
    for row in tx.all("list_future_jobs", latest=latest, most=_SLICE):
        plan_again(tx, JobId(row.number("id")), now=now)


def _jump(row: Row, now: datetime) -> timedelta | None:
    gap = now - row.moment("seen_at")
    return gap if gap < -CLOCK_SLACK or gap > CLOCK_GAP else None
