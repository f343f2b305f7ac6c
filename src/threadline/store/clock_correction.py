"""Correct what was stored before the clock was set back."""

from datetime import timedelta

from threadline.core.job import JobId
from threadline.core.turn import CLOCK_SLACK, LEASE
from threadline.database.port import Database, Transaction
from threadline.database.timestamps import stamp
from threadline.store import clock
from threadline.store.jobs.job_runs import plan_again
from threadline.store.turns.deferred_commands import ERRAND_LEASE

_SLICE = 50


def correct_future(tx: Transaction) -> None:
    """Correct what was stored before the clock was set back and would last far too long now.

    Codes are no longer valid, wrong codes and passwords count from now, leases are over, and jobs
    are planned again.
    """
    at, latest = stamp(tx.now), stamp(tx.now + CLOCK_SLACK)
    tx.run("drop_future_pairings", latest=latest)
    tx.run("redate_pairing_mistakes", now=at, latest=latest)
    tx.run("drop_future_codes", latest=latest)
    tx.run("drop_future_login_links", latest=latest)
    tx.run("redate_login_mistakes", now=at, latest=latest)
    lease = stamp(tx.now + 2 * LEASE)
    tx.run("redate_endings", now=at, latest=lease)
    tx.run("free_future_endings", latest=lease)
    tx.run("free_future_commands", latest=stamp(tx.now + 2 * ERRAND_LEASE))
    for id in tx.all("list_future_jobs", JobId, latest=latest, most=_SLICE):
        plan_again(tx, id)


async def observe_clock(db: Database) -> timedelta | None:
    """Record that the clock was read; return by how much it jumped, or None if it did not.

    What was stored before the clock was set back is corrected. A time in which no process called
    this looks like a jump ahead.
    """
    await db.write(correct_future)
    return await db.write(clock.record_clock)
