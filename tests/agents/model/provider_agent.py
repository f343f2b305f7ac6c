"""An agent that speaks to the double of the providers, each in its own language."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from msgspec.structs import replace
from pydantic_ai.toolsets import FunctionToolset

from tests.agents.model.provider_settings import MODELS, settings_for
from tests.doubles.providers import ProviderDouble
from threadline.agents.model.agent import ModelAgent
from threadline.agents.model.factory import Models
from threadline.agents.model.models import open_http
from threadline.agents.model.retries import RetryLimits
from threadline.agents.model.tools import Toolset
from threadline.agents.settings import ModelSettings
from threadline.core.approval import ToolRules

NAMES = tuple(MODELS.values())
FREE = ToolRules(ask=())


def settings_of(double: ProviderDouble, name: str, *, tools: ToolRules = FREE) -> ModelSettings:
    """Configure a model that answers, and thinks before it does where it can."""
    thinks = {} if name.startswith("local:") else {"thinking": True}
    return replace(settings_for(double, name), tools=tools, options=thinks, instructions="Be kind.")


class Pauses:
    """Sleeps not at all, and remembers for how long."""

    def __init__(self) -> None:
        """Begin with none."""
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """Take a moment that lasts no time."""
        self.seconds.append(seconds)


@asynccontextmanager
async def opened(
    settings: ModelSettings,
    *toolsets: Toolset,
    sleep: Callable[[float], Awaitable[object]] | None = None,
    patience: RetryLimits | None = None,
) -> AsyncIterator[ModelAgent]:
    """Open an agent that talks to the double, without the pauses of a real one."""
    async with open_http() as http:
        yield ModelAgent(
            settings,
            Models(settings, http).find,
            toolsets=toolsets,
            patience=patience,
            sleep=sleep or Pauses(),
            chance=lambda: 1.0,
        )


def arithmetic() -> FunctionToolset[None]:
    """Make tools that can be counted on."""
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        return str(a + b)

    @tools.tool_plain
    def divide(a: int, b: int) -> str:
        """Divide one number by another."""
        return str(a / b)

    return tools
