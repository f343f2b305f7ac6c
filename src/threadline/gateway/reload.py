"""Reload: what a gateway that serves becomes from the next message on."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.access import AccessRules
from threadline.core.agent import Agent
from threadline.core.platform import Platform, PlatformDirectory
from threadline.core.settings import Settings
from threadline.core.summarizer import Summarizer
from threadline.core.target import likely_address
from threadline.gateway.concurrency import TurnSlots
from threadline.gateway.settings import GatewaySettings
from threadline.gateway.worker import Worker


class ReloadableParts(Struct, frozen=True, kw_only=True):
    """Everything that may become different without a restart."""

    settings: GatewaySettings
    rules: Settings
    agent: Agent
    """Who answers the turns that begin from now on."""
    scribe: Summarizer | None = None
    coming: Sequence[Platform] = ()
    """Platforms that are new, or take the place of one with the same name."""
    going: Collection[str] = ()
    """Names of platforms that are served no more. What is owed there stays owed."""


def brief_worker(worker: Worker, change: ReloadableParts) -> None:
    """Let a worker go by a change; the turns that run end as they began."""
    settings = change.settings
    worker.answering.agent = change.agent
    worker.upkeep.adopt(change.scribe, compact_at=settings.compact_at, titles=settings.titles)
    worker.seats = TurnSlots(settings.concurrency, settings.per_profile)
    worker.silence.most = settings.pace.inactivity
    worker.pace = replace(worker.pace, drain=settings.pace.drain)
    worker.wake()


def describe_platforms(
    platforms: Mapping[str, Platform], settings: GatewaySettings, rules: Settings
) -> PlatformDirectory:
    """Put together what agents are told of the platforms around them."""
    return PlatformDirectory(
        capabilities={name: one.capabilities for name, one in platforms.items()},
        notes={name: one.notes for name, one in platforms.items()},
        instructions=settings.instructions,
        homes=tuple(likely_address(home) for home in rules.homes.values()),
        redact=settings.redact,
    )


def with_relays(rules: AccessRules, platforms: Collection[Platform]) -> AccessRules:
    """Let those go on after a restart for whom an authenticated connector had answered."""
    relays = (platform.name for platform in platforms if platform.capabilities.relays)
    return replace(rules, relays=frozenset({*rules.relays, *relays}))
