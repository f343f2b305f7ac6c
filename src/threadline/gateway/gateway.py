"""The gateway: inbox, worker, outbox, scheduler, hooks and platforms, as one thing that serves."""

import asyncio
import logging
import os
import socket
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from importlib.metadata import version
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.agent import Agent
from threadline.core.command import list_commands
from threadline.core.errors import Conflict, Invalid, ThreadlineError, sentence_of
from threadline.core.gateway_status import agent_servers
from threadline.core.platform import Capabilities, Platform, PlatformDirectory
from threadline.core.summarizer import Summarizer
from threadline.core.turn import Turn
from threadline.gateway.access import Access
from threadline.gateway.health import GatewayHealth
from threadline.gateway.hooks import Hooks
from threadline.gateway.inbox import Inbox
from threadline.gateway.intervals import attempt
from threadline.gateway.metrics import Metrics
from threadline.gateway.outbox import Outbox
from threadline.gateway.platform_supervisor import PlatformSupervisor
from threadline.gateway.reload import ReloadableParts, brief_worker, describe_platforms, with_relays
from threadline.gateway.scheduler import Scheduler
from threadline.gateway.settings import GatewaySettings
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.store.commands.context import DeferredCommandResult
from threadline.store.gateways import (
    beat,
    register_gateway,
    remove_dead_gateways,
    unregister_gateway,
)
from threadline.store.queries import turn_address

log = logging.getLogger("threadline.gateway")

SEND_OUT = timedelta(seconds=5)
"""How long what is being sent may take when a gateway stops, at the most."""


class GatewayRole(StrEnum):
    """What a gateway serves."""

    SERVER = "server"
    """Everything: it takes in messages, starts jobs, calls hooks, and others see that it serves."""
    TERMINAL = "terminal"
    """A conversation in its own process: it answers turns and sends what they owe, unseen."""


class GatewayState(StrEnum):
    """Where a gateway is between its start and its end."""

    NEW = "new"
    STARTING = "starting"
    SERVING = "serving"
    STOPPING = "stopping"
    OVER = "over"


