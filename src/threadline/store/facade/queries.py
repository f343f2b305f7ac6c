"""Queries: everything that can be asked without changing anything."""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager

from threadline.core.account import Account
from threadline.core.address import Kind
from threadline.core.event import Cursor
from threadline.core.message import Message, MessageKey
from threadline.core.person import Viewer
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import Session, SessionId, checked_session_id, checked_session_ids
from threadline.core.session_list import (
    OWNER,
    SessionCounts,
    SessionRow,
)
from threadline.core.turn import Turn, TurnId
from threadline.core.validation import checked_count, checked_id, checked_type
from threadline.database.port import Watch
from threadline.store import feed, queries
from threadline.store.facade.connection import StoreConnection
from threadline.store.people.visibility import list_visible, read_visible
from threadline.store.queries import Revision
from threadline.store.sessions import session_list
from threadline.store.sessions.session_list import Snapshot
from threadline.store.turns import output


class QueryMethods(StoreConnection):
    """Sessions, transcripts, and the feed.

    Where a viewer is named, nothing is told of a session that this account may not see, not even
    that it is there.
    """

    async def session(self, id: SessionId, *, viewer: Account | None = None) -> Session:
        """Read a session."""
        return await self._db.read(
            read_visible, viewer, queries.read_session, checked_session_id(id)
        )

    async def visible(
        self, ids: Collection[SessionId], *, viewer: Account
    ) -> dict[SessionId, Kind]:
        """Name those of some sessions that an account may see, and their kind, in one read."""
        return await self._db.read(
            list_visible,
            checked_type(viewer, "viewer", Account),
            checked_session_ids(list(ids)),
        )

    async def session_rows(
        self,
        ids: Sequence[SessionId],
        *,
        asker: Viewer,
        reader: str = OWNER,
        device: str | None = None,
    ) -> list[SessionRow]:
        """Read what a list shows of some sessions, in this order, whichever list that would be.

        Those that are not there, or that the asker may not see, are left out.
        """
        return await self._db.read(
            session_list.read_listed,
            checked_session_ids(ids),
            checked_type(asker, "asker", Viewer),
            reader=checked_id(reader, "reader"),
            device=None if device is None else checked_id(device, "device"),
        )

    async def counts(self, *, profile: str = MAIN_PROFILE, reader: str = OWNER) -> SessionCounts:
        """Count the sessions of a profile by source and project; this looks at each of them."""
        return await self._db.read(
            session_list.count_sessions,
            profile=canonical_profile(profile),
            reader=checked_id(reader, "reader"),
        )

    async def transcript(
        self,
        id: SessionId,
        *,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
        most: int = queries.PAGE,
        hidden: bool = False,
        viewer: Account | None = None,
    ) -> list[Message]:
        """Read a page of a transcript in order: its end, or before, after or around a place.

        What was undone or retried is left out, unless hidden lines are asked for; `cuts` tells
        them apart. A line that a branch shares keeps the id of the session it was written in.
        Around a line is half a page before it, and the rest from it on.
        """
        return await self._db.read(
            read_visible,
            viewer,
            queries.transcript,
            checked_session_id(id),
            before=before,
            after=after,
            around=around,
            most=most,
            hidden=hidden,
        )

    async def queue(self, id: SessionId) -> list[Message]:
        """Read the messages that wait for their turn, in order."""
        return await self._db.read(queries.list_queue, checked_session_id(id))

    async def revisions(self, key: MessageKey) -> list[Revision]:
        """Read what a message said before it was changed, oldest first."""
        return await self._db.read(queries.revisions, MessageKey(checked_count(key, "message key")))

    async def turn(self, id: TurnId) -> Turn:
        """Read a turn."""
        return await self._db.read(queries.read_turn, id)

    async def reply(self, id: TurnId) -> list[Message]:
        """Read what a turn has said to people, in order: its answers, and why it ended early."""
        return await self._db.read(output.read_reply, id)

    async def snapshot(self, ids: Sequence[SessionId]) -> Snapshot:
        """Show sessions as they are at one place of the feed, from which it can be followed."""
        return await self._db.read(session_list.snapshot, checked_session_ids(ids))

    async def feed_end(self) -> Cursor:
        """Answer the place at which the feed stands now."""
        return await self._db.read(feed.feed_end)

    async def events(self, after: Cursor, most: int = feed.PAGE) -> feed.FeedPage:
        """Read a stretch of the feed after a place."""
        return await self._db.read(feed.read_feed, after, most)

    def watch(self) -> AbstractContextManager[Watch]:
        """Notice commits by anybody: `with store.watch() as watch:` and `await watch.wait()`.

        What is committed between two waits ends the next one at once, and so does the first.
        """
        return self._db.watch()
