"""Agent factory: the agents and scribes that the settings name, each for its profile."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from threadline.agents.settings import AcpSettings, Api, McpServer, ModelSettings, Provider
from threadline.core.agent import Agent
from threadline.core.errors import ConfigError
from threadline.core.route import canonical_profile
from threadline.core.summarizer import Summarizer

if TYPE_CHECKING:
    from threadline.config import Config
    from threadline.config.agent_section import AgentSettings


@asynccontextmanager
async def open_agent(config: "Config") -> AsyncIterator[tuple[Agent, Summarizer]]:
    """Make whoever answers and whoever writes titles and summaries, with the tools they need."""
    async with AsyncExitStack() as stack:
        agent, scribe = await _open_mind(stack, config, None)
        own = {
            canonical_profile(name): await _open_mind(stack, config, name)
            for name, profile in config.profiles.items()
            if profile.agent is not None or profile.tools is not None
        }
        if own:
            from threadline.agents.profiles import ByProfile, SummarizerByProfile

            agent = ByProfile({name: mind[0] for name, mind in own.items()}, agent)
            scribe = SummarizerByProfile({name: mind[1] for name, mind in own.items()}, scribe)
        yield agent, scribe


def name_agent(config: "Config", profile: str | None = None) -> str:
    """Say in a word or two who answers."""
    agent = config.agent_for(profile)
    if agent.kind == "acp":
        return Path(agent.command[0]).name
    named = {"model": agent.model, "python": agent.python}
    return named.get(agent.kind) or "echo"


async def _open_mind(
    stack: AsyncExitStack, config: "Config", profile: str | None
) -> tuple[Agent, Summarizer]:
    kind = config.agent_for(profile).kind
    if kind == "model":
        settings = model_settings(config, profile)
        with needing("models", "A model"):
            from threadline.agents.model import open_model_agent

            agent: Agent = await stack.enter_async_context(open_model_agent(settings))
    elif kind == "acp":
        with needing("acp", "An ACP agent"):
            from threadline.agents.acp import open_acp_agent

            agent = await stack.enter_async_context(open_acp_agent(acp_settings(config, profile)))
    else:
        agent = make_plain_agent(config.agent_for(profile))
    return agent, make_scribe(config, profile)


def make_plain_agent(agent: "AgentSettings") -> Agent:
    """Make an agent that needs nothing to be opened first: yours in Python, or the echo."""
    if agent.kind == "python" and agent.python is not None:
        from threadline.agents.python import load_agent

        return load_agent(agent.python)
    from threadline.agents.echo import Echo

    return Echo()


def has_model(config: "Config") -> bool:
    """Tell whether any model answers or writes here; without one, first words are title enough."""
    kinds = {config.agent_for(profile).kind for profile in (None, *config.profiles)}
    return "model" in kinds or config.scribe.model is not None


def make_scribe(config: "Config", profile: str | None = None) -> Summarizer:
    """Make the scribe: a model where there is one, else the one that needs none."""
    if config.agent_for(profile).kind == "model" or config.scribe.model is not None:
        settings = model_settings(config, profile)
        with needing("models", "A model"):
            from threadline.agents.model import ModelSummarizer

            return ModelSummarizer(settings)
    from threadline.agents.echo import EchoSummarizer

    return EchoSummarizer()


def model_settings(config: "Config", profile: str | None = None) -> ModelSettings:
    """Answer what a model must know of the settings, its keys fetched from their places."""
    agent = config.agent_for(profile)
    rules, by_platform = config.tools_for(profile)
    model = agent.model if agent.kind == "model" else config.scribe.model
    return ModelSettings(
        model=model or "",
        fallback=agent.fallback,
        providers=providers_of(config),
        servers=list_mcp_servers(config),
        tools=rules,
        tools_by_platform=by_platform,
        instructions=agent.instructions,
        personalities=agent.personalities,
        options=_table(config, _key(config, profile, "options"), agent.options),
        max_steps=agent.max_steps,
        context_tokens=agent.context_tokens,
        scribe=config.scribe.model,
    )


def acp_settings(config: "Config", profile: str | None = None) -> AcpSettings:
    """Answer what an ACP agent must know of the settings."""
    agent = config.agent_for(profile)
    rules, by_platform = config.tools_for(profile)
    return AcpSettings(
        command=_words(config, _key(config, profile, "command"), agent.command),
        environment=_words_of(config, _key(config, profile, "environment"), agent.environment),
        folder=_folder(config, _key(config, profile, "folder"), agent.folder),
        tools=rules,
        tools_by_platform=by_platform,
        servers=list_mcp_servers(config),
        instructions=agent.instructions,
    )


def list_mcp_servers(config: "Config") -> tuple[McpServer, ...]:
    """List the servers of tools, with their secrets fetched from their places."""
    return tuple(
        McpServer(
            name=name,
            command=_words(config, f"mcp.{name}.command", one.command),
            environment=_words_of(config, f"mcp.{name}.environment", one.environment),
            folder=_folder(config, f"mcp.{name}.folder", one.folder),
            url=one.url,
            headers=_words_of(config, f"mcp.{name}.headers", one.headers),
            timeout_seconds=one.timeout_seconds,
        )
        for name, one in config.mcp.items()
    )


def providers_of(config: "Config") -> dict[str, Provider]:
    """List the providers that can be called; one that a setting names must have its key."""
    from threadline.config.provider_section import KNOWN

    needed, found = config.needed_providers, {}
    for name in (*KNOWN, *(name for name in config.providers if name not in KNOWN)):
        if not can_call(config, name):
            if name in needed:
                raise _missing_key(name, KNOWN[name].variables[0], needed[name])
            continue
        made = config.provider_for(name)
        found[name] = Provider(
            name=name,
            api=Api(str(made.api)),
            base_url=made.base_url,
            api_version=made.api_version,
            api_key=made.api_key,
        )
    return found


def can_call(config: "Config", name: str) -> bool:
    """Tell whether a provider is known, and has its key or asks for none."""
    from threadline.config.provider_section import KNOWN

    known, own = KNOWN.get(name), config.providers.get(name)
    if known is None or not known.asks_for_key:
        return known is not None or own is not None
    is_keyless = own is not None and bool(own.base_url or own.api_key == "")
    return is_keyless or config.provider_for(name).api_key is not None


def _missing_key(name: str, variable: str, wanted_by: str) -> ConfigError:
    hint = f"Set the variable {variable}, or api_key in [providers.{name}]"
    return ConfigError(f"providers.{name}.api_key is missing", id=wanted_by, hint=hint)


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Say which extra to install where a package is missing."""
    try:
        yield
    except ImportError as error:
        if (error.name or "").partition(".")[0] == "threadline":
            raise  # this is no package of others
        hint = f"Run: pip install 'threadline[{extra}]'"
        raise ConfigError(f"{what} needs an extra package", id=error.name, hint=hint) from error


def _key(config: "Config", profile: str | None, name: str) -> str:
    """Name the setting from which a profile has something: its own, or that of all."""
    own = None if profile is None else config.profiles[profile].agent
    is_own = own is not None and name in own.model_fields_set
    return f"profiles.{profile}.agent.{name}" if is_own else f"agent.{name}"


def _table(config: "Config", key: str, table: Mapping[str, object]) -> dict[str, object]:
    return {name: config.fetch(f"{key}.{name}", value) for name, value in table.items()}


def _words_of(config: "Config", key: str, table: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in _table(config, key, table).items()}


def _words(config: "Config", key: str, words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(config.fetch(key, word)) for word in words)


def _folder(config: "Config", key: str, folder: str | None) -> str | None:
    return None if folder is None else str(config.place_of(key, folder))
