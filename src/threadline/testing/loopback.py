"""A server on the loopback that is there at once, and gone at once when a test ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from uvicorn.server import ServerState

from threadline.testing.breakable_proxy import BreakableConnection
from threadline.testing.deadline import HANG_SECONDS

HOST = "127.0.0.1"
GRACE = 5.0
"""Seconds in which answers may end that were under way."""


@asynccontextmanager
async def listen(
    app: Starlette, port: int = 0, *, connection: type[BreakableConnection] = BreakableConnection
) -> AsyncIterator[str]:
    """Listen on a port, or on any that is free, for as long as this lasts; gives the URL.

    uvicorn's own server looks only ten times in a second whether it shall end, which is a long
    time in a test: so it lends its connections, and we listen.
    """
    config = uvicorn.Config(
        app, access_log=False, http=connection, lifespan="off", log_config=None, ws="none"
    )
    config.load()
    state = ServerState()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: connection(config, state, {}), HOST, port)
    try:
        yield f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        await _part(state)


async def _part(state: ServerState) -> None:
    """Let answers end that are under way, and then every connection."""
    if state.tasks:
        _, late = await asyncio.wait(set(state.tasks), timeout=GRACE)
        for task in late:
            task.cancel()
    lines = [line for line in state.connections if isinstance(line, BreakableConnection)]
    for line in lines:
        line.transport.close()
    async with asyncio.timeout(HANG_SECONDS):
        await asyncio.gather(*(line.ended.wait() for line in lines))
