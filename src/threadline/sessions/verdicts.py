"""Verdicts: whether a session goes on, and if not, why the next one begins."""

from datetime import datetime

from threadline.core.address import Kind
from threadline.core.rules import Rules
from threadline.core.session import Cause, EndReason, cause_after
from threadline.sessions.gateways import unserved
from threadline.storage.database import Row, Transaction
from threadline.storage.moments import stamp


def why_new(
    tx: Transaction, bound: Row | None, load: Row | None, *, rules: Rules, now: datetime
) -> Cause | None:
    """Tell why a message begins a new session; None: it goes on in the one that is bound."""
    if bound is None:
        return Cause.FIRST
    if bound["ended_at"] is not None:
        return cause_after(EndReason(bound.text("end_reason")))
    if bound["taken_at"] is not None:
        return None  # A person is at it: nothing but they, or somebody there, ends it.
    if bound["suspended_at"] is not None:
        return Cause.SUSPENDED
    policy = rules.policies.resolve(bound.text("platform"), Kind(bound.text("kind")))
    verdict = policy.verdict(bound.moment("last_activity_at"), now)
    if verdict is None or (load is not None and is_busy(tx, load, rules, now)):
        return None
    held = tx.one("find_hold", session_key=bound.number("key"), now=stamp(now))
    return verdict if held is None else None


def is_busy(tx: Transaction, load: Row, rules: Rules, now: datetime) -> bool:
    """Return whether a session has a turn under way, or a queued one that is not too old.

    The age of a turn is the time in which no process worked on the queue.
    """
    queued_at = load.moment_or_none("queued_at")
    return load["held_id"] is not None or (
        queued_at is not None and rules.is_fresh(unserved(tx, queued_at, now))
    )
