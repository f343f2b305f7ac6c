"""Process pool: the programs that work for our sessions, each for one.

A program for each session costs memory, but one that breaks, hangs or has to be killed harms no
other conversation. Those that nobody needs end after a while.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from threadline.agents.acp.process import ENDS_WITHIN, AgentProcess
from threadline.agents.settings import AcpSettings
from threadline.core.errors import AgentError
from threadline.core.session import Session, SessionId

MOST = 16
"""Programs that run at a time."""
IDLE = timedelta(minutes=10)
"""How long a program stays that nobody needs."""


class ProcessPool:
    """Lends programs to whoever has to answer, and ends them all in the end."""

    def __init__(self, settings: AcpSettings, *, most: int = MOST, idle: timedelta = IDLE) -> None:
        """Begin with nobody."""
        self._settings = settings
        self._idle = idle.total_seconds()
        self._places = asyncio.Semaphore(most)
        self._most = most
        self._companions: dict[SessionId, AgentProcess] = {}
        self._lent: set[SessionId] = set()
        self._doors: dict[SessionId, asyncio.Lock] = {}
        """One at a time speaks with the program of a session."""
        self._timers: dict[SessionId, asyncio.TimerHandle] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling: dict[AgentProcess, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End them all."""
        for timer in self._timers.values():
            timer.cancel()
        tasks = (*self._tasks, *self._settling.values())
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(one.end() for one in self._companions.values()))

    @asynccontextmanager
    async def lend(self, session: Session) -> AsyncIterator[AgentProcess]:
        """Lend the program of a session, which is begun if there is none or it is gone."""
        # Whoever was stopped may still be leaving when the next one comes.
        async with self._doors.setdefault(session.id, asyncio.Lock()), self._places:
            self._lent.add(session.id)
            try:
                companion = await self._find(session)
                yield companion
            finally:
                self._lent.discard(session.id)
                self._rest(session.id)

    def settle(self, companion: AgentProcess, work: "asyncio.Task[object]") -> None:
        """See to it that a program ends what it was asked to stop, or ends itself."""
        task = asyncio.create_task(_settle(companion, work), name=f"settle {companion.program}")
        self._settling[companion] = task
        task.add_done_callback(lambda _: self._settling.pop(companion, None))

    async def _find(self, session: Session) -> AgentProcess:
        folder = _folder(session, self._settings)
        if (timer := self._timers.pop(session.id, None)) is not None:
            timer.cancel()
        found = self._companions.get(session.id)
        if found in self._settling:
            await self._settling[found]
        if found is not None and found.is_alive and found.folder == folder:
            return found
        if found is not None:
            del self._companions[session.id]
            await found.end()
        await self._make_room()
        companion = AgentProcess(self._settings, folder)
        try:
            await companion.begin()
        except BaseException:
            await companion.end()
            raise
        self._companions[session.id] = companion
        return companion

    async def _make_room(self) -> None:
        """End the program that has been idle for longest, if there are too many."""
        idle = [id for id in self._timers if id not in self._lent]
        if len(self._companions) >= self._most and idle:
            await self._end(idle[0])

    def _rest(self, id: SessionId) -> None:
        loop = asyncio.get_running_loop()
        if id in self._companions:
            self._timers[id] = loop.call_later(self._idle, self._dismiss, id)

    def _dismiss(self, id: SessionId) -> None:
        if id not in self._lent:
            task = asyncio.create_task(self._end(id), name=f"end the agent of {id}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _end(self, id: SessionId) -> None:
        if (timer := self._timers.pop(id, None)) is not None:
            timer.cancel()
        if id in self._doors and not self._doors[id].locked():
            del self._doors[id]
        companion = self._companions.pop(id, None)
        if companion is not None:
            await companion.end()


async def _settle(companion: AgentProcess, work: "asyncio.Task[object]") -> None:
    await asyncio.wait({work}, timeout=ENDS_WITHIN)
    if not work.done():
        await companion.end()
    await asyncio.gather(work, return_exceptions=True)


def _folder(session: Session, settings: AcpSettings) -> str:
    """Choose where an agent works: in the session's own folder, or in that of the settings."""
    own = session.worktree.path if session.worktree is not None else session.workspace
    folder = Path(own or settings.folder or ".").expanduser().absolute()
    if not folder.is_dir():
        raise AgentError("The folder of the conversation is not there", id=str(folder))
    return str(folder)
