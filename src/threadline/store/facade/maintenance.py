"""Maintenance: what has to be done from time to time."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

from threadline.core.errors import sentence_of
from threadline.core.message import BlobHash, Message
from threadline.core.session import SessionId, checked_session_id
from threadline.core.turn import LEASE, TurnId
from threadline.core.validation import checked_count, checked_id
from threadline.store import blobs, clock, clock_correction, feed
from threadline.store.facade.connection import StoreConnection
from threadline.store.sessions import session_end
from threadline.store.sessions.session_end import Ending, EndingId
from threadline.store.transcripts.history import history
from threadline.store.turns import stop_and_wait

_RENEW_SECONDS = LEASE.total_seconds() / 3


class MaintenanceMethods(StoreConnection):
    """Expiry, holds, endings, and clearing away."""

    async def sweep(self) -> list[SessionId]:
        """End all sessions whose time is over."""
        ended: list[SessionId] = []
        for platform, kind in await self._db.read(session_end.list_open_kinds):
            while slice_ := await self._db.write(session_end.sweep, platform, kind):
                ended += slice_
        return ended

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
        told = 0
        while ending := await self._db.write(session_end.take_ending, owner=self.owner):
            transcript = await self._db.read(history, ending.session_id)
            error = None
            try:
                await self._tell(ending, hook(ending, transcript))
            except Exception as failure:  # noqa: BLE001 - becomes the recorded state of the ending
                error = sentence_of(failure)
            await self._db.write(session_end.close_ending, ending, owner=self.owner, error=error)
            told += error is None
        return told

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

    async def _tell(self, ending: Ending, telling: Awaitable[None]) -> None:
        """Wait for a hook, and keep the ending ours however long it takes."""
        task = asyncio.ensure_future(telling)
        try:
            while not (await asyncio.wait({task}, timeout=_RENEW_SECONDS))[0]:
                await self._db.write(session_end.renew_ending, ending, owner=self.owner)
        finally:
            task.cancel()
        await task

    async def deny_unanswered(self) -> list[TurnId]:
        """Deny the questions that nobody answered in time."""
        return await self._db.write(stop_and_wait.deny_unanswered)

    async def observe_clock(self) -> timedelta | None:
        """Record that the clock was read; return by how much it jumped, or None if it did not.

        What was stored before the clock was set back is corrected. A time in which nobody called
        this looks like a jump ahead.
        """
        await self._db.write(clock_correction.correct_future)
        return await self._db.write(clock.record_clock)

    async def steady_for(self) -> timedelta:
        """Return for how long the clock was observed to run without a jump."""
        return await self._db.read(clock.steady_for)

    async def sweep_blobs(self) -> list[BlobHash]:
        """Delete the attachments that no message has used for a day."""
        swept: list[BlobHash] = []
        while slice_ := await self._db.write(blobs.sweep_blobs):
            swept += slice_
        return swept

    async def prune_feed(self) -> int:
        """Delete the events that are older than a week; answers how many."""
        pruned = 0
        while count := await self._db.write(feed.prune_feed):
            pruned += count
        return pruned
