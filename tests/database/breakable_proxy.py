"""A proxy in front of PostgreSQL that loses the connection while a transaction commits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path

COMMIT = b"Q\0\0\0\x0bCOMMIT\0"
"""The message by which a client asks to commit."""


class Loss(StrEnum):
    """What of a commit is lost."""

    REQUEST = "request"
    """The server never learns of it, nor that its client is gone."""
    BOTH = "both"
    """The server does not learn of it, but that its client is gone."""
    RESPONSE = "response"
    """The server commits, and its client does not learn of it."""


class BreakableProxy:
    """Passes everything on, except for the next commits."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self.losses: list[Loss] = []
        """What the next commits lose, in this order."""
        self._writers: list[asyncio.StreamWriter] = []

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect a client to the server, until one of them is gone."""
        back, forth = await asyncio.open_unix_connection(str(self._socket))
        self._writers += [writer, forth]
        answers = asyncio.create_task(self._pass_on(back, writer))
        try:
            while data := await reader.read(65536):
                if data == COMMIT and self.losses:
                    match self.losses.pop(0):
                        case Loss.REQUEST:
                            return writer.close()
                        case Loss.BOTH:
                            forth.close()
                        case Loss.RESPONSE:
                            answers.cancel()
                            await asyncio.wait({answers})
                            forth.write(data)
                            await back.read(1)
                    return writer.close()
                forth.write(data)
                await forth.drain()
            forth.close()
        except ConnectionError:
            forth.close()
        finally:
            await asyncio.gather(answers, return_exceptions=True)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()

    def close(self) -> None:
        """End all connections."""
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def breakable(folder: Path) -> AsyncIterator[tuple[BreakableProxy, int]]:
    """Serve a proxy for the server whose socket is in a folder; give its port."""
    (socket,) = (path for path in folder.glob(".s.PGSQL.*") if not path.name.endswith(".lock"))
    proxy = BreakableProxy(socket)
    server = await asyncio.start_server(proxy.connect, "127.0.0.1", 0)
    try:
        yield proxy, server.sockets[0].getsockname()[1]
    finally:
        proxy.close()
        server.close()
        await server.wait_closed()
