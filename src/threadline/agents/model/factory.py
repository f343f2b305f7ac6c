"""Factory: its connections, its models as they are needed, and its tools."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx2
from pydantic_ai.models import Model

from threadline.agents.model.agent import ModelAgent
from threadline.agents.model.mcp_tools import open_servers
from threadline.agents.model.models import make_model, open_http, preload
from threadline.agents.settings import ModelSettings


@asynccontextmanager
async def open_model_tools(settings: ModelSettings) -> AsyncIterator[ModelAgent]:
    """Open an agent with its tools; everything is closed in the end."""
    # It takes seconds, and the first turn shall not wait for it, nor anybody else.
    await asyncio.to_thread(preload, settings)
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(open_http())
        toolsets = await stack.enter_async_context(open_servers(settings.servers))
        yield ModelAgent(settings, Models(settings, http).find, toolsets=toolsets)


class Models:
    """Makes each model once; they share their connections."""

    def __init__(self, settings: ModelSettings, http: httpx2.AsyncClient) -> None:
        """Begin with none."""
        self._settings = settings
        self._http = http
        self._made: dict[tuple[str, str | None], Model] = {}

    def find(self, name: str, base_url: str | None) -> Model:
        """Find a model, or make it."""
        key = (name, base_url)
        if key not in self._made:
            self._made[key] = make_model(self._settings, name, base_url, http=self._http)
        return self._made[key]
