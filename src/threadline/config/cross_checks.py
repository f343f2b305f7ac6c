"""Cross checks: what settings must be to each other, beyond what each must be by itself."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from threadline.config.agent_section import NAMED_BY, AgentSettings, AgentType, SummarizerSettings
from threadline.config.provider_section import KNOWN
from threadline.config.setting_schema import find_node, must_be
from threadline.core.errors import ConfigError
from threadline.core.target import RESERVED_PLATFORMS

if TYPE_CHECKING:
    from threadline.config import Config


def check_consistency(config: "Config") -> None:
    """Refuse settings of which each is right by itself, but not beside the others."""
    for key, agent in agents_of(config):
        _check_agent(config, key, agent)
    _check_models(config, "scribe", config.scribe)
    for name, server in config.mcp.items():
        if bool(server.command) == (server.url is not None):
            has = "both" if server.command else "none"
            wish = "It must have either a command to run or a url to call"
            raise _mistake(config, f"mcp.{name}", f"has {has} of command and url", wish)
        for other in config.mcp:
            # A tool of one server could pass for that of the other.
            if name.startswith(f"{other}_"):
                wish = f"No name may be that of another server, {other}, with _ and more behind it"
                what = f"has tools that look like those of {other}"
                raise _mistake(config, f"mcp.{name}", what, wish)
    for name in config.platforms:
        if name in RESERVED_PLATFORMS:
            wish = f"Choose another name than {', '.join(sorted(RESERVED_PLATFORMS))}"
            raise _mistake(config, f"platforms.{name}", "has a reserved name", wish)
    for name, provider in config.providers.items():
        if name not in KNOWN and not provider.base_url:
            wish = "It must be an address, as nobody knows where this provider is"
            raise _mistake(config, f"providers.{name}.base_url", "is missing", wish)


def agents_of(config: "Config") -> Iterator[tuple[str, AgentSettings]]:
    """Walk over the agent of all profiles and those of single ones, by the keys of their tables."""
    yield "agent", config.agent
    for name, profile in config.profiles.items():
        if profile.agent is not None:
            yield f"profiles.{name}.agent", config.agent_for(name)


def _check_agent(config: "Config", key: str, agent: AgentSettings) -> None:
    if agent.type is AgentType.AUTO and len(agent.named) > 1:
        made = " and ".join(f"{key}.{NAMED_BY[kind]}" for kind in agent.named)
        wish = f"It must be one of {', '.join(agent.named)}"
        raise _mistake(config, f"{key}.type", f"does not say which of {made} answers", wish)
    needed = NAMED_BY.get(agent.kind)
    if needed is not None and not getattr(agent, needed):
        wish = f"It must be {must_be(find_node((needed,), AgentSettings) or {})}"
        raise _mistake(config, f"{key}.{needed}", "is missing", wish)
    _check_models(config, key, agent)


def _check_models(config: "Config", key: str, table: AgentSettings | SummarizerSettings) -> None:
    """Refuse a model of a provider that nobody knows."""
    names = sorted({*KNOWN, *config.providers})
    for setting in ("model", "fallback", "models"):
        value = getattr(table, setting, None) or ()
        for model in (value,) if isinstance(value, str) else value:
            provider = model.partition(":")[0]
            if provider not in names:
                hint = f"There is no provider {provider}; there are: {', '.join(names)}"
                raise _mistake(config, f"{key}.{setting}", f"cannot be {model[:80]!r}", hint)


def _mistake(config: "Config", key: str, what: str, hint: str) -> ConfigError:
    return ConfigError(f"{key} {what}", id=config.source_of(key), hint=hint)
