"""Maintenance: what has to be done from time to time."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from threadline.core.message import BlobHash, Message
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import LEASE, TurnId
from threadline.core.validation import checked_count, checked_id
from threadline.store import blobs, clock, clock_correction, feed
from threadline.store.facade.connection import StoreConnection
from threadline.store.sessions import endings, session_end
from threadline.store.sessions.session_end import Ending, EndingId
from threadline.store.turns import stop_and_wait

_RENEW_SECONDS = LEASE.total_seconds() / 3


class MaintenanceMethods(StoreConnection):
    """Expiry, holds, endings, and clearing away."""

    async def sweep(self) -> list[SessionId]:
        """End all sessions whose time is over."""
        return await endings.expire_sessions(self._db)

    async def hold(self, id: SessionId, holder: str, until: datetime) -> None:
        """Keep a session from expiring until a moment; call again to move that moment."""
        await self._db.write(session_end.hold, checked_session_id(id), holder=holder, until=until)

    async def release(self, id: SessionId, holder: str) -> None:
        """Let go of a session that was held."""
        await self._db.write(session_end.hold, checked_session_id(id), holder=holder, until=None)

    async def tell_endings(
        self, hook: Callable[[Ending, Sequence[Message]], Awaitable[None]]
    ) -> int:
        """Call a hook once for every ending that has not been told, with the transcript.

        A hook that raises is called up to three times more, then the failure is recorded. Answers
        how many endings were told. After a crash in mid-call the hook is called again with the same
        `Ending.id`, by which it can tell.
        """
        return await endings.tell_endings(self._db, hook)

    async def told_of_ending(self, id: EndingId) -> frozenset[str]:
        """Name the hooks that have been told of an ending, while others have yet to be."""
        return await self._db.read(session_end.list_told, EndingId(checked_count(id, "ending id")))

    async def note_told(self, id: EndingId, hook: str) -> None:
        """Write down that a hook has been told of an ending: it is not told again."""
        await self._db.write(
            session_end.note_told,
            EndingId(checked_count(id, "ending id")),
            checked_id(hook, "name of a hook"),
        )

    async def deny_unanswered(self) -> list[TurnId]:
        """Deny the questions that nobody answered in time."""
        return await self._db.write(stop_and_wait.deny_unanswered)

    async def observe_clock(self) -> timedelta | None:
        """Record that the clock was read; return by how much it jumped, or None if it did not.

        What was stored before the clock was set back is corrected. A time in which nobody called
        this looks like a jump ahead.
        """
        return await clock_correction.observe_clock(self._db)

    async def steady_for(self) -> timedelta:
        """Return for how long the clock was observed to run without a jump."""
        return await self._db.read(clock.steady_for)

    async def sweep_blobs(self) -> list[BlobHash]:
        """Delete the attachments that no message has used for a day."""
        return await blobs.sweep_all_blobs(self._db)

    async def prune_feed(self) -> int:
        """Delete the events that are older than a week; answers how many."""
        return await feed.prune_whole_feed(self._db)
