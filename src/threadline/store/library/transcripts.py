"""Transcripts: read them, undo, retry, edit, branch and compact."""

from collections.abc import Sequence

from threadline.core.account import Account
from threadline.core.hidden_range import Boundary, Edited, HiddenRange, Redone, Retried, Undone
from threadline.core.message import Message, MessageKey, NewMessage
from threadline.core.person import Viewer
from threadline.core.session import Session, SessionId, checked_session_id
from threadline.core.validation import checked_count, checked_type
from threadline.store import queries
from threadline.store.branches import branch, lineage
from threadline.store.branches.lineage import Lineage, Position, StitchedPage
from threadline.store.library.group import Group
from threadline.store.people.visibility import read_visible
from threadline.store.queries import PAGE, Revision
from threadline.store.transcripts import compaction, undo
from threadline.store.transcripts.compaction import KEPT_TURNS
from threadline.store.transcripts.history import history
from threadline.store.turns import output


class TranscriptGroup(Group):
    """Read them, undo, retry, edit, branch and compact."""

    async def read(
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
        """Return a page of a transcript in order: its end, or before, after or around a place.

        What was undone or retried is left out, unless hidden messages are asked for;
        `hidden_ranges` says which they are. A message that a branch shares keeps the id of the
        session it was written in. Around a message is half a page before it, and the rest from
        it on.

        >>> [message.text for message in await store.transcripts.read(id, most=2)]
        ['When do we plant?', 'In May.']
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

    async def history(self, id: SessionId) -> list[Message]:
        """Return what the agent is shown: without what was undone, retried or deleted.

        What was compacted is there as its summary, a system message without a row, whose key is
        below zero.

        >>> (await store.transcripts.history(id))[-1].text
        'In May.'
        """
        return await self._db.read(history, checked_session_id(id))

    async def waiting(self, id: SessionId) -> list[Message]:
        """Return the messages that wait for their turn, in order.

        >>> await store.transcripts.waiting(id)
        []
        """
        return await self._db.read(queries.list_queue, checked_session_id(id))

    async def revisions(self, key: MessageKey) -> list[Revision]:
        """Return what a message said before it was edited, oldest first.

        >>> first, *_ = await store.transcripts.read(id)
        >>> await store.transcripts.revisions(first.key)
        []
        """
        return await self._db.read(queries.revisions, MessageKey(checked_count(key, "message key")))

    async def record(self, id: SessionId, messages: Sequence[NewMessage]) -> int:
        """Store messages that belong to no turn; return the last sequence number.

        >>> await store.transcripts.record(id, [say(Role.SYSTEM, "It rained.")])
        4
        """
        return await self._db.write(output.add_messages, checked_session_id(id), messages)

    async def undo(self, id: SessionId, turns: int = 1) -> Undone:
        """Hide what a person said last, and everything after it; a turn under way is stopped first.

        With more turns than there are, all are hidden.

        >>> (await store.transcripts.undo(id)).turns
        1
        """
        return await self._db.write(undo.undo, checked_session_id(id), turns)

    async def redo(self, id: SessionId) -> Redone:
        """Show again what was undone last, if nothing was said since.

        >>> redone = await store.transcripts.redo(id)
        """
        return await self._db.write(undo.redo, checked_session_id(id))

    async def retry(self, id: SessionId, *, by: Viewer | None = None) -> Retried:
        """Hide the last reply, and queue a turn that answers the same message again.

        `by` pays for it; without it the sender of that message does.

        >>> retried = await store.transcripts.retry(id)
        >>> await store.turns.stop(retried.turn_id)
        True
        """
        asker = None if by is None else checked_type(by, "asker", Viewer)
        return await self._db.write(undo.retry, checked_session_id(id), by=asker)

    async def hidden_ranges(self, id: SessionId) -> list[HiddenRange]:
        """Return the hidden ranges of a transcript, in the order they were made.

        >>> len(await store.transcripts.hidden_ranges(id)) > 0
        True
        """
        return await self._db.read(undo.list_cuts, checked_session_id(id))

    async def branch(
        self, id: SessionId, *, at: int | None = None, title: str | None = None
    ) -> Session:
        """Create a session that shares the transcript of another one, or the first part of it.

        >>> branch = await store.transcripts.branch(id, title="Beans")
        >>> branch.title
        'Beans'
        """
        return await self._db.write(branch.branch, checked_session_id(id), at=at, title=title)

    async def edit(self, id: SessionId, seq: int, text: str, *, by: Viewer) -> Edited:
        """Replace a message of a person, in a branch that begins before it, and queue its turn.

        `by` is the author of the new text and pays for its turn, and the reply goes only there.

        >>> edited = await store.transcripts.edit(id, 2, "When do we sow?", by=Viewer.owner())
        """
        return await self._db.write(
            branch.edit_in_branch,
            checked_session_id(id),
            seq,
            text,
            by=checked_type(by, "asker", Viewer),
        )

    async def lineage(self, id: SessionId) -> Lineage:
        """Return where a session comes from, its branches, and where it continues now.

        >>> lineage = await store.transcripts.lineage(branch.id)
        """
        return await self._db.read(lineage.lineage, checked_session_id(id))

    async def stitched(
        self,
        id: SessionId,
        *,
        before: Position | None = None,
        after: Position | None = None,
        most: int = PAGE,
    ) -> StitchedPage:
        """Return a page of a conversation through all its continuations, as one transcript.

        >>> page = await store.transcripts.stitched(id)
        """
        return await self._db.read(
            lineage.stitched, checked_session_id(id), before=before, after=after, most=most
        )

    async def continue_session(self, id: SessionId) -> Session:
        """Continue a conversation in a new session; its routes go along, and the old one ends.

        >>> session = await store.transcripts.continue_session(id)
        """
        return await self._db.write(lineage.continue_session, checked_session_id(id))

    async def boundary(self, id: SessionId, *, keep: int = KEPT_TURNS) -> Boundary | None:
        """Return what a compaction would replace now; None if there is nothing to compact.

        >>> await store.transcripts.boundary(session.id) is None
        True
        """
        return await self._db.read(compaction.boundary, checked_session_id(id), keep=keep)

    async def compact(
        self, id: SessionId, summary: str, *, upto: int | None = None, keep: int = KEPT_TURNS
    ) -> HiddenRange:
        """Replace the first messages by a summary, for the model only.

        `upto` is the message that `boundary` returned; without it the last turns are kept.

        >>> try:
        ...     await store.transcripts.compact(session.id, "They talked about beans.")
        ... except Conflict:
        ...     pass  # a new session has nothing to compact
        """
        return await self._db.write(
            compaction.compact, checked_session_id(id), summary, upto=upto, keep=keep
        )

    async def undo_compaction(self, id: SessionId) -> HiddenRange:
        """Show the model again what the last compaction replaced.

        >>> try:
        ...     await store.transcripts.undo_compaction(session.id)
        ... except ThreadlineError:
        ...     pass  # it was never compacted
        """
        return await self._db.write(compaction.undo_compaction, checked_session_id(id))
