"""Snapshot: sessions as they are at one place of the feed, those that somebody may see."""

from collections.abc import Mapping, Sequence

from pydantic import Field

from threadline.core.errors import Conflict, NotFound
from threadline.core.event import Cursor, SessionSnapshot
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.sessions.session_list import Snapshot
from threadline.web.bodies import ResponseBody


class SessionSnapshotView(ResponseBody):
    """What a screen keeps of one session, and the feed keeps true."""

    revision: int = Field(description="Events up to this one are in it.", examples=[12])
    last_seq: int = Field(description="The number of its last line.", examples=[4])
    states: Mapping[str, str] = Field(
        description="The session, its latest turns and deliveries, and the state of each.",
        examples=[{"session": "opened", "turn 7": "running", "delivery 3": "sent"}],
    )

    @classmethod
    def from_glimpse(cls, glimpse: SessionSnapshot) -> "SessionSnapshotView":
        """Tell what is seen of a session."""
        return cls(revision=glimpse.revision, last_seq=glimpse.last_seq, states=glimpse.shown())


class SnapshotView(ResponseBody):
    """What is true at one place of the feed."""

    cursor: str = Field(description="Follow the feed from here on.", examples=["0.812"])
    sessions: Mapping[SessionId, SessionSnapshotView] = Field(
        description="Those that were asked for and may be seen, by their ids."
    )

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot, cursor: Cursor | None = None) -> "SnapshotView":
        """Tell what is true, at its own place or at one before it."""
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
