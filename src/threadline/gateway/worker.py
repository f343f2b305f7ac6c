"""The worker: claims turns, lets an agent answer them, and brings every answer into the store."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Self

from threadline.core import delivery
from threadline.core.agent import Agent
from threadline.core.errors import LeaseLost, ThreadlineError, sentence_of
from threadline.core.event import Event, EventKind
from threadline.core.gateway_status import TurnCapacity
from threadline.core.platform import PlatformDirectory
from threadline.core.session import Session, SessionId
from threadline.core.summarizer import Summarizer
from threadline.core.turn import TurnId, TurnState
from threadline.database.port import Database, Watch
from threadline.gateway.checkpoints import save_said
from threadline.gateway.compaction import COMPACT_AT, Compaction, TellAbout
from threadline.gateway.concurrency import CONCURRENCY, TurnSlots
from threadline.gateway.deferred_commands import DeferredCommands, OnWaited
from threadline.gateway.feed_consumer import follow_feed
from threadline.gateway.inactivity import InactivityTimer, OnQuiet
from threadline.gateway.intervals import (
    NO_STORAGE,
    Intervals,
    attempt,
    retry_until_stored,
    run_every,
)
from threadline.gateway.lease import LeaseProof
from threadline.gateway.maintenance import Hook, Maintenance, Refuses
from threadline.gateway.metrics import Metrics
from threadline.gateway.running_turn import RunningTurn
from threadline.gateway.tracing import traced
from threadline.gateway.turn_pubsub import TurnListener, TurnPubSub
from threadline.gateway.turn_runner import TurnRunner
from threadline.store import Store
from threadline.store.feed import feed_end
from threadline.store.queries import read_turn
from threadline.store.turn_queue import queue
from threadline.store.turn_queue.claim import TurnClaim, return_turn
from threadline.store.turn_queue.queue import append, checkpoint, interrupt_own, renew

log = logging.getLogger("threadline.gateway")

_GAVE_UP = "The agent gave up: something that it waited for was cancelled."

_TAKEN = frozenset({EventKind.TURN_STOPPED, EventKind.TURN_INTERRUPTED, EventKind.TURN_FAILED})
"""After these a turn may no longer be ours."""
_ENDED = _TAKEN | {EventKind.TURN_DONE}
"""After these the time of a command may have come that waits."""
_WAKING = _ENDED | {EventKind.TURN_QUEUED, EventKind.TURN_WAITING}
"""After these there may be a turn to claim: one that waits for an answer takes no place."""


def is_carried_out(session: Session) -> bool:
    """Tell whether answers are owed to a platform; a terminal reads them from the store."""
    return delivery.is_carried_out(session.platform)


class Worker:
    """Answers turns until it is stopped: `async with Worker(store, agent) as worker: …`.

    It is woken by the feed, not by asking. What agents say is stored at the latest every second,
    by one verb for all running turns. A turn whose lease is lost, because somebody stopped it or
    took it over, is let go at once. Whatever an agent raises becomes the visible end of its turn,
    and so does a long silence. An agent that does not end when it is cancelled keeps its place
    among those that run at a time, but not the worker from stopping.
    """

    def __init__(
        self,
        store: Store,
        agent: Agent,
        *,
        concurrency: int = CONCURRENCY,
        per_profile: Mapping[str, int] = MappingProxyType({}),
        delivers: Callable[[Session], bool] = is_carried_out,
        on_ended: Hook | None = None,
        pace: Intervals | None = None,
        meters: Metrics | None = None,
        refuses: Refuses | None = None,
        surroundings: Callable[[], PlatformDirectory] | None = None,
        on_quiet: OnQuiet | None = None,
        on_waited: OnWaited | None = None,
        tell: TellAbout | None = None,
        scribe: Summarizer | None = None,
        compact_at: float = COMPACT_AT,
        titles: bool = True,
    ) -> None:
        """Work on a store with an agent, on so many turns at a time, of all and of each profile.

        `refuses` is asked which interrupted turns may not go on, `surroundings` what platforms are
        around, `on_quiet` hears of turns that say nothing and `on_waited` of commands that had
        waited, `tell` says something beside an answer, and `scribe` writes titles and summaries.
        """
        self.live = TurnPubSub()
        self.upkeep = Compaction(
            store.database, scribe, compact_at=compact_at, titles=titles, tell=tell
        )
        self.keeper = Maintenance(
            store.database, on_ended=on_ended, refuses=refuses, on_swept=self.upkeep.sum_up
        )
        self._db = store.database
        self.answering = TurnRunner(
            self._db, agent, self.upkeep, delivers=delivers, surroundings=surroundings
        )
        self.seats = TurnSlots(concurrency, per_profile)
        self.pace = pace or Intervals()
        self._meters = meters or Metrics()
        self.silence = InactivityTimer(self.pace.inactivity, self.live, on_quiet)
        self._running: dict[TurnId, RunningTurn] = {}
        self._settling: set[TurnId] = set()  # lost, and what they spent is not stored yet
        self._tasks: dict[RunningTurn, asyncio.Task[None]] = {}
        """Also those of turns that are not ours any more, for as long as their agent goes on."""
        self._broken: asyncio.Queue[BaseException] = asyncio.Queue(maxsize=1)
        self._wake = asyncio.Event()
        self.backlog = DeferredCommands(self._db, self._wake.set, on_waited)
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
            with self._db.deaths() as deaths:
                await self._work(deaths)
        finally:
            try:
                await self._leave_agents()
                await self.upkeep.close(self.pace.grace)
            finally:
                self.live.close()

    async def _work(self, deaths: Watch) -> None:
        await deaths.wait()  # The first call returns at once: what died before is recovered here.
        async with asyncio.TaskGroup() as group:
            cursor = await self._db.read(feed_end)
            await self.keeper.recover()
            loops = [
                group.create_task(loop)
                for loop in (
                    follow_feed(self._db, cursor, self._notice, self._wake.set),
                    self._claim(),
                    self.backlog.run(),
                    self._raise_broken(),
                    run_every(self.beat, self.pace.checkpoint),
                    run_every(self.look_for_silence, self.pace.checkpoint),
                    self.keeper.recover_in_time(deaths, self.recover, self.pace.recover),
                    run_every(self.keeper.index, self.pace.index),
                    run_every(self.keeper.sweep, self.pace.sweep, at_once=True),
                    run_every(self.keeper.tell_endings, self.pace.recover, at_once=True),
                )
            ]
            self._wake.set()
            self.backlog.hear()
            self._ready.set()
            await self._stopping.wait()
            await self._drain()
            for loop in loops:
                loop.cancel()

    async def stop(self) -> None:
        """Take no new turn, let running ones end for a while, and interrupt the rest."""
        self._stopping.set()
        if self._run is None:
            return
        try:
            await self.wait()
        except asyncio.CancelledError:
            await self.halt()
            raise

    async def wait(self) -> None:
        """Wait until the worker has ended; what nobody expected and broke it is raised."""
        if self._run is not None:
            await asyncio.wait({self._run})
            if not self._run.cancelled():
                self._run.result()

    async def halt(self) -> None:
        """Let go of everything at once and write nothing more, as a crash would."""
        if self._run is not None:
            self._cancel_agents()
            self._run.cancel()
            await asyncio.wait({self._run})

    def listen(self, session_id: SessionId) -> AbstractContextManager[TurnListener]:
        """Listen to what the running turns of a session say, as long as the context is open."""
        return self.live.listen(session_id)

    @property
    def running(self) -> frozenset[TurnId]:
        """The turns that this worker runs, or has lost and not settled yet."""
        return frozenset({*self._running, *self._settling})

    @property
    def busy(self) -> list[str]:
        """Name the turns whose agent has not ended, also of those that are no longer ours."""
        return [f"turn {turn.turn.id} of profile {turn.profile}" for turn in list(self._tasks)]

    async def save_last_words(self, database: Database) -> None:
        """Store what running turns said since the last checkpoint, in another database.

        This is for a thread of its own, with an event loop of its own, while that of this worker
        is blocked. A turn that is being written to is left out: its write may have taken place.
        """
        for turn in list(self._running.values()):
            if (words := turn.last_words()) is not None:
                held, text = words
                with suppress(LeaseLost):
                    if held:
                        await append(database, turn.lease, held)
                    await checkpoint(database, [(turn.lease, text)])

    def places(self) -> TurnCapacity:
        """Count the places for turns: all, those taken, and those taken by silent agents."""
        silent = self.silence.long(self._tasks, asyncio.get_running_loop().time())
        return self.seats.places(self._tasks, silent=len(silent))

    def wake(self) -> None:
        """Look again at once for what can be claimed."""
        self._wake.set()

    async def beat(self) -> None:
        """Store what was said since the last beat; now and then renew the leases of the silent.

        This happens every second by itself. Call it before you stop a turn, and nothing that was
        already shown is missing from what the transcript keeps.
        """
        now, pause = self.pace.clock(), self.pace.renew
        every = self._db.environment.settings.lease / 3 if pause is None else pause
        is_due = now - self._renewed_at >= every.total_seconds()
        await self._checkpoint(renew_all=is_due)
        if is_due:
            self._renewed_at = now

    async def recover(self) -> None:
        """Pick up what other workers left behind, and renew the leases of our own turns.

        People wait for what was left behind, so that comes first; our own turns are not taken.
        """
        await self.keeper.recover(running=lambda: self.running)
        self._wake.set()
        self.backlog.hear()
        await self._checkpoint(renew_all=True)

    async def look_for_silence(self, now: float | None = None) -> None:
        """Give up turns that have said nothing for too long, and warn of those on the way there.

        This happens every second by itself, by the clock of the loop.
        """
        now = asyncio.get_running_loop().time() if now is None else now
        for turn in self.silence.too_long(list(self._running.values()), now):
            await renew(self._db, [turn.lease])  # If storage fails, look again at the next beat.
            await self._fail(turn, self.silence.why)
            task = self._tasks.get(turn)
            if turn.is_over and task is not None:
                self._forget(turn)
                task.cancel()
        await self.silence.warn(list(self._running.values()), now)

    async def _checkpoint(self, *, renew_all: bool) -> None:
        turns = list(self._running.values())
        for turn in await save_said(self._db, turns, renew_all=renew_all):
            await self._lose(turn)
        if renew_all:
            # The feed tells it at once, unless it had a gap.
            for turn in turns:
                await turn.look_for_answer()

    async def _notice(self, event: Event) -> None:
        """Take in an event: there may be something to claim, or to let go."""
        if event.kind in _WAKING:
            self._wake.set()
        if event.kind in _ENDED:
            self.backlog.hear()
        turn = None
        if event.kind in _TAKEN or event.kind is EventKind.TURN_RUNNING:
            turn = self._running.get(TurnId(event.subject or 0))
        if turn is None or not turn.is_answering:
            return
        if event.kind is EventKind.TURN_RUNNING:
            await turn.look_for_answer()
        # The news may be older than our claim, so the lease is asked, not the event.
        elif await renew(self._db, [turn.lease]):
            await self._lose(turn)

    async def _lose(self, turn: RunningTurn) -> None:
        """Let go of a turn that is no longer ours, unless it is just ending by itself."""
        if turn.is_answering and self._running.get(turn.turn.id) is turn:
            self._tasks[turn].cancel()
            await self._close_lost(turn)

    async def _close_lost(self, turn: RunningTurn) -> None:
        if not turn.lose():
            return
        self._forget(turn)
        self._settling.add(turn.turn.id)
        try:
            await turn.store_usage()
            state = (await self._db.read(read_turn, turn.turn.id)).state
        except ThreadlineError as error:
            log.warning("What became of turn %s is not known: %s", turn.turn.id, error)
            state = TurnState.INTERRUPTED
            self._store_usage_later(turn)
        finally:
            self._settling.discard(turn.turn.id)
        if state is not TurnState.STOPPED and not self._stopping.is_set():
            self._meters.lease_lost()
        turn.close(state)

    def _store_usage_later(self, turn: RunningTurn) -> None:
        """Store what a lost turn spent as soon as storage is back."""
        what = f"the usage of turn {turn.turn.id}"
        self.upkeep.tasks.begin(what, lambda: retry_until_stored(turn.store_usage, what))

    async def _claim(self) -> None:
        """Claim turns as long as there are some and hands are free."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not await attempt(self._claim_all):
                await asyncio.sleep(NO_STORAGE.total_seconds())
                self._wake.set()

    async def _claim_all(self) -> None:
        while not self._stopping.is_set() and self.seats.are_left(self._tasks):
            asked_at = asyncio.get_running_loop().time()
            proof = LeaseProof(self._db.environment.settings.lease, self.pace.clock)
            full, crowding = self.seats.full(self._tasks), self.seats.crowding(self._tasks)
            claim = await queue.claim(self._db, full=full, crowding=crowding)
            if claim is None:
                return
            self._meters.committed(asyncio.get_running_loop().time() - asked_at)
            if not self._stopping.is_set():
                self._begin(claim, proof)
            else:
                with suppress(LeaseLost):
                    await self._db.write(return_turn, claim.lease)

    def _begin(self, claim: TurnClaim, proof: LeaseProof) -> None:
        turn = RunningTurn(self._db, claim, self.live, proof)
        turn.when_closed(lambda: self._meters.turn_ended(turn.state, turn.seconds))
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
            log.error("Turn %s broke its worker", turn.turn.id, exc_info=error)
            if not self._broken.full():
                self._broken.put_nowait(error)

    async def _raise_broken(self) -> None:
        """End the worker with the first unexpected error of a turn; later ones are logged."""
        raise await self._broken.get()

    async def _answer(self, turn: RunningTurn) -> None:
        """Let the agent answer one turn; whatever goes wrong becomes its visible end."""
        with traced(turn):
            await self._try(turn)

    async def _try(self, turn: RunningTurn) -> None:
        try:
            await self.answering.answer(turn)
        except LeaseLost:
            await self._close_lost(turn)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            await self._fail(turn, _GAVE_UP)
        except Exception as error:
            is_told, why = isinstance(error, ThreadlineError), sentence_of(error)
            log.info("Turn %s failed: %s", turn.turn.id, why, exc_info=not is_told)
            await self._fail(turn, why)
        finally:
            self._forget(turn)

    async def _fail(self, turn: RunningTurn, why: str) -> None:
        try:
            await turn.fail(why)
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
        """Let running turns end for a while, then interrupt them and keep what they said.

        One that waits for a person's answer is interrupted at once, and asks again when it goes on.
        """
        tasks = {self._tasks[turn] for turn in self._running.values() if not turn.is_asking}
        if tasks:
            await asyncio.wait(tasks, timeout=self.pace.drain.total_seconds())
        turns = list(self._running.values())
        if not turns:
            return
        is_saved = await attempt(lambda: self._checkpoint(renew_all=False))
        for turn in turns:
            self._tasks[turn].cancel()
        is_saved = await attempt(partial(interrupt_own, self._db)) and is_saved
        for turn in turns:
            if not is_saved:
                log.error("Storage fails: the last output of turn %s is not stored", turn.turn.id)
            await self._close_lost(turn)

    async def _leave_agents(self) -> None:
        """End the agents that still run; one that does not end is left to itself, and silent."""
        self._cancel_agents()
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=self.pace.grace.total_seconds())
        for turn in self._tasks:
            log.warning("The agent of turn %s was cancelled and goes on", turn.turn.id)

    def _cancel_agents(self) -> None:
        for turn, task in self._tasks.items():
            turn.lose()
            if not task.cancelling():
                task.cancel()
