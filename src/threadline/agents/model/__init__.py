"""The model agent: answers with any model of any provider, and with the tools of MCP servers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from threadline.agents.settings import ModelSettings

if TYPE_CHECKING:
    from threadline.agents.model.agent import ModelAgent
    from threadline.agents.model.summarizer import ModelSummarizer

__all__ = ["ModelSummarizer", "open_model_agent"]


@asynccontextmanager
async def open_model_agent(settings: ModelSettings) -> AsyncIterator["ModelAgent"]:
    """Open an agent with its tools; everything is closed in the end."""
    from threadline.agents.model.factory import open_model_tools

    async with open_model_tools(settings) as agent:
        yield agent


def __getattr__(name: str) -> object:
    """Load what is heavy only for whoever asks for it."""
    if name == "ModelSummarizer":
        from threadline.agents.model.summarizer import ModelSummarizer

        return ModelSummarizer
    raise AttributeError(name)
