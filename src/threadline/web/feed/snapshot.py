"""Snapshot: sessions as they are at one place of the feed, those that somebody may see."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta

from threadline.core.errors import Conflict, NotFound
from threadline.core.event import Cursor, SessionSnapshot
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.sessions.session_list import Snapshot
from threadline.web.bodies import View


class SessionSnapshotView(View, frozen=True, kw_only=True):
    """What a screen keeps of one session, and the feed keeps true."""

    revision: Annotated[int, Meta(examples=[12])]
    """Events up to this one are in it."""
    last_seq: Annotated[int, Meta(examples=[4])]
    """The number of its last line."""
    states: Annotated[
        Mapping[str, str],
        Meta(examples=[{"session": "opened", "turn 7": "running", "delivery 3": "sent"}]),
    ]
    """The session, its latest turns and deliveries, and the state of each."""

    @classmethod
    def from_glimpse(cls, glimpse: SessionSnapshot) -> "SessionSnapshotView":
        """Return the view of the snapshot of a session."""
        return cls(revision=glimpse.revision, last_seq=glimpse.last_seq, states=glimpse.shown())


class SnapshotView(View, frozen=True, kw_only=True):
    """What is true at one place of the feed."""

    cursor: Annotated[str, Meta(examples=["0.812"])]
    """Follow the feed from here on."""
    sessions: Mapping[SessionId, SessionSnapshotView]
    """Those that were asked for and may be seen, by their ids."""

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, cursor: Cursor | None = None) -> "SnapshotView":
        """Return the view of a snapshot, at its own place in the feed or at one before it."""
        seen = {id: SessionSnapshotView.from_glimpse(one) for id, one in snapshot.glimpses.items()}
        return cls(cursor=cursor or snapshot.as_of, sessions=seen)


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
