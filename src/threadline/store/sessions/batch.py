"""Batch: the same change to many sessions, a slice at a time."""

from collections.abc import Sequence

from threadline.core.account import Account
from threadline.core.errors import Invalid
from threadline.core.session import SessionId
from threadline.core.session_list import BatchOutcome
from threadline.database.port import Database
from threadline.store.sessions import pins
from threadline.store.sessions.pins import Step

BATCH_LIMIT = 1000
"""Sessions that one call may change."""
_SLICE = 20


async def change_sessions(
    db: Database, ids: Sequence[SessionId], step: Step, *, viewer: Account | None = None
) -> list[BatchOutcome]:
    """Make the same change to several sessions that a viewer may see; return what came of each."""
    if len(ids) > BATCH_LIMIT:
        raise Invalid(f"This takes at most {BATCH_LIMIT} session ids", hint="Call it again")
    outcomes: list[BatchOutcome] = []
    for first in range(0, len(ids), _SLICE):
        outcomes += await db.write(pins.arrange, ids[first : first + _SLICE], step, viewer=viewer)
    return outcomes