class Gateway:
    """Serves a store: `async with Gateway(store, agent, platforms) as gateway: …`.

    When this begins, what a crash had left behind is picked up: replies that are owed come first.
    A platform that breaks or hangs harms nobody else. When it ends, nothing more is taken in,
    running turns may go on for a while, and what is being sent is sent.
    """

    def __init__(
        self,
        store: Store,
        agent: Agent,
        platforms: Sequence[Platform],
        *,
        settings: GatewaySettings = GatewaySettings(),
        scribe: Summarizer | None = None,
        role: GatewayRole = GatewayRole.SERVER,
    ) -> None:
        """Put the parts together; without a `scribe` nobody writes titles and summaries."""
        self._is_server = role is GatewayRole.SERVER
        if not self._is_server:
            settings = replace(settings, hooks={})
        self.platforms = {platform.name: platform for platform in platforms}
        if len(self.platforms) < len(platforms):
            raise Invalid("Two platforms have the same name", hint="Give each its own")
        self.store, self.settings = store, settings
        self.meters = Metrics(self.platforms)
        self.access = Access(store.database, with_relays(settings.access, platforms))
        store.rules = replace(store.rules, access=self.access.rules)
        self.hooks = self._make_hooks(settings)
        self._around = describe_platforms(self.platforms, settings, store.rules)
        self._changing = asyncio.Lock()
        self.worker = self._make_worker(agent, scribe)
        self.outbox = self._make_outbox()
        self.worker.keeper.sending = lambda: self.outbox.sending
        self.inbox = self._make_inbox()
        self.scheduler = self._make_scheduler()
        self._changed = asyncio.Event()
        served = platforms if self._is_server else ()
        self._connections = [self._connect(platform) for platform in served]
        self._loops: dict[str, asyncio.Task[None]] = {}
        self._ended: asyncio.Future[None] | None = None
        self._state = GatewayState.NEW
        self._is_heard = True
        self._error: str | None = None

    def _make_hooks(self, settings: GatewaySettings) -> Hooks:
        return Hooks(self.store.database, settings.hooks, pace=settings.pace, meters=self.meters)

    def _make_worker(self, agent: Agent, scribe: Summarizer | None) -> Worker:
        return Worker(
            self.store,
            agent,
            concurrency=self.settings.concurrency,
            per_profile=self.settings.per_profile,
            on_ended=self.hooks.on_ended,
            pace=self.settings.pace,
            meters=self.meters,
            # A terminal does not know the platforms whose senders were authenticated there.
            refuses=self.access.refused_turns if self._is_server else None,
            surroundings=self._look_around,
            on_quiet=self._tell_quiet if self._is_server else None,
            on_waited=self._run_errand,
            tell=self._tell_about if self._is_server else None,
            scribe=scribe,
            compact_at=self.settings.compact_at,
            titles=self.settings.titles,
        )

    def _make_outbox(self) -> Outbox:
        return Outbox(
            self.store.database,
            self.platforms,
            live=self.worker.live,
            pace=self.settings.pace,
            meters=self.meters,
            streams=self.settings.streams,
            secrets=self.settings.secrets,
        )

    def _make_inbox(self) -> Inbox:
        return Inbox(
            self.store.database,
            self.access,
            self.outbox,
            routing=self.settings.routing,
            default_profile=self.settings.default_profile,
            meters=self.meters,
            capabilities=self._capabilities_of,
            keep_said=self.worker.beat,
            compress=self.worker.upkeep.compress,
        )

    def _make_scheduler(self) -> Scheduler:
        return Scheduler(
            self.store.database,
            platforms=self.platforms,
            access=self.access,
            meters=self.meters,
            starts_jobs=self._is_server,
        )

    async def __aenter__(self) -> Self:
        """Begin to serve; what a crash had left behind has been picked up when this returns."""
        if self._state is not GatewayState.NEW:
            raise Conflict("This gateway has been used", hint="Make another one")
        self._state = GatewayState.STARTING
        self._ended = asyncio.get_running_loop().create_future()
        try:
            await self._start()
        except BaseException:
            await self.halt()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop gracefully."""
        await self.stop()

    @property
    def is_ready(self) -> bool:
        """Whether messages are taken in and answered: the last beat was written, nothing broke."""
        return (
            self._state is GatewayState.SERVING
            and self._is_heard
            and self._error is None
            and self.store.trouble is None
        )

    def health(self) -> GatewayHealth:
        """Tell how everything is."""
        return GatewayHealth(
            is_ready=self.is_ready,
            running=len(self.worker.running),
            places=self.worker.places(),
            platforms={one.name: one.health for one in self._connections},
            servers=agent_servers(self.worker.answering.agent),
            error=self._error or self._store_error(),
        )

    def _store_error(self) -> str | None:
        trouble = self.store.trouble
        return None if trouble is None else sentence_of(trouble)

    async def wait(self) -> None:
        """Wait until the gateway has ended; what nobody expected and broke it is raised."""
        if self._ended is not None:
            await asyncio.shield(self._ended)

    async def enrol(self, url: str | None) -> None:
        """Let others see that this process serves, and where."""
        self.settings = replace(self.settings, url=url)
        await self.store.database.write(
            register_gateway,
            owner=self.store.database.owner,
            host=socket.gethostname() or "localhost",
            pid=os.getpid(),
            version=version("threadline"),
            url=url,
            platforms=self.health().platforms,
        )

    async def reload(self, change: ReloadableParts) -> None:
        """Serve otherwise from the next message on; turns that run end as they began.

        All rules change in one moment. Then platforms go and come, one by one, and those that stay
        notice nothing.
        """
        async with self._changing:
            self._require_serving()
            is_same = change.settings.hooks == self.settings.hooks
            hooks = self.hooks if is_same else self._make_hooks(change.settings)
            self._adopt(change)
            if hooks is not self.hooks:
                await self._change_hooks(hooks)
            gone = {*change.going, *(platform.name for platform in change.coming)}
            await asyncio.gather(*(self._part(name) for name in gone))
            for platform in change.coming:
                self._join(platform)
            self._around = describe_platforms(self.platforms, self.settings, self.store.rules)
            self._changed.set()

    def _adopt(self, change: ReloadableParts) -> None:
        """Change everything that needs no waiting: nobody is judged by half of it."""
        stay = {name: one for name, one in self.platforms.items() if name not in change.going}
        served = {**stay, **{platform.name: platform for platform in change.coming}}
        self.settings = settings = replace(change.settings, url=self.settings.url)
        self.access.rules = with_relays(settings.access, list(served.values()))
        self.store.rules = replace(change.rules, access=self.access.rules)
        self.inbox.adopt(settings.routing, settings.default_profile, settings.access.per_minute)
        self.outbox.adopt(streams=settings.streams, secrets=settings.secrets)
        for connection in self._connections:
            connection.secrets = settings.secrets
        self._around = describe_platforms({**self.platforms, **served}, settings, change.rules)
        brief_worker(self.worker, change)

    async def _change_hooks(self, hooks: Hooks) -> None:
        self.hooks = hooks
        self.worker.keeper.on_ended = hooks.on_ended
        await self._cancel("hooks")
        await attempt(hooks.begin)
        if self._state is GatewayState.SERVING:
            self._begin("hooks", hooks.run())

    async def _part(self, name: str) -> None:
        """Serve a platform no more: what is being sent there is sent, the rest stays owed."""
        leaving = [one for one in self._connections if one.name == name]
        for connection in leaving:
            connection.shut()
        self.platforms.pop(name, None)
        await self.outbox.leave(name, SEND_OUT)
        for connection in leaving:
            await connection.close(self.settings.pace.grace)
        self._connections = [one for one in self._connections if one.name != name]
        self.meters.part(name)

    def _join(self, platform: Platform) -> None:
        """Begin to serve a platform, and to send what was owed there."""
        if self._state is not GatewayState.SERVING:
            return
        self.meters.know(platform.name)
        self.platforms[platform.name] = platform
        connection = self._connect(platform)
        self._connections.append(connection)
        connection.open(list_commands(AccessLevel.ADMIN))
        self.outbox.wake()

    def _require_serving(self) -> None:
        if self._state is not GatewayState.SERVING:
            raise Conflict("This gateway does not serve", hint="Begin it, or try again later")

    async def stop(self) -> None:
        """Take in nothing more, let running turns end for a while, send what is being sent."""
        if self._state is GatewayState.OVER:
            return
        self._state = GatewayState.STOPPING
        for connection in self._connections:
            connection.shut()
        try:
            await self._cancel("scheduler", "hooks")
            await self._settle()
            await self.worker.stop()
            if "outbox" in self._loops:
                pace = self.settings.pace
                await self.outbox.drain(max(pace.grace, min(pace.drain, SEND_OUT)))
        except BaseException:
            await self.halt()
            raise
        await self._close()
        if self._is_server:
            await attempt(self._unregister)

    async def halt(self) -> None:
        """Let go of everything at once and write nothing more, as a crash would."""
        self._state = GatewayState.STOPPING
        for connection in self._connections:
            connection.shut()
        await self._cancel(*self._loops)
        await self.worker.halt()
        await self._close()

    async def _start(self) -> None:
        if self._is_server:
            await remove_dead_gateways(self.store.database)
        # It runs before the first turn does, so that what is owed is on its way by then.
        self._begin("outbox", self.outbox.run())
        await self.hooks.begin()
        await self.worker.__aenter__()
        self._begin("worker", self.worker.wait())
        self._begin("scheduler", self.scheduler.run())
        if self._is_server:
            await self._announce()
        self._state = GatewayState.SERVING

    async def _announce(self) -> None:
        """Take in what platforms bring, call hooks, and let others see that this process serves."""
        self._begin("hooks", self.hooks.run())
        self._begin("meters", self.meters.run(self.store.database))
        await self.enrol(self.settings.url)
        for connection in self._connections:
            connection.open(list_commands(AccessLevel.ADMIN))
        self._begin("beat", self._beat())

    def _connect(self, platform: Platform) -> PlatformSupervisor:
        return PlatformSupervisor(
            platform,
            self.inbox,
            now=self.store.now,
            changed=self._changed.set,
            secrets=self.settings.secrets,
        )

    def _begin(self, name: str, loop: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(loop, name=f"threadline-{name}")
        self._loops[name] = task
        task.add_done_callback(lambda _: self._take_end(name, task))

    def _take_end(self, name: str, task: asyncio.Task[None]) -> None:
        """Remember what broke a loop of ours: that is no weather, and the gateway is not ready."""
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        log.error("The %s broke: %s", name, sentence_of(error), exc_info=error)
        if self._ended is None or self._ended.done():
            return
        self._error = sentence_of(error)
        self._ended.set_exception(error)
        self._ended.exception()  # whoever waits is told; nobody has to

    async def _unregister(self) -> None:
        database = self.store.database
        await database.write(unregister_gateway, owner=database.owner)

    async def _beat(self) -> None:
        """Say again and again that we are there, and at once when a platform's state changed."""
        while True:
            self._changed.clear()
            for connection in self._connections:
                self.meters.platform_is(connection.name, connection.health)
            self._is_heard = await attempt(self._say_beat)
            try:
                async with asyncio.timeout(self.settings.beat.total_seconds()):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _say_beat(self) -> None:
        health = self.health()
        await beat(self.store.database, health.platforms, health.places, health.servers)

    async def _cancel(self, *names: str) -> None:
        tasks = {self._loops.pop(name) for name in names if name in self._loops}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _settle(self) -> None:
        """Let what the inbox still does in the background end, for a moment."""
        grace = self.settings.pace.grace.total_seconds()
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await self.inbox.settle()

    async def _close(self) -> None:
        self._state = GatewayState.OVER
        await self._cancel(*self._loops)
        grace = self.settings.pace.grace
        await self.inbox.close(grace)
        await asyncio.gather(*(one.close(grace) for one in self._connections))
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)

    def _capabilities_of(self, platform: str) -> Capabilities:
        return self._around.capabilities.get(platform, Capabilities())

    def _look_around(self) -> PlatformDirectory:
        return self._around

    async def _run_errand(self, waited: DeferredCommandResult) -> None:
        """Do what a command that had waited leaves to do."""
        if waited.reply.errand is not None:
            await self.inbox.run(waited.reply.errand, waited.inbound)

    async def _tell_quiet(self, turn: Turn, silence: timedelta) -> None:
        """Tell whoever asked that their answer takes long."""
        minutes = max(round(silence.total_seconds() / 60), 1)
        await self._tell_about(
            turn,
            f"I have heard nothing from the agent for {minutes} min. "
            "If it stays silent as long again, I give up; /stop ends it now.",
        )

    async def _tell_about(self, turn: Turn, words: str) -> None:
        """Say something where a turn was asked, beside its answer."""
        try:
            address = await self.store.database.read(turn_address, turn.id)
        except ThreadlineError as error:
            log.warning("Nobody is told about turn %s: %s", turn.id, error)
            return
        self.inbox.tell(address, words)
