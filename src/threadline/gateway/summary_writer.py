"""Summary writer: has titles and summaries written, within the spending caps."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

from threadline.core.errors import AgentError, ThreadlineError
from threadline.core.message import Message
from threadline.core.session import Session
from threadline.core.summarizer import Summarizer, SummarizerOutput
from threadline.core.system_notes import SUMMARY_LIMIT
from threadline.core.validation import checked_text, checked_type
from threadline.database.port import Database
from threadline.store.usage import approve_spending_for, spend_for

WRITTEN_WITHIN = timedelta(minutes=5)
"""How long a scribe may take for one text."""


class SummaryWriter:
    """Lets a scribe write: caps are asked before, and what it spent is booked in any case.

    Whatever it raises becomes an error of our family: what a provider says may hold a key.
    """

    def __init__(
        self, database: Database, scribe: Summarizer, *, within: timedelta = WRITTEN_WITHIN
    ) -> None:
        """Let a scribe write about the sessions of a store."""
        self._db = database
        self._scribe = scribe
        self._within = within

    def window(self, session: Session) -> int | None:
        """Tell how many tokens the model of a session can read at once; None: nobody knows."""
        return self._scribe.window(session)

    async def write_title(self, session: Session, lines: Sequence[Message]) -> str:
        """Have a conversation named."""
        return await self._write("title", session, lambda: self._scribe.write_title(session, lines))

    async def write_summary(
        self, session: Session, lines: Sequence[Message], focus: str = ""
    ) -> str:
        """Have something written that can stand for these lines."""
        text = await self._write(
            "summary", session, lambda: self._scribe.write_summary(session, lines, focus)
        )
        return text[:SUMMARY_LIMIT]

    async def _write(
        self, what: str, session: Session, write: Callable[[], Awaitable[SummarizerOutput]]
    ) -> str:
        await approve_spending_for(self._db, session.id)
        written = await self._wait(what, write)
        if written.usage:
            await self._db.write(spend_for, session.id, tuple(written.usage))
        text = checked_text(written.text, what).strip()
        if not text:
            raise AgentError(f"The {what} that was written is empty", id=session.id)
        return text

    async def _wait(
        self, what: str, write: Callable[[], Awaitable[SummarizerOutput]]
    ) -> SummarizerOutput:
        try:
            async with asyncio.timeout(self._within.total_seconds()):
                return checked_type(await write(), what, SummarizerOutput)
        except TimeoutError as error:
            raise AgentError(f"The {what} took too long to be written") from error
        except ThreadlineError:
            raise
        except Exception as error:
            name = type(error).__name__
            raise AgentError(f"The {what} could not be written ({name})") from error
