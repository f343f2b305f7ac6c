"""The scenario house: a whole installation in which a test tells a story in plain language.

    async def test_a_quiet_night_starts_a_new_session(house):
        alice = house.person("alice", on="telegram")

        await alice.says("remember the number 7")
        await house.time_passes(hours=9)
        await alice.says("hello again")

        old, new = await house.sessions_of(alice)
        assert (new.parent_id, new.cause) == (old.id, Cause.IDLE)
        assert house.agent.saw_only("hello again")

Store and worker are the real ones, on any database; the agent follows a script, and the clock
stands still until `time_passes`. Nothing reaches into the store but through its front door.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from msgspec import Struct

from threadline.core.access import ADMINS, REQUESTER, Approvers
from threadline.core.address import Address, Kind, Sender
from threadline.core.gateway_status import Uptime
from threadline.core.message import Message
from threadline.core.reset_policy import Policies, ResetMode, ResetPolicy
from threadline.core.route import MAIN_PROFILE
from threadline.core.session import Cause, Session, SessionId
from threadline.core.settings import Settings
from threadline.core.summarizer import Summarizer
from threadline.core.turn import Turn, TurnState
from threadline.database.sqlite import SqliteDatabase
from threadline.gateway.command_jobs import finish_command_job
from threadline.gateway.intervals import Intervals
from threadline.gateway.worker import Worker
from threadline.store import Store, queries
from threadline.store.commands.context import DeferredCommandResult
from threadline.store.deliveries import DeliveryPayload
from threadline.store.deliveries.results import record_sent
from threadline.store.deliveries.take import take_deliveries
from threadline.store.queries import read_turn
from threadline.store.sessions.session_end import Ending
from threadline.store.sessions.session_list import list_own_sessions
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.scenario_person import ScenarioPerson
from threadline.testing.scripted_agent import ScriptedAgent

A_NIGHT = timedelta(hours=8)
_LOOK_AGAIN = 0.002
_NEVER = timedelta(days=1)
_ABANDONED = "a turn runs whose worker is gone"


class OpenStore(Protocol):
    """Opens the same store again and again, each time as another process would."""

    async def __call__(
        self, *, rules: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> Store:
        """Open it."""
        ...


def sqlite_at(path: Path) -> OpenStore:
    """Open stores on a file of SQLite, without waiting for the disk."""

    async def open_one(
        *, rules: Settings | None = None, clock: Callable[[], datetime] | None = None
    ) -> Store:
        database = SqliteDatabase(path, durable=False, clock=clock)
        await database.open()
        return Store(database, rules)

    return open_one


REQUESTERS = Approvers(named=(REQUESTER, ADMINS))
"""Every sender approves what their own turns ask, so that one person is enough for a story."""


def quiet_nights() -> Settings:
    """Answer the rules of a house: after eight hours of silence a session is over."""
    return Settings(
        policies=Policies(default=ResetPolicy(mode=ResetMode.IDLE, idle=A_NIGHT)),
        approvers=REQUESTERS,
    )


class SentReply(Struct, frozen=True, kw_only=True):
    """What a platform was given to send."""

    address: Address
    text: str
    notice: Cause | None
    """Why the session is new, where the person is told so with this reply."""
    is_repeated: bool
    """It may have been sent before."""


class Scenario:
    """An installation with one worker, a scripted agent, an outbox that notes what it sends, and
    a clock of its own.
    """

    def __init__(
        self,
        open_store: OpenStore,
        *,
        rules: Settings | None = None,
        scribe: Summarizer | None = None,
    ) -> None:
        """Build a house on a store, perhaps with a scribe; `async with` moves in."""
        self.clock = FakeClock()
        self.agent = ScriptedAgent()
        self.scribe = scribe
        self.rules = rules or quiet_nights()
        self.endings: list[tuple[Ending, Sequence[Message]]] = []
        """What the hook was told of sessions that ended."""
        self.hook_fails = 0
        """How many more times that hook breaks."""
        self._open_store = open_store
        self._store: Store | None = None
        self._unserved = timedelta(0)
        """How much time passed while no process was up."""
        self._worker: Worker | None = None
        self._replies: list[SentReply] = []
        self._message_ids = itertools.count(1)

    async def __aenter__(self) -> Self:
        """Move in: the worker runs."""
        await self.comes_back()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Move out, and leave nothing running."""
        if self._store is not None:
            await self.goes_down()

    @property
    def store(self) -> Store:
        """The store of the process that is up."""
        assert self._store is not None, "the house is down"
        return self._store

    @property
    def worker(self) -> Worker:
        """The worker of the process that is up."""
        assert self._worker is not None, "the house is down"
        return self._worker

    def lives_by(self, rules: Settings) -> None:
        """Change the rules, as an owner who edits the configuration."""
        self.rules = rules
        if self._store is not None:
            self._store.rules = rules

    def person(self, name: str, *, on: str) -> ScenarioPerson:
        """Introduce somebody who writes from an app."""
        sender = Sender(id=f"id-of-{name}", name=name.title())
        address = Address(platform=on, kind=Kind.DM, chat=f"chat-of-{name}")
        return ScenarioPerson(self, sender, address)

    async def time_passes(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> None:
        """Let time pass; meanwhile the worker's beats go on: it stores, renews and recovers."""
        span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        self.clock.advance(span)
        if self._worker is None:
            self._unserved += span
        else:
            await self._worker.recover()
            await self.rests()

    async def sweeps(self) -> None:
        """Do what is done every five minutes: end what is over, and tell of it."""
        await self.worker.keeper.sweep()
        await self.worker.keeper.tell_endings()
        await self.rests()

    async def crash(self) -> None:
        """Let the process vanish without cleaning up, and another one start."""
        await self.goes_down()
        await self.comes_back()

    async def goes_down(self) -> None:
        """Let the process vanish: turns stay as they were, under leases that nobody renews."""
        await self.worker.halt()
        await self._leave()

    async def stops_gracefully(self) -> None:
        """Ask the process to end: running turns have a moment, the rest are interrupted."""
        await self.worker.stop()
        await self._leave()

    async def comes_back(self) -> None:
        """Start a process; what was cut off has been picked up when this returns."""
        self._store = await self.open_another()
        self._worker = Worker(
            self._store,
            self.agent,
            on_ended=self._hear_of_ending,
            pace=_unhurried(),
            scribe=self.scribe,
            on_waited=self._run_errand,
        )
        await self._worker.__aenter__()
        await self.rests()

    async def open_another(self) -> Store:
        """Open the same store as one more process would; whoever asked for it closes it."""
        store = await self._open_store(rules=self.rules, clock=self.clock)
        store.uptime = lambda: Uptime(boot="house", elapsed=self._unserved)
        return store

    async def rests(self) -> None:
        """Wait until nothing moves any more: all is answered, or hangs, or waits for somebody."""
        if self._worker is None:
            return
        await self._find_rest()
        await self._worker.upkeep.tasks.settle()

    async def _run_errand(self, waited: DeferredCommandResult) -> None:
        """Do what a command that had waited leaves to do."""
        errand, upkeep = waited.reply.errand, self.worker.upkeep
        if errand is None:
            return
        store = self.store

        async def run() -> None:
            await finish_command_job(
                store.database, errand, waited.inbound, compress=upkeep.compress
            )

        upkeep.tasks.begin(f"run {waited.inbound.message_id}", run)

    async def _find_rest(self) -> None:
        assert self._worker is not None
        over = asyncio.get_running_loop().time() + HANG_SECONDS
        while restless := await self._restless():
            assert asyncio.get_running_loop().time() < over, f"the house finds no rest: {restless}"
            if restless == _ABANDONED:
                # The database may need a moment to see that the last process is gone.
                await self._worker.recover()
            await asyncio.sleep(_LOOK_AGAIN)

    async def sessions_of(self, person: ScenarioPerson) -> list[Session]:
        """List the sessions that a person may see, the oldest first."""
        rows = await self.store.database.read(
            list_own_sessions,
            person.address,
            person.sender,
            profile=MAIN_PROFILE,
            most=queries.PAGE,
        )
        return sorted((row.session for row in rows), key=lambda session: session.id)

    async def replies_to(self, person: ScenarioPerson) -> list[SentReply]:
        """Carry out what is owed, then list everything that was ever sent where a person is."""
        while parcels := await take_deliveries(self.store.database):
            for parcel in parcels:
                self._replies.append(_reply(parcel))
                await self.store.database.write(
                    record_sent, parcel.delivery, platform_id=f"sent-{parcel.delivery.id}"
                )
        here = person.address
        return [reply for reply in self._replies if _is_same(reply.address, here)]

    async def transcript_of(self, where: ScenarioPerson | Session | SessionId) -> list[Message]:
        """Read a whole transcript."""
        if isinstance(where, ScenarioPerson):
            where = await where.session()
        id = where.id if isinstance(where, Session) else where
        return await self.store.database.read(
            queries.transcript, id, before=None, after=None, around=None, most=1000, hidden=False
        )

    async def turns_of(self, person: ScenarioPerson) -> Sequence[Turn]:
        """List the turns of the session a person is in, the oldest first."""
        turns = await self.store.database.read(queries.turns, (await person.session()).id, 1000)
        return turns[::-1]

    def new_message_id(self) -> str:
        """Name a message as a platform would."""
        return f"message-{next(self._message_ids)}"

    async def _leave(self) -> None:
        store, self._store, self._worker = self.store, None, None
        await store.close()

    async def _hear_of_ending(self, ending: Ending, transcript: Sequence[Message]) -> None:
        if self.hook_fails:
            self.hook_fails -= 1
            raise RuntimeError("the hook broke")
        self.endings.append((ending, transcript))

    async def _restless(self) -> str:
        """Say what still moves; nothing: it rests."""
        parked = self.agent.parked
        if moving := self.worker.running - parked:
            return f"turns {sorted(moving)} run"
        for turn_id in self.worker.running:
            turn = await self.store.database.read(read_turn, turn_id)
            if turn.ended_at is not None:
                return f"turn {turn_id} has yet to be let go"
            if turn_id in self.agent.asking and turn.state is not TurnState.WAITING:
                return f"turn {turn_id} has yet to ask, or to hear the answer"
        for row in (await self.store.sessions.list(most=1000)).rows:
            turns = await self.store.database.read(queries.turns, row.session.id, 1000)
            if any(turn.owner not in {None, self.store.owner} for turn in turns):
                return _ABANDONED
            if row.held is TurnState.WAITING:
                continue
            held = [turn for turn in turns if turn.state is TurnState.RUNNING]
            if any(turn.id not in parked for turn in held):
                return f"turn {held[0].id} runs"
            if not held and any(self._is_due(turn) for turn in turns):
                return f"a turn of {row.session.id} waits"
        return ""

    def _is_due(self, turn: Turn) -> bool:
        """Return whether a turn waits for a worker, and not for another one to end.

        Of those that may have ended their process twice, only one runs at a time.
        """
        is_suspect = turn.attempts >= self.rules.max_attempts - 1 > 0
        return turn.state is TurnState.QUEUED and not (is_suspect and self.agent.parked)


def _unhurried() -> Intervals:
    """Let no beat come by itself: a test decides when time passes."""
    return Intervals(
        checkpoint=_NEVER, recover=_NEVER, sweep=_NEVER, drain=timedelta(milliseconds=50)
    )


def _reply(parcel: DeliveryPayload) -> SentReply:
    delivery = parcel.delivery
    return SentReply(
        address=delivery.address,
        text=parcel.text,
        notice=delivery.notice,
        is_repeated=delivery.repeated_at is not None,
    )


def _is_same(one: Address, other: Address) -> bool:
    names = ("platform", "account", "kind", "chat", "thread")
    return all(getattr(one, name) == getattr(other, name) for name in names)
