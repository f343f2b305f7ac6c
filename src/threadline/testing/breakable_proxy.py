"""Lines that can be cut while something is said."""

import asyncio
from typing import Any

from starlette.types import Receive, Scope, Send

from threadline.web.connections import HttpConnection

_CUT = "threadline.cut"


class BreakableConnection(HttpConnection):
    """A connection that lets whoever answers on it cut it."""

    def __init__(self, *args: Any, **named: Any) -> None:
        """Hand what cuts it to the application."""
        super().__init__(*args, **named)
        self._answer = self.app
        self.app = self._call
        self.ended = asyncio.Event()

    def connection_lost(self, exc: Exception | None) -> None:
        """Say that it has ended."""
        super().connection_lost(exc)
        self.ended.set()

    async def _call(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[_CUT] = self.transport.close
        await self._answer(scope, receive, send)


async def cut_line(scope: Scope, receive: Receive) -> None:
    """Cut the line on which a request came, after what was said on it has left."""
    scope[_CUT]()
    await wait_for_end(receive)


async def wait_for_end(receive: Receive) -> None:
    """Wait until the other side is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
