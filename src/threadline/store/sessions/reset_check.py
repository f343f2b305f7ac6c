"""Reset check: whether a session goes on, and if not, why the next one begins."""

from datetime import datetime

from threadline.core.address import Kind
from threadline.core.session import Cause, EndReason, cause_after
from threadline.database.port import Row, Transaction
from threadline.database.timestamps import stamp
from threadline.store.gateways import downtime


def find_reset_cause(
    tx: Transaction, bound: Row | None, load: Row | None, *, at: datetime | None = None
) -> Cause | None:
    """Tell why a message begins a new session; None: it goes on in the one that is bound.

    The age of the session is judged at the time `at`, or now.
    """
    at = at or tx.now
    if bound is None:
        return Cause.FIRST
    if bound["ended_at"] is not None:
        return cause_after(EndReason(bound.text("end_reason")))
    if bound["taken_at"] is not None:
        return None  # A person is at it: nothing but they, or somebody there, ends it.
    if bound["suspended_at"] is not None:
        return Cause.SUSPENDED
    policy = tx.settings.policies.resolve(bound.text("platform"), Kind(bound.text("kind")))
    verdict = policy.verdict(bound.moment("last_activity_at"), at)
    if verdict is None or (load is not None and is_busy(tx, load)):
        return None
    held = tx.one("find_hold", session_key=bound.number("key"), now=stamp(at))
    return verdict if held is None else None


def is_busy(tx: Transaction, load: Row) -> bool:
    """Return whether a session has a turn under way, or a queued one that is not too old.

    The age of a turn is the time in which no process worked on the queue.
    """
    queued_at = load.moment_or_none("queued_at")
    return load["held_id"] is not None or (
        queued_at is not None and tx.settings.is_fresh(downtime(tx, queued_at))
    )
