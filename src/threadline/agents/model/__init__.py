"""The model agent: answers with any model of any provider, and with the tools of MCP servers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from threadline.agents.settings import ModelSettings

if TYPE_CHECKING:
    from threadline.agents.model.agent import ModelAgent
    from threadline.agents.model.scribe import ModelScribe

__all__ = ["ModelScribe", "open_model_agent"]


@asynccontextmanager
async def open_model_agent(settings: ModelSettings) -> AsyncIterator["ModelAgent"]:
    """Open an agent with its tools; everything is closed in the end."""
    from threadline.agents.model.opening import open_agent

    async with open_agent(settings) as agent:
        yield agent


def __getattr__(name: str) -> object:
    """Load what is heavy only for whoever asks for it."""
    if name == "ModelScribe":
        from threadline.agents.model.scribe import ModelScribe

        return ModelScribe
    raise AttributeError(name)
