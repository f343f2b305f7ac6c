"""Scripted summarizer: writes what a test says, and remembers what it was shown."""

import asyncio
from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from threadline.core.errors import AgentError
from threadline.core.message import Message
from threadline.core.session import Session, SessionId
from threadline.core.summarizer import SUMMARY_TASK, TITLE_TASK, SummarizerOutput
from threadline.core.usage import Usage


class SummaryRequest(Struct, frozen=True, kw_only=True):
    """What a scribe was asked to write about."""

    task: str
    session_id: SessionId
    lines: tuple[str, ...]
    focus: str = ""


class ScriptedSummarizer:
    """Writes titles and summaries, whose text nobody has to think of."""

    def __init__(self, *, window: int | None = None) -> None:
        """Know how many tokens the model of every session can read."""
        self.asked: list[SummaryRequest] = []
        """All that it was asked, in order."""
        self.title = "A scripted title"
        self.summary = "They spoke about this and that."
        self.reads = window
        self.usage: tuple[Usage, ...] = ()
        """What it spends on each text."""
        self.free = asyncio.Event()
        """Whoever clears it lets the scribe take its time."""
        self.free.set()
        self._failures: deque[Exception] = deque()

    def fails(self, times: int = 1, error: Exception | None = None) -> None:
        """Let it be unable to write, so many times."""
        failure = error or AgentError("The scribe has no ink")
        self._failures.extend([failure] * times)

    def wrote(self, task: str) -> list[SummaryRequest]:
        """List what it was asked of one kind."""
        return [asked for asked in self.asked if asked.task == task]

    def window(self, session: Session) -> int | None:
        """Tell how many tokens the model of a session can read."""
        return self.reads

    async def write_title(self, session: Session, lines: Sequence[Message]) -> SummarizerOutput:
        """Name a conversation."""
        return await self._write(TITLE_TASK, session, lines, self.title)

    async def write_summary(
        self, session: Session, lines: Sequence[Message], focus: str = ""
    ) -> SummarizerOutput:
        """Sum up some lines."""
        return await self._write(SUMMARY_TASK, session, lines, self.summary, focus)

    async def _write(
        self, task: str, session: Session, lines: Sequence[Message], text: str, focus: str = ""
    ) -> SummarizerOutput:
        texts = tuple(line.text for line in lines)
        self.asked.append(
            SummaryRequest(task=task, session_id=session.id, lines=texts, focus=focus)
        )
        await self.free.wait()
        if self._failures:
            raise self._failures.popleft()
        return SummarizerOutput(text=text, usage=self.usage)
