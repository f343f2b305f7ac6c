"""The store's ways to shape a transcript: undo, retry, branch, edit, compact."""

from datetime import datetime

from threadline.core.address import Address, Sender
from threadline.core.cut import Boundary, Cut, Edited, Redone, Retried, Undone
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.session import Session, SessionId, checked_session_id
from threadline.core.text import checked_type
from threadline.sessions.conversations import Change
from threadline.sessions.store.door import Door
from threadline.sessions.transcripts import branch, compact, lineage, rounds, undo
from threadline.sessions.transcripts.compact import KEPT_TURNS
from threadline.sessions.transcripts.lineage import Lineage, Position, StitchedPage
from threadline.sessions.views import PAGE


class Shaping(Door):
    """What a transcript shows, and where it parts."""

    async def undo(self, id: SessionId, turns: int = 1) -> Undone:
        """Hide what a person said last, and everything after it; more turns than there are: all.

        A turn under way has to be stopped first.
        """
        return await self._db.write(undo.undo, checked_session_id(id), turns, now=self.now())

    async def redo(self, id: SessionId) -> Redone:
        """Show again what was undone last, if nothing was said since."""
        return await self._db.write(undo.redo, checked_session_id(id), now=self.now())

    async def retry(self, id: SessionId) -> Retried:
        """Hide the last answer, and queue a turn that answers the same words once more."""
        return await self._db.write(undo.retry, checked_session_id(id), now=self.now())

    async def cuts(self, id: SessionId) -> list[Cut]:
        """List the stretches of a transcript that are out of sight, in the order they were made."""
        return await self._db.read(undo.list_cuts, checked_session_id(id))

    async def boundary(self, id: SessionId, *, keep: int = KEPT_TURNS) -> Boundary | None:
        """Tell what a compaction would replace now; None if there is nothing to compact."""
        return await self._db.read(compact.boundary, checked_session_id(id), keep=keep)

    async def compact(
        self, id: SessionId, summary: str, *, upto: int | None = None, keep: int = KEPT_TURNS
    ) -> Cut:
        """Let the model read a summary in the place of what was said first.

        `upto` is the line that `boundary` told; without it the last turns are kept as they are.
        """
        return await self._db.write(
            compact.compact, checked_session_id(id), summary, upto=upto, keep=keep, now=self.now()
        )

    async def undo_compaction(self, id: SessionId) -> Cut:
        """Let the model read again what the last compaction replaced."""
        return await self._db.write(compact.undo_compaction, checked_session_id(id), now=self.now())

    async def branch(
        self, id: SessionId, *, at: int | None = None, title: str | None = None
    ) -> Session:
        """Begin a session that shares another one's transcript up to a line, or up to its end."""
        return await self._db.write(
            branch.branch,
            checked_session_id(id),
            at=at,
            title=title,
            now=self.now(),
            new_id=self._new_id,
        )

    async def branch_route(
        self,
        address: Address,
        sender: Sender,
        *,
        profile: str = MAIN_PROFILE,
        title: str | None = None,
    ) -> Change:
        """Let a conversation go on in a branch of its session, which ends as with a switch."""
        return await self._db.write(
            branch.branch_route,
            checked_type(address, "address", Address),
            checked_type(sender, "sender", Sender),
            profile=canonical_profile(profile),
            title=title,
            rules=self.rules,
            now=self.now(),
            new_id=self._new_id,
        )

    async def edit(self, id: SessionId, seq: int, text: str) -> Edited:
        """Let a line of a person read differently, in a branch that begins before it."""
        return await self._db.write(
            branch.edit,
            checked_session_id(id),
            seq,
            text,
            now=self.now(),
            new_id=self._new_id,
        )

    async def rounds(self, id: SessionId, *, since: datetime | None = None) -> int:
        """Count what people said and got an answer to, also since a moment."""
        return await self._db.read(rounds.count_rounds, checked_session_id(id), since=since)

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

    async def continue_session(self, id: SessionId) -> Session:
        """Go on with the same conversation in a new session; its routes go along, and it ends."""
        return await self._db.write(
            lineage.continue_session, checked_session_id(id), now=self.now(), new_id=self._new_id
        )
