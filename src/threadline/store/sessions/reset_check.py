"""Reset check: whether a session goes on, and if not, why the next one begins."""

from datetime import datetime

from msgspec import Struct

from threadline.core.session import Cause, cause_after
from threadline.core.turn import TurnId, TurnState
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.gateways import downtime
from threadline.store.session_writer import SessionState


class SessionLoad(Struct, frozen=True, kw_only=True):
    """What a session has to do: the turn under way, and what waits."""

    held_id: TurnId | None
    held_state: TurnState | None
    queued_id: TurnId | None
    """The last queued turn."""
    queued_at: datetime | None
    """Since when the last turn waits that is queued or was cut off."""
    waiting: int
    """How many messages wait."""


def read_load(tx: Transaction, session_key: int) -> SessionLoad:
    """Read what a session has to do."""
    return expect(tx, "read_load", SessionLoad, session_key=session_key)


def find_reset_cause(
    tx: Transaction,
    bound: SessionState | None,
    load: SessionLoad | None,
    *,
    at: datetime | None = None,
) -> Cause | None:
    """Tell why a message begins a new session; None: it goes on in the one that is bound.

    The age of the session is judged at the time `at`, or now.
    """
    at = at or tx.now
    if bound is None:
        return Cause.FIRST
    if bound.end_reason is not None:
        return cause_after(bound.end_reason)
    if bound.taken_at is not None:
        return None  # A person is at it: nothing but they, or somebody there, ends it.
    if bound.suspended_at is not None:
        return Cause.SUSPENDED
    policy = tx.settings.policies.resolve(bound.platform, bound.kind)
    verdict = policy.verdict(bound.last_activity_at, at)
    if verdict is None or (load is not None and is_busy(tx, load)):
        return None
    is_held = tx.exists("find_hold", session_key=bound.key, now=stamp(at))
    return None if is_held else verdict


def is_busy(tx: Transaction, load: SessionLoad) -> bool:
    """Return whether a session has a turn under way, or a queued one that is not too old.

    The age of a turn is the time in which no process worked on the queue.
    """
    return load.held_id is not None or (
        load.queued_at is not None and tx.settings.is_fresh(downtime(tx, load.queued_at))
    )
