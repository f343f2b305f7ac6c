"""Checks: whether what the settings name is there, and answers."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from threadline.agents.settings import McpServer, ModelSettings
from threadline.assembly.agent_factory import (
    acp_settings,
    list_mcp_servers,
    make_plain_agent,
    model_settings,
    needing,
)
from threadline.core.errors import ThreadlineError
from threadline.core.platform import Checked
from threadline.core.redaction import mask_secrets

if TYPE_CHECKING:
    from threadline.config import Config

WITHIN = timedelta(seconds=30)
"""How long each of them may take."""

Ask: TypeAlias = Callable[[], Awaitable[str]]


class Probe(Struct, frozen=True, kw_only=True):
    """What was looked at, and what came of it."""

    name: str
    told: str
    """Who replied, or what went wrong."""
    is_well: bool = True


class Look(Struct, frozen=True, kw_only=True):
    """How something is looked at."""

    ask: Ask
    load: Callable[[], None] | None = None
    """Imports what is needed, in a thread. A slow machine may take longer for it than an answer
    may take, so it does not count as time of the answer."""


async def probe_all(
    config: "Config", *, only: Collection[str] | None = None, within: timedelta = WITHIN
) -> AsyncIterator[Probe]:
    """Look at one thing after the other: models, servers of tools, agents, platforms.

    `only` names those that are looked at, as probes are called.
    """
    for name, look in (*_mind_looks(config), *_platform_looks(config)):
        if only is None or name in only:
            yield await _try(config, name, look, within)


async def _try(config: "Config", name: str, look: Look, within: timedelta) -> Probe:
    """Look at one thing; whatever keeps it from answering is told, without any secret."""
    try:
        if look.load is not None:
            await asyncio.to_thread(look.load)
        async with asyncio.timeout(within.total_seconds()):
            return Probe(name=name, told=await look.ask())
    except TimeoutError:
        why = f"No answer within {within.total_seconds():g} seconds."
    except ThreadlineError as error:
        why = str(error)
    return Probe(name=name, told=mask_secrets(why, _secrets(config)), is_well=False)


def _secrets(config: "Config") -> frozenset[str]:
    try:
        return config.secrets()
    except ThreadlineError:
        return frozenset()  # one of them is not where it should be, which is told elsewhere


def _mind_looks(config: "Config") -> list[tuple[str, Look]]:
    """List what can be looked at of agents: each model once, and each server of tools."""
    looks: dict[str, Look] = {}
    for profile in (None, *config.profiles):
        agent = config.agent_for(profile)
        if agent.kind == "model":
            for model in filter(None, (agent.model, *agent.fallback)):
                looks.setdefault(f"model {model}", _model_look(config, profile, model))
        elif agent.kind == "acp":
            looks.setdefault(f"agent {agent.command[0]}", _acp_look(config, profile))
        elif agent.kind == "python":
            looks.setdefault(f"agent {agent.python}", _python_look(config, profile))
    if config.scribe.model is not None:
        model = config.scribe.model
        looks.setdefault(f"model {model}", _model_look(config, None, model))
    for name in config.mcp:
        looks[f"mcp {name}"] = _server_look(config, name)
    return list(looks.items())


def _model_look(config: "Config", profile: str | None, model: str) -> Look:
    def load() -> None:
        with needing("models", "A model"):
            from threadline.agents.model.models import preload

            preload(model_settings(config, profile))

    async def ask() -> str:
        from threadline.agents.model.models import ask_once

        settings: ModelSettings = model_settings(config, profile)
        with needing("models", "A model"):
            return await ask_once(settings, model)

    return Look(ask=ask, load=load)


def _acp_look(config: "Config", profile: str | None) -> Look:
    async def ask() -> str:
        settings = acp_settings(config, profile)
        path = settings.environment.get("PATH")
        found = await asyncio.to_thread(shutil.which, settings.command[0], path=path)
        if found is None:
            raise ThreadlineError("There is no such program", id=settings.command[0])
        return f"It is {found}."

    return Look(ask=ask)


def _python_look(config: "Config", profile: str | None) -> Look:
    async def ask() -> str:
        make_plain_agent(config.agent_for(profile))
        return "It can be loaded."

    return Look(ask=ask)


def _server_look(config: "Config", name: str) -> Look:
    def load() -> None:
        with needing("models", "A server of tools"):
            import_module("threadline.agents.model.mcp_client")

    async def ask() -> str:
        from threadline.agents.model.mcp_client import McpClient

        server: McpServer = next(one for one in list_mcp_servers(config) if one.name == name)
        link = McpClient(server)
        try:
            number = len(await link.tools())
        finally:
            await link.close()
        return f"It has {number:,} {'tool' if number == 1 else 'tools'}."

    return Look(ask=ask, load=load)


def _platform_looks(config: "Config") -> list[tuple[str, Look]]:
    names = [name for name, one in config.platforms.items() if one.enabled]
    return [(f"platform {name}", _platform_look(config, name)) for name in names]


def _platform_look(config: "Config", name: str) -> Look:
    async def ask() -> str:
        from threadline.assembly import make_platform

        platform = make_platform(config, name)
        return (
            await platform.check() if isinstance(platform, Checked) else "Its settings are right."
        )

    return Look(ask=ask)
