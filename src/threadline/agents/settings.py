"""What an agent has to know of the configuration."""

from collections.abc import Mapping
from enum import StrEnum
from urllib.parse import urlsplit

from msgspec import Struct, field

from threadline.core.approval import ToolRules

MAX_STEPS = 50
"""How often a model may be called in one turn."""


class Api(StrEnum):
    """The language in which a provider is spoken to."""

    OPENAI = "openai"
    """OpenAI's Responses."""
    OPENAI_CHAT = "openai-chat"
    """OpenAI's Chat Completions: what compatible servers speak, such as Ollama, vLLM, LM Studio."""
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    OPENROUTER = "openrouter"


class Provider(Struct, frozen=True, kw_only=True):
    """Somebody who runs models, by the name that stands before the colon of a model."""

    name: str
    api: Api
    base_url: str | None = None
    """None: the provider's own."""
    api_version: str | None = None
    """The version in the paths of Google's API. None: the one that serves all its models."""
    api_key: str | None = None
    """None: it asks for none."""

    def __repr__(self) -> str:
        """Show everything but the key."""
        return f"Provider(name={self.name!r}, api={self.api!r}, base_url={self.base_url!r})"


class McpServer(Struct, frozen=True, kw_only=True):
    """A server whose tools the agent may use: a program to run, or an address."""

    name: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 60

    def __repr__(self) -> str:
        """Show everything but the variables and headers, which may hold keys."""
        return f"McpServer(name={self.name!r}, command={self.command!r}, url={self.url!r})"

    @property
    def speaks_sse(self) -> bool:
        """Whether the address is of the older transport, which is named after it: `…/sse`."""
        path = "" if self.url is None else urlsplit(self.url).path
        return path.rstrip("/").endswith("/sse")


class ModelSettings(Struct, frozen=True, kw_only=True):
    """How a model answers. Models are named `provider:model`."""

    model: str
    fallback: tuple[str, ...] = ()
    """Tried in this order when the one before cannot answer."""
    providers: Mapping[str, Provider] = field(default_factory=dict)
    servers: tuple[McpServer, ...] = ()
    tools: ToolRules = ToolRules()
    tools_by_platform: Mapping[str, ToolRules] = field(default_factory=dict)
    instructions: str = ""
    """Who the agent is, in the owner's words."""
    personalities: Mapping[str, str] = field(default_factory=dict)
    """Other instructions, by the name that a session may choose."""
    options: Mapping[str, object] = field(default_factory=dict)
    """What is asked of every model: temperature, max_tokens, thinking, and so on."""
    max_steps: int = MAX_STEPS
    context_tokens: int | None = None
    """How much the model can read at once; None: as its provider says."""
    scribe: str | None = None
    """The model that writes titles and summaries; None: the one that answers."""

    def rules_for(self, platform: str) -> ToolRules:
        """Answer which tools there are on a platform."""
        return self.tools_by_platform.get(platform, self.tools)


class AcpSettings(Struct, frozen=True, kw_only=True):
    """How an agent is run that speaks the Agent Client Protocol."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    """Where it works, unless the session has a workspace."""
    tools: ToolRules = ToolRules()
    tools_by_platform: Mapping[str, ToolRules] = field(default_factory=dict)
    servers: tuple[McpServer, ...] = ()
    instructions: str = ""
