"""Gateway scenario: a whole gateway, in which a test tells a story through the front door.

    async def test_a_stranger_is_let_in(house):
        mallory = house.guest("Mallory", on="telegram")

        assert "code" in await mallory.asks("hello?")

Gateway, store and their loops are the real ones, on any database. The platforms are simulated, the
agent follows a script, and the clock stands still until somebody speaks or `time_passes`.
"""

import asyncio
import itertools
from collections.abc import Callable, Sequence
from datetime import timedelta
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from threadline.core.access import AccessRules
from threadline.core.delivery import DeliveryState
from threadline.core.gateway_status import Uptime
from threadline.core.platform import Platform
from threadline.core.session_list import ListSection, SessionFilter, SessionRow
from threadline.core.settings import Settings
from threadline.core.summarizer import Summarizer
from threadline.core.turn import TurnState
from threadline.gateway.gateway import Gateway
from threadline.gateway.intervals import Intervals
from threadline.gateway.settings import GatewaySettings
from threadline.platforms.simulated import Simulated
from threadline.store import Store, feed, queries
from threadline.store.feed import feed_end, read_feed
from threadline.store.queries import read_turn
from threadline.store.sessions.session_list import list_sessions
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.gateway_user import GatewayUser
from threadline.testing.scenario import REQUESTERS, OpenStore
from threadline.testing.scripted_agent import ScriptedAgent

ADMIN = "boss"
"""The id by which the admin of a house is known on each of its platforms."""
_LOOK_AGAIN = 0.002
_NEVER = timedelta(days=1)
_EVERYTHING = SessionFilter(shelf=ListSection.ALL, with_empty=True)
_ABANDONED = "a turn runs whose worker is gone"


def hospitable(*platforms: str) -> AccessRules:
    """Let everybody in on some platforms, with one admin on each, however much they write."""
    return AccessRules(
        allow=[f"{name}:*" for name in platforms],
        admins=[f"{name}:{ADMIN}" for name in platforms],
        per_minute=0,
    )


def unhurried() -> Intervals:
    """Let no beat come by itself: a test decides when time passes."""
    return Intervals(
        checkpoint=_NEVER,
        recover=_NEVER,
        sweep=_NEVER,
        drain=timedelta(milliseconds=50),
        grace=timedelta(milliseconds=500),
    )


