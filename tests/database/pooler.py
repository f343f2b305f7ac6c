"""A connection pooler in front of PostgreSQL: it speaks the protocol, one message at a time.

Like pgbouncer it logs clients in by itself, tells them the id of a process that does not exist, and
lends a server connection for a session or for each transaction. The last one that was given back is
lent first. Only what the tests need: no passwords, no encryption, no cancelling.
"""

import asyncio
import itertools
import struct
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Mode = Literal["session", "transaction"]
_ENCRYPTIONS = {80877103, 80877104}
_ASKS_FOR_READY = b"QSF"
_TERMINATE, _READY = b"X", b"Z"
_numbers = itertools.count(1_000_000_000)


@dataclass(slots=True)
class _Server:
    """One connection to the server, and what it said at its login."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    settings: bytes = b""


@dataclass(slots=True)
class Pooler:
    """Lends server connections to clients."""

    socket: Path
    mode: Mode
    idle: dict[bytes, list[_Server]] = field(default_factory=lambda: defaultdict(list))
    opened: list[asyncio.StreamWriter] = field(default_factory=list)

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client until it is gone."""
        self.opened.append(writer)
        lent: list[_Server] = []
        try:
            login = await self._login(reader, writer)
            server = await self._lend(login)
            writer.write(_message(b"R", struct.pack("!i", 0)) + server.settings)
            writer.write(_message(b"K", struct.pack("!ii", next(_numbers), 7)))
            writer.write(_message(_READY, b"I"))
            self.idle[login].append(server)
            await self._serve(login, reader, writer, lent)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # The client is gone.
        finally:
            for server in lent:  # What it did there goes with it.
                server.writer.close()
            writer.close()

    async def _login(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        while True:
            length, code = struct.unpack("!ii", await reader.readexactly(8))
            if code not in _ENCRYPTIONS:
                return struct.pack("!ii", length, code) + await reader.readexactly(length - 8)
            writer.write(b"N")

    async def _serve(
        self,
        login: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        lent: list[_Server],
    ) -> None:
        asking = asyncio.create_task(_read(reader))
        news: asyncio.Task[tuple[bytes, bytes]] | None = None
        owed = 0
        try:
            while True:
                await asyncio.wait(
                    {asking, news} if news else {asking}, return_when="FIRST_COMPLETED"
                )
                if news is not None and news.done():
                    kind, said = news.result()
                    writer.write(said)
                    owed -= kind == _READY
                    is_over = kind == _READY and said[-1:] == b"I" and not owed
                    if is_over and self.mode == "transaction":
                        self.idle[login].append(lent.pop())
                        news = None
                    else:
                        news = asyncio.create_task(_read(lent[0].reader))
                elif asking.done():
                    kind, asked = asking.result()
                    if kind == _TERMINATE:
                        return
                    if not lent:
                        lent.append(await self._lend(login))
                        news = asyncio.create_task(_read(lent[0].reader))
                    owed += kind in _ASKS_FOR_READY
                    lent[0].writer.write(asked)
                    asking = asyncio.create_task(_read(reader))
        finally:
            tasks = {asking, news} if news else {asking}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _lend(self, login: bytes) -> _Server:
        if self.idle[login]:
            return self.idle[login].pop()
        reader, writer = await asyncio.open_unix_connection(str(self.socket))
        self.opened.append(writer)
        server = _Server(reader, writer)
        writer.write(login)
        while True:
            kind, said = await _read(reader)
            if kind == b"S":
                server.settings += said
            elif kind == _READY:
                return server


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


async def _read(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    head = await reader.readexactly(5)
    (length,) = struct.unpack("!i", head[1:])
    return head[:1], head + await reader.readexactly(length - 4)


@asynccontextmanager
async def pooler(folder: Path, mode: Mode) -> AsyncIterator[int]:
    """Serve a pooler for the server whose socket is in a folder; give its port."""
    (socket,) = (path for path in folder.glob(".s.PGSQL.*") if not path.name.endswith(".lock"))
    made = Pooler(socket, mode)
    server = await asyncio.start_server(made.connect, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        for writer in made.opened:
            writer.close()
        server.close()
        await server.wait_closed()
