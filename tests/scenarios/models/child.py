"""A gateway with a model, in a process that is killed: `python -m tests.scenarios.models.child`.

It is born as the gateways of the crash tests are. Exchange and provider live elsewhere.
"""

import asyncio
import logging
import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic_ai.toolsets import FunctionToolset

from tests.agents.model.provider_agent import opened, settings_of
from tests.crash.dying_database import Fate
from tests.crash.gateway.chat_platform import GROWS
from tests.crash.gateway.child import SETTINGS, bear, tell
from tests.crash.gateway.remote_platform import Wire
from tests.doubles.providers import ProviderDouble
from threadline.agents.model.models import preload
from threadline.core.approval import ToolRules
from threadline.core.settings import Settings
from threadline.database.sqlite import SqliteDatabase
from threadline.gateway.gateway import Gateway
from threadline.store import Store
from threadline.testing.scenario import REQUESTERS

MODEL = "anthropic:claude-haiku-4-5"
NOTES = "notes"
"""The file in which the tool leaves its traces, beside the database."""


def writing(folder: Path) -> FunctionToolset[None]:
    """Make a tool whose every use can be counted afterwards."""
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool_plain
    def write(text: str) -> str:
        """Write something down."""
        with (folder / NOTES).open("a") as file:
            file.write(f"{text}\n")
        return f"{text} is written"

    return tools


async def serve(where: str, urls: str, hours: int, _: str | None) -> None:
    """Serve an exchange with a model, in so many hours from now."""
    # Nobody says anything more to us: if there is something to hear, our parent is gone.
    asyncio.get_running_loop().add_reader(0, os._exit, 1)
    exchange, provider = urls.split()
    double = ProviderDouble()
    double.url = provider
    database = SqliteDatabase(Path(where), clock=lambda: datetime.now(UTC) + timedelta(hours=hours))
    await database.open()
    store, platforms = (
        Store(database, Settings(approvers=REQUESTERS)),
        [Wire(GROWS, exchange, Fate(None))],
    )
    models = settings_of(double, MODEL, tools=ToolRules())
    async with (
        opened(models, writing(Path(where).parent)) as agent,
        Gateway(store, agent, platforms, settings=SETTINGS) as gateway,
    ):
        tell("ready", store.owner)
        await gateway.wait()


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    # What takes long to load is loaded once, before the first of them is born.
    preload(settings_of(ProviderDouble(), MODEL))
    for line in sys.stdin:
        bear(line, serve)
