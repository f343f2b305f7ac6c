"""Agent lifetime: who answers and who writes, for as long as somebody still needs them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

from threadline.core.agent import Agent, Output, Request
from threadline.core.gateway_status import ServerHealth, agent_servers
from threadline.core.message import Message
from threadline.core.session import Session
from threadline.core.summarizer import Summarizer, SummarizerOutput

log = logging.getLogger("threadline.gateway")


class AgentLifetime:
    """An agent and a scribe with the tools they need, open until they are let go and idle.

    They are opened and closed in a task of their own: servers of tools want to be left by whoever
    entered them.
    """

    def __init__(self, opening: AbstractAsyncContextManager[tuple[Agent, Summarizer]]) -> None:
        """Take whoever is opened so; they are there after `begin`."""
        self._opening = opening
        self._users = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def begin(self) -> tuple[Agent, Summarizer]:
        """Open both; whatever keeps them from being opened is raised."""
        opened: asyncio.Future[tuple[Agent, Summarizer]] = (
            asyncio.get_running_loop().create_future()
        )
        self._task = asyncio.create_task(self._stay(opened), name="agent and scribe")
        try:
            waiting: set[asyncio.Future[Any]] = {self._task, opened}
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        if not opened.done():
            self._task.result()
        agent, scribe = opened.result()
        return CountedAgent(self, agent), CountedSummarizer(self, scribe)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Keep them open for as long as this lasts."""
        self._users += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                self._idle.set()

    async def retire(self) -> None:
        """Wait until nobody needs them any more, and close them."""
        await self._idle.wait()
        await self.close()

    async def close(self) -> None:
        """Close them at once; what goes wrong with that is a line in the log."""
        self._is_over.set()
        if self._task is None:
            return
        await asyncio.wait({self._task})
        error = None if self._task.cancelled() else self._task.exception()
        if error is not None:
            # Its words may hold a key.
            log.warning("An agent did not close well: %s", type(error).__name__)

    async def _stay(self, opened: "asyncio.Future[tuple[Agent, Summarizer]]") -> None:
        async with self._opening as pair:
            opened.set_result(pair)
            await self._is_over.wait()


class CountedAgent:
    """Lets an agent answer, and knows for how long."""

    def __init__(self, tenure: AgentLifetime, agent: Agent) -> None:
        """Stand before an agent."""
        self._tenure, self._agent = tenure, agent

    def servers(self) -> Mapping[str, ServerHealth]:
        """Return the state of the MCP servers that the agent uses."""
        return agent_servers(self._agent)

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Let it answer."""
        with self._tenure.used():
            outputs = self._agent.answer(request)
            try:
                async for output in outputs:
                    yield output
            finally:
                await _end(outputs)


class CountedSummarizer:
    """Lets a scribe write, and knows for how long."""

    def __init__(self, tenure: AgentLifetime, scribe: Summarizer) -> None:
        """Stand before a scribe."""
        self._tenure, self._scribe = tenure, scribe

    def window(self, session: Session) -> int | None:
        """Tell how many tokens the model of a session can read at once."""
        return self._scribe.window(session)

    async def write_title(self, session: Session, lines: Sequence[Message]) -> SummarizerOutput:
        """Name a conversation."""
        with self._tenure.used():
            return await self._scribe.write_title(session, lines)

    async def write_summary(
        self, session: Session, lines: Sequence[Message], focus: str = ""
    ) -> SummarizerOutput:
        """Write what the agent has to know in the place of these lines."""
        with self._tenure.used():
            return await self._scribe.write_summary(session, lines, focus)


async def _end(outputs: AsyncIterator[Output]) -> None:
    close = getattr(outputs, "aclose", None)
    if close is not None:
        await close()