class GatewayScenario:
    """An installation with a gateway, simulated platforms, a scripted agent and its own clock.

    Platforms and the agent outlive every crash of the gateway, as they do outside of tests.
    """

    def __init__(
        self,
        open_store: OpenStore,
        *,
        platforms: Sequence[Platform] = (),
        names: Sequence[str] = ("telegram", "discord"),
        rules: Settings | None = None,
        settings: GatewaySettings | None = None,
        scribe: Summarizer | None = None,
    ) -> None:
        """Build a house with simulated platforms of these names, and others; then `async with`."""
        self.clock = FakeClock()
        self.agent = ScriptedAgent()
        self.scribe = scribe
        self.rules = rules or Settings(approvers=REQUESTERS)
        self.platforms: dict[str, Platform] = {
            name: Simulated(name, clock=self.clock) for name in names
        }
        self.platforms |= {platform.name: platform for platform in platforms}
        self.settings = settings or GatewaySettings(
            access=hospitable(*self.platforms), pace=unhurried()
        )
        """How the next gateway serves."""
        self._open_store = open_store
        self._starts = itertools.count(1)
        self._store: Store | None = None
        self._gateway: Gateway | None = None

    async def __aenter__(self) -> Self:
        """Move in: the gateway serves."""
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
            await self.crashes()

    @property
    def store(self) -> Store:
        """The store of the gateway that serves."""
        assert self._store is not None, "nobody serves"
        return self._store

    @property
    def gateway(self) -> Gateway:
        """The gateway that serves."""
        assert self._gateway is not None, "nobody serves"
        return self._gateway

    @property
    def profiles(self) -> list[str]:
        """The profiles to which something may be led."""
        led = [rule.profile for rule in self.settings.routing]
        return list(dict.fromkeys([*led, self.settings.default_profile]))

    def simulated(self, name: str) -> Simulated:
        """Answer a platform on which people can be met."""
        platform = self.platforms[name]
        assert isinstance(platform, Simulated), f"nobody can be met on {name}"
        return platform

    def guest(self, name: str, *, on: str = "telegram", is_bot: bool = False) -> GatewayUser:
        """Introduce somebody who chats on a platform; their id is their name in small letters."""
        person = self.simulated(on).person(name, is_bot=is_bot)
        return GatewayUser(self, person, person.dm)

    def lives_by(self, rules: Settings) -> None:
        """Change the rules, as an owner who edits the configuration."""
        self.rules = rules
        if self._store is not None:
            self._store.rules = replace(rules, access=self._store.rules.access)

    async def comes_back(self, settings: GatewaySettings | None = None) -> None:
        """Begin to serve, perhaps otherwise than before; what was cut off has been picked up."""
        self.settings = settings or self.settings
        self._store = await self.open_another()
        platforms = list(self.platforms.values())
        self._gateway = Gateway(
            self._store, self.agent, platforms, settings=self.settings, scribe=self.scribe
        )
        await self._gateway.__aenter__()
        await self.rests()

    async def open_another(self) -> Store:
        """Open the same store as one more process would; whoever asked for it closes it."""
        store = await self._open_store(rules=self.rules, clock=self.clock)
        boot = f"start {next(self._starts)}"
        # While it is up it serves, however the clock is moved; between two starts the clock tells.
        store.uptime = lambda: Uptime(boot=boot, elapsed=timedelta(0))
        return store

    async def crashes(self) -> None:
        """Let the gateway vanish without cleaning up."""
        await self.gateway.halt()
        await self._leave()

    async def stops(self) -> None:
        """Ask the gateway to end: running turns have a moment, the rest are interrupted."""
        await self.gateway.stop()
        await self._leave()

    def stops_soon(self) -> asyncio.Task[None]:
        """Ask the gateway to end, and wait for nothing; the task ends when it has."""
        return asyncio.create_task(self.stops(), name="the gateway stops")

    async def crashes_and_comes_back(self, settings: GatewaySettings | None = None) -> None:
        """Let the gateway vanish, and another one begin."""
        await self.crashes()
        await self.comes_back(settings)

    async def time_passes(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> None:
        """Let time pass; meanwhile the beats go on: all that has come due is done."""
        span = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        self.clock.advance(span)
        if self._gateway is not None:
            await self._gateway.worker.recover()
            await self.rests()

    async def sweeps(self) -> None:
        """Do what is done every five minutes: end what is over, and tell of it."""
        await self.gateway.worker.keeper.sweep()
        await self.gateway.worker.keeper.tell_endings()
        await self.rests()

    async def agent_is_silent(self, *, minutes: float) -> None:
        """Let the agents say nothing for a while, by the clock of the loop."""
        now = asyncio.get_running_loop().time()
        await self.gateway.worker.look_for_silence(now + minutes * 60)
        await self.rests()

    async def agent_goes_on(self) -> None:
        """Let everything go on that hangs."""
        self.agent.goes_on()
        await self.rests()

    async def until(self, holds: Callable[[], bool], what: str = "it") -> None:
        """Wait for something that must come true soon."""
        over = asyncio.get_running_loop().time() + HANG_SECONDS
        while not holds():
            assert asyncio.get_running_loop().time() < over, f"it never happened: {what}"
            await asyncio.sleep(_LOOK_AGAIN)

    async def rests(self) -> None:
        """Wait until nothing moves any more: all is answered and sent, hangs, or is for later."""
        if self._gateway is None:
            return
        restless = "nobody has looked yet"
        try:
            async with asyncio.timeout(HANG_SECONDS):
                while restless:
                    restless = await self._restless(restless)
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError:
            raise AssertionError(f"the house finds no rest: {restless}") from None

    async def sessions(self, profile: str | None = None) -> list[SessionRow]:
        """List all sessions of a profile, those of jobs too, the latest first."""
        profile = profile or self.settings.default_profile
        return list(
            (
                await self.store.database.read(
                    list_sessions, _EVERYTHING, profile=profile, most=1000
                )
            ).rows
        )

    async def _leave(self) -> None:
        store, self._store, self._gateway = self.store, None, None
        await store.close()

    async def _restless(self, before: str) -> str:
        """Say what still moves; nothing: it rests. What costs nothing is looked at first."""
        gateway = self.gateway
        for platform in self.platforms.values():
            if isinstance(platform, Simulated) and platform.unacknowledged:
                return f"{platform.name} still brings something"
        if moving := self._moving():
            return moving
        since, asking = await self.store.database.read(feed_end), self.agent.asking
        await gateway.inbox.settle()
        await gateway.worker.upkeep.tasks.settle()
        if before == _ABANDONED:
            # The database may need a moment to see that the last process is gone.
            await gateway.worker.recover()
        if restless := await self._restless_turns():
            return restless
        if await gateway.worker.backlog.work_off():
            return "commands were waiting"
        await gateway.scheduler.look()
        # Twice, as the first one may end with a look that had begun before.
        await gateway.outbox.settle()
        await gateway.outbox.settle()
        if (await self.store.database.read(read_feed, since, feed.PAGE)).events:
            return "something has just happened"
        if self.agent.asking != asking:
            return "an agent has just begun to ask"  # Its question may not be stored yet.
        return self._moving() or await self._abandoned_deliveries()

    async def _abandoned_deliveries(self) -> str:
        """Find replies that a process was sending which is gone: the outbox itself is at rest."""
        for row in await self._rows():
            sending = await self.store.deliveries.list(
                row.session.id, states=[DeliveryState.SENDING]
            )
            if any(not delivery.is_growing for delivery in sending):
                return _ABANDONED
        return ""

    async def _rows(self) -> list[SessionRow]:
        return [row for profile in self.profiles for row in await self.sessions(profile)]

    def _moving(self) -> str:
        moving = self.gateway.worker.running - self.agent.parked
        return f"turns {sorted(moving)} run" if moving else ""

    async def _restless_turns(self) -> str:
        rows = await self._rows()
        for row in rows:
            if row.queued and row.held is None:
                return f"a turn of {row.session.id} waits"
        for turn_id in self.agent.asking:
            if (await self.store.database.read(read_turn, turn_id)).state is not TurnState.WAITING:
                return f"turn {turn_id} has yet to ask, or to hear the answer"
        held = [await self._is_held(row) for row in rows]
        return _ABANDONED if sum(held) > len(self.gateway.worker.running) else ""

    async def _is_held(self, row: SessionRow) -> bool:
        """Tell whether somebody holds a turn of a session, running or waiting, under a lease."""
        if row.held is not TurnState.WAITING:
            return row.held is TurnState.RUNNING
        turns = await self.store.database.read(queries.turns, row.session.id, 1000)
        return any(turn.state is TurnState.WAITING and turn.owner is not None for turn in turns)
