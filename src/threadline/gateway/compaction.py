"""Compaction: conversations stay within what a model can read, and get names and summaries."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import TypeAlias

from msgspec import Struct

from threadline.core.errors import Conflict, StorageError, ThreadlineError, sentence_of
from threadline.core.hidden_range import HiddenRange
from threadline.core.message import Message, Role
from threadline.core.reset_policy import CarryKind
from threadline.core.session import Session, SessionId, TitleSource
from threadline.core.summarizer import Summarizer
from threadline.core.turn import Turn
from threadline.core.validation import unfit
from threadline.database.port import Database
from threadline.gateway.background_tasks import BackgroundTasks
from threadline.gateway.summary_writer import SummaryWriter
from threadline.store import queries
from threadline.store.sessions.session_settings import set_summary, set_title
from threadline.store.transcripts.compaction import KEPT_TURNS, boundary, compact
from threadline.store.transcripts.history import history
from threadline.store.usage import last_prompt

log = logging.getLogger("threadline.gateway")

COMPACT_AT = 0.8
"""The share of what a model can read from which on room is made."""
TASKS_AT_ONCE = 2
"""How many titles and summaries are written at a time."""
TRY_AGAIN = timedelta(minutes=10)
"""How long after a failure no room is tried to be made by itself in the same conversation."""
TITLED_WITHIN = 3
"""So many messages of people a conversation may have when it is named by a model."""
_TITLED_BY = 20
"""By so many of its first lines."""
_REMEMBERED = 1000
"""Of so many conversations it is known that no room could be made."""
NO_SCRIBE = "Nobody here can write a summary: no model is set up for that."
NOTHING_OLD = "There is nothing to compact yet."

TellAbout: TypeAlias = Callable[[Turn, str], Awaitable[None]]
"""Says something beside the answer of a turn, where that was asked. It must not raise."""


class CompactionResult(Struct, frozen=True, kw_only=True):
    """What came of making room because somebody asked for it."""

    said: str
    """What they are told: what was done, or why nothing was."""
    cut: HiddenRange | None = None
    """The cut that was made; None: nothing was done."""


class Compaction:
    """Looks after conversations with the help of a scribe; without one it does nothing.

    Whatever fails here leaves a conversation as it was.
    """

    def __init__(
        self,
        database: Database,
        scribe: Summarizer | None,
        *,
        compact_at: float = COMPACT_AT,
        titles: bool = True,
        tell: TellAbout | None = None,
    ) -> None:
        """Look after a store; `tell` says to people what they would not notice otherwise."""
        self.tasks = BackgroundTasks(at_once=TASKS_AT_ONCE)
        self._db = database
        self.adopt(scribe, compact_at=compact_at, titles=titles)
        self._tell = tell
        self._failed_at: dict[SessionId, float] = {}

    def adopt(self, scribe: Summarizer | None, *, compact_at: float, titles: bool) -> None:
        """Let somebody else write from now on; what is being written is written to its end."""
        if not 0 < compact_at <= 1:
            raise unfit(compact_at, "compact_at", "above 0, and 1 at the most")
        self._desk = None if scribe is None else SummaryWriter(self._db, scribe)
        self._compact_at = compact_at
        self._titles = titles

    async def make_room(self, turn: Turn, session: Session) -> bool:
        """Compact a conversation that has become long, before a turn; tell whether it was."""
        if self._desk is None or not await self._is_full(self._desk, session):
            return False
        now, failed_at = asyncio.get_running_loop().time(), self._failed_at.get(session.id)
        if failed_at is not None and now - failed_at < TRY_AGAIN.total_seconds():
            return False
        return await self._try_compact(self._desk, turn, session, KEPT_TURNS)

    async def shrink(self, turn: Turn, session: Session) -> bool:
        """Compact all but the turn itself, as the model could not read it; tell whether it was."""
        return self._desk is not None and await self._try_compact(self._desk, turn, session, 1)

    async def compress(
        self, id: SessionId, focus: str = "", *, database: Database | None = None
    ) -> str:
        """Compact a conversation because somebody asked for it; answer what they are told.

        `database` is that of the request: it is compacted only if its user may still see it.
        """
        return (await self.make_cut(id, focus, database=database)).said

    async def make_cut(
        self, id: SessionId, focus: str = "", *, database: Database | None = None
    ) -> CompactionResult:
        """Do the same, and answer with it the cut that was made."""
        if self._desk is None:
            return CompactionResult(said=NO_SCRIBE)
        try:
            session = await self._db.read(queries.read_session, id)
            made = await self._compact(self._desk, session, KEPT_TURNS, focus, database)
        except StorageError:
            raise
        except ThreadlineError as error:
            return CompactionResult(said=f"Nothing was compacted: {sentence_of(error)}")
        self._failed_at.pop(id, None)
        if made is None:
            return CompactionResult(said=NOTHING_OLD)
        cut, count = made
        lines = "line" if count == 1 else f"{count:,} lines"
        said = f"A summary stands for the first {lines} now. /compress undo brings them back."
        return CompactionResult(said=said, cut=cut)

    def name(self, session: Session, spoken: int) -> None:
        """Have a young conversation named that is called after its first words, in a while."""
        is_named = session.titled_by not in {None, TitleSource.FIRST_WORDS}
        if self._desk is None or not self._titles or is_named or not 0 < spoken <= TITLED_WITHIN:
            return
        self.tasks.begin_once(f"name {session.id}", partial(self._name, self._desk, session.id))

    def sum_up(self, ended: Sequence[SessionId]) -> None:
        """Have summaries written of sessions that ended, where the next one is told of them."""
        if self._desk is not None:
            for id in ended:
                self.tasks.begin_once(f"sum up {id}", partial(self._sum_up, self._desk, id))

    async def close(self, within: timedelta) -> None:
        """Leave undone what is still to be done."""
        await self.tasks.close(within)

    async def _is_full(self, desk: SummaryWriter, session: Session) -> bool:
        window = desk.window(session)
        if not window:
            return False
        return await self._db.read(last_prompt, session.id) >= self._compact_at * window

    async def _try_compact(
        self, desk: SummaryWriter, turn: Turn, session: Session, keep: int
    ) -> bool:
        try:
            made = await self._compact(desk, session, keep)
        except StorageError:
            raise
        except ThreadlineError as error:
            log.warning("No room could be made in %s: %s", session.id, sentence_of(error))
            await self._note_failure(turn, session.id, error)
            return False
        self._failed_at.pop(session.id, None)
        return made is not None

    async def _compact(
        self,
        desk: SummaryWriter,
        session: Session,
        keep: int,
        focus: str = "",
        database: Database | None = None,
    ) -> tuple[HiddenRange, int] | None:
        """Let a summary stand for the older part, if there is one; answer for how many lines."""
        old = await self._db.read(boundary, session.id, keep=keep)
        if old is None:
            return None
        summary = await desk.write_summary(session, old.messages, focus)
        now = await self._db.read(boundary, session.id, keep=keep)
        # Somebody may have taken words back, of which the summary would go on telling.
        if now is None or now.messages[: len(old.messages)] != old.messages:
            raise Conflict("The conversation has changed meanwhile", id=session.id)
        cut = await (database or self._db).write(compact, session.id, summary, upto=old.to_seq)
        return cut, len(old.messages)

    async def _note_failure(self, turn: Turn, id: SessionId, error: ThreadlineError) -> None:
        """Tell people once that no room could be made, not with every turn."""
        is_known = id in self._failed_at
        self._failed_at[id] = asyncio.get_running_loop().time()
        while len(self._failed_at) > _REMEMBERED:
            del self._failed_at[next(iter(self._failed_at))]
        if self._tell is not None and not is_known:
            why = sentence_of(error)
            words = f"I could not make room in this conversation: {why} It goes on as it is."
            await self._tell(turn, words)

    async def _name(self, desk: SummaryWriter, id: SessionId) -> None:
        session = await self._db.read(queries.read_session, id)
        lines = await self._db.read(
            queries.transcript,
            id,
            after=0,
            most=_TITLED_BY,
        )
        if session.titled_by not in {None, TitleSource.FIRST_WORDS} or not _is_exchange(lines):
            return
        title = await desk.write_title(session, lines)
        await self._db.write(set_title, id, title, source=TitleSource.MODEL)

    async def _sum_up(self, desk: SummaryWriter, id: SessionId) -> None:
        session = await self._db.read(queries.read_session, id)
        policy = self._db.environment.settings.policies.resolve(session.platform, session.kind)
        if policy.carry.kind is not CarryKind.SUMMARY:
            return
        lines = await self._db.read(history, id)
        if _is_exchange(lines):
            await self._db.write(set_summary, id, await desk.write_summary(session, lines))


def _is_exchange(lines: Sequence[Message]) -> bool:
    """Tell whether somebody said something, and got an answer."""
    roles = {line.role for line in lines}
    return Role.USER in roles and Role.ASSISTANT in roles
