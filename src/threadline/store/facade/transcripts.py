"""Transcripts: undo, retry, branch, edit, compact."""

from datetime import datetime

from threadline.core.hidden_range import Edited, HiddenRange, Redone, Retried, Undone
from threadline.core.person import Viewer
from threadline.core.session import Session, SessionId, checked_session_id
from threadline.core.validation import checked_type
from threadline.store.branches import branch, lineage
from threadline.store.branches.lineage import Lineage, Position, StitchedPage
from threadline.store.facade.connection import StoreConnection
from threadline.store.queries import PAGE
from threadline.store.transcripts import compaction, exchanges, undo


class TranscriptMethods(StoreConnection):
    """What a transcript shows, and where it parts."""

    async def undo(self, id: SessionId, turns: int = 1) -> Undone:
        """Hide what a person said last, and everything after it; more turns than there are: all.

        A turn under way has to be stopped first.
        """
        return await self._db.write(undo.undo, checked_session_id(id), turns)

    async def redo(self, id: SessionId) -> Redone:
        """Show again what was undone last, if nothing was said since."""
        return await self._db.write(undo.redo, checked_session_id(id))

    async def retry(self, id: SessionId, *, by: Viewer | None = None) -> Retried:
        """Hide the last answer, and queue a turn that answers the same words once more.

        `by` pays for it; without it the sender of those words does.
        """
        asker = None if by is None else checked_type(by, "asker", Viewer)
        return await self._db.write(undo.retry, checked_session_id(id), by=asker)

    async def cuts(self, id: SessionId) -> list[HiddenRange]:
        """List the stretches of a transcript that are out of sight, in the order they were made."""
        return await self._db.read(undo.list_cuts, checked_session_id(id))

    async def undo_compaction(self, id: SessionId) -> HiddenRange:
        """Let the model read again what the last compaction replaced."""
        return await self._db.write(compaction.undo_compaction, checked_session_id(id))

    async def branch(
        self, id: SessionId, *, at: int | None = None, title: str | None = None
    ) -> Session:
        """Begin a session that shares another one's transcript up to a line, or up to its end."""
        return await self._db.write(branch.branch, checked_session_id(id), at=at, title=title)

    async def edit(self, id: SessionId, seq: int, text: str, *, by: Viewer) -> Edited:
        """Replace a message of a person, in a branch that begins before it, and queue its turn.

        `by` is the author of the new text and pays for its turn, and the reply goes only there.
        """
        return await self._db.write(
            branch.edit_in_branch,
            checked_session_id(id),
            seq,
            text,
            by=checked_type(by, "asker", Viewer),
        )

    async def rounds(self, id: SessionId, *, since: datetime | None = None) -> int:
        """Count what people said and got an answer to, also since a moment."""
        return await self._db.read(exchanges.count_rounds, checked_session_id(id), since=since)

    async def lineage(self, id: SessionId) -> Lineage:
        """Tell where a session comes from, what came of it, and where it goes on now."""
        return await self._db.read(lineage.lineage, checked_session_id(id))

    async def stitched(
        self,
        id: SessionId,
        *,
        before: Position | None = None,
        after: Position | None = None,
        most: int = PAGE,
    ) -> StitchedPage:
        """Read a page of a conversation through all its continuations, as one transcript."""
        return await self._db.read(
            lineage.stitched, checked_session_id(id), before=before, after=after, most=most
        )
