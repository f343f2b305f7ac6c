"""A line to a server: one connection, kept open, on which one request follows the other.

It does as little as can be done, so that what is timed is the server.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

_LENGTH = b"content-length: "


class Line:
    """Asks for one thing after the other."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str
    ) -> None:
        """Speak through an open connection."""
        self._reader = reader
        self._writer = writer
        self._headers = f" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"

    async def get(self, path: str) -> bytes:
        """Answer what is found under a path."""
        self._writer.write(f"GET {path}{self._headers}".encode())
        head = (await self._reader.readuntil(b"\r\n\r\n")).lower()
        if not head.startswith(b"http/1.1 200 "):
            raise ValueError(f"{path} is not there: {head[:30]!r}")
        length = head[head.index(_LENGTH) + len(_LENGTH) :].partition(b"\r\n")[0]
        return await self._reader.readexactly(int(length))


@asynccontextmanager
async def open_line(url: str, token: str) -> AsyncIterator[Line]:
    """Connect to a server on this machine."""
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        yield Line(reader, writer, token)
    finally:
        writer.close()
        await writer.wait_closed()
