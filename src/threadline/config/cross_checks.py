"""Cross checks: what settings must be to each other, beyond what each must be by itself."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from threadline.config.agent_section import NAMED_BY, AgentSettings, AgentType, SummarizerSettings
from threadline.config.errors import find_origin
from threadline.config.provider_section import KNOWN, McpSettings
from threadline.core.errors import ConfigError
from threadline.core.target import RESERVED_PLATFORMS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from threadline.config import Config


def check_consistency(config: "Config", origins: "Mapping[str, str]") -> None:
    """Refuse settings of which each is right by itself, but not beside the others."""
    for key, agent in agents_of(config):
        _check_agent(config, key, agent, origins)
    _check_models(config, "scribe", config.scribe, origins)
    for name, server in config.mcp.items():
        _check_server(f"mcp.{name}", server, origins)
        _check_server_name(name, config.mcp, origins)
    for name in config.platforms:
        if name in RESERVED_PLATFORMS:
            wish = f"Choose another name than {', '.join(sorted(RESERVED_PLATFORMS))}"
            raise _mistake(f"platforms.{name} has a reserved name", wish, origins)
    for name, provider in config.providers.items():
        if name not in KNOWN and not provider.base_url:
            wish = "It must be an address, as nobody knows where this provider is"
            raise _mistake(f"providers.{name}.base_url is missing", wish, origins)


def agents_of(config: "Config") -> Iterator[tuple[str, AgentSettings]]:
    """Walk over the agent of all profiles and those of single ones, by the keys of their tables."""
    yield "agent", config.agent
    for name, profile in config.profiles.items():
        if profile.agent is not None:
            yield f"profiles.{name}.agent", config.agent_for(name)


def _check_agent(
    config: "Config", key: str, agent: AgentSettings, origins: "Mapping[str, str]"
) -> None:
    if agent.type is AgentType.AUTO and len(agent.named) > 1:
        made = " and ".join(f"{key}.{NAMED_BY[kind]}" for kind in agent.named)
        wish = f"It must be one of {', '.join(agent.named)}"
        raise _mistake(f"{key}.type does not say which of {made} answers", wish, origins)
    needed = NAMED_BY.get(agent.kind)
    if needed is not None and not getattr(agent, needed):
        wish = f"It must be {AgentSettings.model_fields[needed].description}"
        raise _mistake(f"{key}.{needed} is missing", wish, origins)
    _check_models(config, key, agent, origins)


def _check_models(
    config: "Config",
    key: str,
    table: AgentSettings | SummarizerSettings,
    origins: "Mapping[str, str]",
) -> None:
    """Refuse a model of a provider that nobody knows."""
    names = sorted({*KNOWN, *config.providers})
    for setting in ("model", "fallback", "models"):
        value = getattr(table, setting, None) or ()
        for model in (value,) if isinstance(value, str) else value:
            provider = model.partition(":")[0]
            if provider not in names:
                sentence = f"{key}.{setting} cannot be {model[:80]!r}"
                hint = f"There is no provider {provider}; there are: {', '.join(names)}"
                raise _mistake(sentence, hint, origins)


def _check_server(key: str, server: McpSettings, origins: "Mapping[str, str]") -> None:
    if bool(server.command) == (server.url is not None):
        wish = "It must have either a command to run or a url to call"
        has = "both" if server.command else "none"
        raise _mistake(f"{key} has {has} of command and url", wish, origins)


def _check_server_name(
    name: str, servers: "Mapping[str, McpSettings]", origins: "Mapping[str, str]"
) -> None:
    """Refuse a name with which a tool of one server could pass for that of another."""
    for other in servers:
        if name.startswith(f"{other}_"):
            wish = f"No name may be that of another server, {other}, with _ and more behind it"
            raise _mistake(f"mcp.{name} has tools that look like those of {other}", wish, origins)


def _mistake(sentence: str, hint: str, origins: "Mapping[str, str]") -> ConfigError:
    way = tuple(sentence.partition(" ")[0].split("."))
    return ConfigError(sentence, id=find_origin(way, origins), hint=hint)
