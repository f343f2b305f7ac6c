"""Snapshot: sessions as they are at one place of the feed, those that somebody may see."""

from collections.abc import Sequence

from threadline.core.errors import Conflict, NotFound
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.sessions.session_list import Snapshot

_TRIES = 3


async def read_snapshot(store: Store, asker: Viewer, ids: Sequence[SessionId]) -> Snapshot:
    """Read a snapshot of sessions; those that are not there, or not to be seen, are left out."""
    for _ in range(_TRIES):
        seen = await store.seen(asker, ids)
        try:
            return await store.snapshot([id for id in dict.fromkeys(ids) if id in seen])
        except NotFound:
            continue  # one of them was forgotten just now
    raise Conflict("Sessions were deleted while they were being read", hint="Try again")
