"""The worker: claims turns, lets an agent answer them, and brings every answer into the store."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from types import TracebackType
from typing import Self

from threadline.core.agent import Agent
from threadline.core.errors import LeaseLost, StorageError, ThreadlineError, sentence_of
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.session import Session, SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.gateway.keeper import Hook, Keeper
from threadline.gateway.live import Listener, Live
from threadline.gateway.pace import NO_STORAGE, Pace, steadily, weathered
from threadline.gateway.request import make_request
from threadline.gateway.running import RunningTurn, end_iterator
from threadline.sessions.feed import FeedLost
from threadline.sessions.store import Store
from threadline.sessions.turns.claim import Claim

log = logging.getLogger("threadline.gateway")

CONCURRENCY = 32
LOCAL = "local"
_GAVE_UP = "The agent gave up: something that it waited for was cancelled."

_TAKEN = frozenset({EventKind.TURN_STOPPED, EventKind.TURN_INTERRUPTED, EventKind.TURN_FAILED})
"""After these a turn may no longer be ours."""
_WAKING = _TAKEN | {EventKind.TURN_QUEUED, EventKind.TURN_DONE}
"""After these there may be a turn to claim."""


def is_carried_out(session: Session) -> bool:
    """Tell whether answers are owed to a platform; a terminal reads them from the store."""
    return session.platform != LOCAL


class Worker:
    """Answers turns until it is stopped: `async with Worker(store, agent) as worker: …`.

    It is woken by the feed, not by asking. What agents say is stored at the latest every second,
    by one verb for all running turns. A turn whose lease is lost, because somebody stopped it or
    took it over, is let go at once. Whatever an agent raises becomes the visible end of its turn.
    An agent that does not end when it is cancelled keeps its place among those that run at a time,
    but not the worker from stopping.
    """

    def __init__(
        self,
        store: Store,
        agent: Agent,
        *,
        concurrency: int = CONCURRENCY,
        delivers: Callable[[Session], bool] = is_carried_out,
        on_ended: Hook | None = None,
        pace: Pace | None = None,
    ) -> None:
        """Work on a store with an agent, on so many turns at a time."""
        self.keeper = Keeper(store, on_ended=on_ended)
        self._store = store
        self._agent = agent
        self._concurrency = concurrency
        self._delivers = delivers
        self._pace = pace or Pace()
        self._live = Live()
        self._running: dict[TurnId, RunningTurn] = {}
        self._tasks: dict[RunningTurn, asyncio.Task[None]] = {}
        """Also those of turns that are not ours any more, for as long as their agent goes on."""
        self._mishaps: asyncio.Queue[BaseException] = asyncio.Queue()
        self._wake = asyncio.Event()
        self._ready = asyncio.Event()
        self._stopping = asyncio.Event()
        self._run: asyncio.Task[None] | None = None
        self._renewed_at = 0.0

    async def __aenter__(self) -> Self:
        """Start working; what a crash had left behind has been picked up when this returns."""
        self._run = asyncio.create_task(self.run(), name="threadline-worker")
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait({self._run, ready}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self.halt()
            raise
        finally:
            ready.cancel()
        if self._run.done():
            self._run.result()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop gracefully."""
        await self.stop()

    async def run(self) -> None:
        """Work until `stop` is called; an error that nobody expected ends this, and is raised."""
        try:
            async with asyncio.TaskGroup() as group:
                cursor = await self._store.feed_end()
                await self.keeper.recover()
                loops = [
                    group.create_task(loop)
                    for loop in (
                        self._follow(cursor),
                        self._claim(),
                        self._raise_mishaps(),
                        steadily(self.beat, self._pace.checkpoint),
                        steadily(self.recover, self._pace.recover),
                        steadily(self.keeper.index, self._pace.index),
                        steadily(self.keeper.sweep, self._pace.sweep, at_once=True),
                        steadily(self.keeper.tell_endings, self._pace.recover, at_once=True),
                    )
                ]
                self._wake.set()
                self._ready.set()
                await self._stopping.wait()
                await self._drain()
                for loop in loops:
                    loop.cancel()
        finally:
            try:
                await self._leave_agents()
            finally:
                self._live.close()

    async def stop(self) -> None:
        """Take no new turn, let running ones end for a while, and interrupt the rest."""
        self._stopping.set()
        if self._run is None:
            return
        try:
            await asyncio.wait({self._run})
        except asyncio.CancelledError:
            await self.halt()
            raise
        if not self._run.cancelled():
            self._run.result()

    async def halt(self) -> None:
        """Let go of everything at once and write nothing more, as a crash would."""
        if self._run is not None:
            self._cancel_agents()
            self._run.cancel()
            await asyncio.wait({self._run})

    def listen(self, session_id: SessionId) -> AbstractContextManager[Listener]:
        """Listen to what the running turns of a session say, as long as the context is open."""
        return self._live.listen(session_id)

    @property
    def running(self) -> frozenset[TurnId]:
        """The turns that this worker runs."""
        return frozenset(self._running)

    async def beat(self) -> None:
        """Store what was said since the last beat; now and then renew the leases of the silent.

        This happens every second by itself. Call it before you stop a turn, and nothing that was
        already shown is missing from what the transcript keeps.
        """
        now, pause = asyncio.get_running_loop().time(), self._pace.renew
        every = self._store.rules.lease / 3 if pause is None else pause
        is_due = now - self._renewed_at >= every.total_seconds()
        await self._checkpoint(renew_all=is_due)
        if is_due:
            self._renewed_at = now

    async def recover(self) -> None:
        """Pick up what other workers left behind. Ours is renewed first, lest we take it too."""
        await self._checkpoint(renew_all=True)
        await self.keeper.recover()
        self._wake.set()

    async def _checkpoint(self, *, renew_all: bool) -> None:
        # Whoever is just writing proves its lease by that, and need not be waited for.
        free = [turn for turn in self._running.values() if not turn.writing.locked()]
        async with AsyncExitStack() as locks:
            for turn in free:
                await locks.enter_async_context(turn.writing)
            for turn in free:
                await _store_held(turn)
            saving = [(turn, turn.pieces, turn.unsaved()) for turn in free]
            chunks = [(turn, n, text) for turn, n, text in saving if text or renew_all]
            if not chunks:
                return
            lost = await self._store.checkpoint([(turn.lease, text) for turn, _, text in chunks])
            for turn, count, _ in chunks:
                turn.mark_saved(count)
        for turn, _, _ in chunks:
            if turn.turn.id in lost:
                await self._lose(turn)

    async def _follow(self, cursor: Cursor | None) -> None:
        """Read the feed: it tells when there is something to claim, or to let go."""
        while True:
            events = self._store.follow(cursor)
            try:
                async for event in events:
                    await self._notice(event)
                    cursor = event.cursor
            except FeedLost:
                # From now on, then; what was missed meanwhile is found by the beats.
                cursor = None
                self._wake.set()
            except StorageError as error:
                log.warning("The feed cannot be read: %s", error)
                await asyncio.sleep(NO_STORAGE.total_seconds())
            finally:
                await end_iterator(events)

    async def _notice(self, event: Event) -> None:
        if event.kind in _WAKING:
            self._wake.set()
        turn = self._running.get(TurnId(event.subject or 0)) if event.kind in _TAKEN else None
        # The news may be older than our claim, so the lease is asked, not the event.
        if turn is not None and not turn.is_ending and await self._store.renew([turn.lease]):
            await self._lose(turn)

    async def _lose(self, turn: RunningTurn) -> None:
        """Let go of a turn that is no longer ours, unless it is just ending by itself."""
        if not turn.is_ending and self._running.get(turn.turn.id) is turn:
            self._tasks[turn].cancel()
            await self._close_lost(turn)

    async def _close_lost(self, turn: RunningTurn) -> None:
        if turn.is_lost:
            return
        turn.is_lost = True
        self._forget(turn)
        try:
            await turn.store_usage()
            state = (await self._store.turn(turn.turn.id)).state
        except ThreadlineError as error:
            log.warning("What became of turn %s is not known: %s", turn.turn.id, error)
            state = TurnState.INTERRUPTED
        turn.close(state)

    async def _claim(self) -> None:
        """Claim turns as long as there are some and hands are free."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not await weathered(self._claim_all):
                await asyncio.sleep(NO_STORAGE.total_seconds())
                self._wake.set()

    async def _claim_all(self) -> None:
        while not self._stopping.is_set() and len(self._tasks) < self._concurrency:
            claim = await self._store.claim()
            if claim is None:
                return
            if not self._stopping.is_set():
                self._begin(claim)
            else:
                with suppress(LeaseLost):
                    await self._store.give_back(claim.lease)

    def _begin(self, claim: Claim) -> None:
        turn = RunningTurn(self._store, claim, self._live)
        self._running[turn.turn.id] = turn
        # No child of the task group, which would wait for an agent that never ends.
        task = asyncio.create_task(self._answer(turn), name=f"turn {turn.turn.id}")
        self._tasks[turn] = task
        task.add_done_callback(lambda _: self._take_end(turn, task))

    def _take_end(self, turn: RunningTurn, task: asyncio.Task[None]) -> None:
        del self._tasks[turn]
        self._wake.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("Turn %s broke its worker: %s", turn.turn.id, sentence_of(error))
            self._mishaps.put_nowait(error)

    async def _raise_mishaps(self) -> None:
        """End the worker with the first error of a turn that nobody expected."""
        raise await self._mishaps.get()

    async def _answer(self, turn: RunningTurn) -> None:
        """Let the agent answer one turn; whatever goes wrong becomes its visible end."""
        deliver = True
        try:
            request = await make_request(self._store, turn.turn, turn)
            deliver = self._delivers(request.session)
            await self._store.approve_spending(turn.lease)
            await turn.follow(self._agent.answer(request), deliver=deliver)
        except LeaseLost:
            await self._close_lost(turn)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            await self._fail(turn, _GAVE_UP, deliver=deliver)
        except Exception as error:
            is_told = isinstance(error, ThreadlineError)
            why = sentence_of(error)
            log.info("Turn %s failed: %s", turn.turn.id, why, exc_info=not is_told)
            await self._fail(turn, why, deliver=deliver)
        finally:
            self._forget(turn)

    async def _fail(self, turn: RunningTurn, why: str, *, deliver: bool) -> None:
        try:
            await turn.fail(why, deliver=deliver)
        except LeaseLost:
            await self._close_lost(turn)
        except ThreadlineError as error:
            # Its lease is not renewed any more; when it is over the turn is picked up again.
            log.warning("The failure of turn %s cannot be stored: %s", turn.turn.id, error)

    def _forget(self, turn: RunningTurn) -> None:
        if self._running.get(turn.turn.id) is turn:
            del self._running[turn.turn.id]
            self._wake.set()

    async def _drain(self) -> None:
        """Let running turns end for a while, then interrupt them and keep what they said."""
        if self._running:
            tasks = {self._tasks[turn] for turn in self._running.values()}
            await asyncio.wait(tasks, timeout=self._pace.drain.total_seconds())
        if self._running:
            await self._checkpoint(renew_all=False)
            turns = list(self._running.values())
            for turn in turns:
                self._tasks[turn].cancel()
            await self._store.let_go()
            for turn in turns:
                await self._close_lost(turn)

    async def _leave_agents(self) -> None:
        """End the agents that still run; one that does not end is left to itself, and silent."""
        self._cancel_agents()
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=self._pace.grace.total_seconds())
        for turn in self._tasks:
            log.warning("The agent of turn %s was cancelled and goes on", turn.turn.id)

    def _cancel_agents(self) -> None:
        for turn, task in self._tasks.items():
            turn.is_lost = True
            if not task.cancelling():
                task.cancel()


async def _store_held(turn: RunningTurn) -> None:
    try:
        await turn.store_held()
    except ThreadlineError:
        # Its own task meets the same error when it ends, and knows what to do about it.
        log.debug("A message of turn %s cannot be stored yet", turn.turn.id)
