"""Reloading: settings that are read again while a gateway serves, and hold from then on."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from threadline.assembly import (
    check_platforms,
    gateway_settings,
    make_platform,
    make_platforms,
    open,
    public_settings,
)
from threadline.assembly.agent_factory import acp_settings, model_settings, open_agent
from threadline.assembly.agent_lifetime import AgentLifetime
from threadline.config.setting_list import changed_at_start
from threadline.config.settings_writer import change_settings
from threadline.core.agent import Agent
from threadline.core.errors import ThreadlineError
from threadline.core.platform import Platform
from threadline.core.redaction import mask_secrets
from threadline.core.revision import Seen
from threadline.core.summarizer import Summarizer
from threadline.gateway.background_tasks import log_failure
from threadline.gateway.gateway import Gateway
from threadline.gateway.reload import ReloadableParts
from threadline.gateway.user_callables import find_function
from threadline.store.gateways import note_settings

if TYPE_CHECKING:
    from threadline.config import Config
    from threadline.config.config_source import Source

log = logging.getLogger("threadline.gateway")


class Reload(Struct, frozen=True, kw_only=True):
    """What came of it when settings were read again."""

    config: "Config"
    failures: Mapping[str, str]
    """What could not be made, by its table, and why: there everything is as it was."""
    restart: tuple[str, ...]
    """Changed settings that hold only after a restart."""


class Reloader:
    """Knows which settings a gateway goes by, changes them, and lets it go by others."""

    def __init__(
        self, source: "Source", config: "Config", gateway: Gateway, mind: "AgentSetup"
    ) -> None:
        """Reload a gateway that was made with these settings."""
        self.source, self.gateway = source, gateway
        source.secrets.update(config.secrets())
        self.config = config
        """The settings as they are now."""
        self.profiles = set(config.known_profiles)
        """The profiles that are known now; the same set for as long as the process lives."""
        self._started = config
        self._served = {name: _platform_of(config, name) for name in _wanted(config)}
        self._mind = mind
        self._retiring: dict[asyncio.Task[None], AgentLifetime] = {}
        self._listeners: list[Callable[[Config], None]] = []
        self._lock = asyncio.Lock()

    def listen(self, listener: "Callable[[Config], None]") -> None:
        """Tell somebody of all settings that hold from now on."""
        self._listeners.append(listener)

    async def change(
        self,
        changes: Mapping[str, object],
        seen: Seen | None = None,
        *,
        written: Callable[[], Awaitable[None]] | None = None,
    ) -> Reload:
        """Write settings into the file, by their dotted names, and go by them; None unsets one.

        `seen` are the revisions of which the file must have one: else it is `Stale`. `written` is
        called as soon as they stand in the file, whether or not they can be gone by.
        """
        async with self._lock:
            config = await asyncio.to_thread(
                change_settings,
                self.source,
                changes,
                show=show_settings,
                check=check_all,
                seen=seen,
            )
            if written is not None:
                await written()
            return await self._go_by(config)

    async def reload(self) -> Reload:
        """Read the settings again, and go by them; what is wrong with them is raised."""
        async with self._lock:
            config = await asyncio.to_thread(self.source.load)
            await asyncio.to_thread(check_platforms, config)
            return await self._go_by(config)

    async def close(self) -> None:
        """Let go of everybody who answered here."""
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(
            self._mind.tenure.close(), *(one.close() for one in self._retiring.values())
        )

    async def _go_by(self, config: "Config") -> Reload:
        settings, failures = gateway_settings(config), dict[str, str]()
        # Before anything is made of them that could write one into the log.
        self.source.secrets.update(settings.secrets)
        # Whoever still goes on as before may tell of an old one.
        settings = replace(settings, secrets=frozenset(self.source.secrets))
        served, coming = self._make_platforms(config, failures)
        mind = await self._find_mind(config, failures)
        change = ReloadableParts(
            settings=settings,
            rules=replace(config.rules(), lease=self.gateway.store.rules.lease),
            agent=mind.agent,
            scribe=mind.scribe,
            coming=coming,
            going=[name for name in self._served if name not in served],
        )
        try:
            await self.gateway.reload(change)
        except BaseException:
            if mind is not self._mind:
                await mind.tenure.close()
            raise
        self._served = served
        self._change_mind(mind)
        self._become(config)
        await self.gateway.store.database.write(note_settings)
        told = {key: mask_secrets(why, settings.secrets) for key, why in failures.items()}
        for key, why in told.items():
            log.warning("The settings hold, but for %s: %s", key, why)
        restart = changed_at_start(self._started, config)
        return Reload(config=config, failures=told, restart=restart)

    def _make_platforms(
        self, config: "Config", failures: dict[str, str]
    ) -> tuple[dict[str, object], list[Platform]]:
        """Make what is new or other than before; what cannot be made stays as it was."""
        served: dict[str, object] = {}
        coming: list[Platform] = []
        for name in _wanted(config):
            wanted, before = _platform_of(config, name), self._served.get(name)
            try:
                if wanted != before:
                    coming.append(make_platform(config, name))
                served[name] = wanted
            except ThreadlineError as error:
                failures[f"platforms.{name}"] = str(error)
                if before is not None:
                    served[name] = before
        return served, coming

    async def _find_mind(self, config: "Config", failures: dict[str, str]) -> "AgentSetup":
        """Open whoever answers now, unless they are the same; else those before go on."""
        try:
            made_of = minds_of(config)
            if made_of != self._mind.made_of:
                return await open_mind(config)
        except ThreadlineError as error:
            failures["agent"] = str(error)
        return self._mind

    def _change_mind(self, mind: "AgentSetup") -> None:
        if mind is self._mind:
            return
        leaving, self._mind = self._mind.tenure, mind
        task = asyncio.create_task(leaving.retire(), name="an agent retires")
        self._retiring[task] = leaving
        task.add_done_callback(self._take_end)

    def _take_end(self, task: asyncio.Task[None]) -> None:
        self._retiring.pop(task, None)
        log_failure(task)

    def _become(self, config: "Config") -> None:
        self.config = config
        self.profiles.clear()
        self.profiles.update(config.known_profiles)
        for listener in self._listeners:
            listener(config)


class AgentSetup(Struct, frozen=True, kw_only=True):
    """Who answers and who writes, and of what settings they were made."""

    agent: Agent
    scribe: Summarizer
    tenure: AgentLifetime
    made_of: object


async def open_mind(config: "Config") -> AgentSetup:
    """Open whoever answers and writes by these settings."""
    tenure = AgentLifetime(open_agent(config))
    agent, scribe = await tenure.begin()
    return AgentSetup(agent=agent, scribe=scribe, tenure=tenure, made_of=minds_of(config))


@asynccontextmanager
async def prepare_reloading(source: "Source") -> AsyncIterator[Reloader]:
    """Open the store of the settings for a gateway that is not begun yet, and can be changed."""
    config = source.load()
    settings, platforms = gateway_settings(config), make_platforms(config)
    where = config.database if config.is_server else config.path
    mind = await open_mind(config)
    reloading: Reloader | None = None
    try:
        async with open(where, rules=config.rules()) as store:
            gateway = Gateway(store, mind.agent, platforms, settings=settings, scribe=mind.scribe)
            reloading = Reloader(source, config, gateway, mind)
            yield reloading
    finally:
        await (mind.tenure.close() if reloading is None else reloading.close())


def check_all(config: "Config") -> None:
    """Refuse settings by which a gateway could not serve, without changing anything."""
    check_platforms(config)
    gateway_settings(config)
    minds_of(config)
    for name in _wanted(config):
        make_platform(config, name)
    for names in config.hooks.model_dump().values():
        for name in names:
            find_function(name)


def show_settings(config: "Config") -> dict[str, object]:
    """Answer all settings as anybody may see them."""
    return {key: value for key, value, _ in config.settings(public_settings(config))}


def minds_of(config: "Config") -> object:
    """Answer all that decides who answers and writes, with the keys that are sent along."""
    return {profile: list(_mind_of(config, profile)) for profile in (None, *config.profiles)}


def _mind_of(config: "Config", profile: str | None) -> Iterator[object]:
    agent = config.agent_for(profile)
    yield (agent.kind, agent.python)
    if agent.kind == "model" or config.scribe.model is not None:
        yield model_settings(config, profile)
    if agent.kind == "acp":
        yield acp_settings(config, profile)


def _wanted(config: "Config") -> list[str]:
    return [name for name, one in config.platforms.items() if one.enabled]


def _platform_of(config: "Config", name: str) -> object:
    """Answer all that decides how a platform is made."""
    return config.platforms[name].type, config.platform_settings(name)
