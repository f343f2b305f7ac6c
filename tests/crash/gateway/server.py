"""PostgreSQL as the gateways under test see it: its connections can be cut, its clock can jump."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg

_SOCKET = ".s.PGSQL.5432"
_CHUNK = 65536

_CLOCK = """
CREATE SCHEMA IF NOT EXISTS harness;
CREATE TABLE IF NOT EXISTS harness.clock (shift INTERVAL NOT NULL);
INSERT INTO harness.clock SELECT '0' WHERE NOT EXISTS (SELECT 1 FROM harness.clock);
CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS TIMESTAMPTZ LANGUAGE sql VOLATILE AS
    'SELECT pg_catalog.clock_timestamp() + (SELECT shift FROM harness.clock)';
"""
_FIND_IT_FIRST = "ALTER DATABASE {name} SET search_path = public, pg_catalog"
_JUMP = "UPDATE harness.clock SET shift = %s"
_NOTICE = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND state = 'idle' AND pid IN (
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND granted)
"""
"""Only the connection that proves that a process lives: it holds a lock while it is idle."""

_CLIENTS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'threadline'
"""


class Proxy:
    """Forwards connections to a server, unless they are cut."""

    def __init__(self, server: Path) -> None:
        self._server = server / _SOCKET
        self._folder = tempfile.TemporaryDirectory(prefix="tl-proxy-")
        self._writers: set[asyncio.StreamWriter] = set()
        self._is_cut = False

    @property
    def folder(self) -> Path:
        """The folder of the socket, as the `host` of a URL."""
        return Path(self._folder.name)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Accept connections while the context is open."""
        path = self.folder / _SOCKET
        async with await asyncio.start_unix_server(self._forward, path):
            try:
                yield
            finally:
                self.cut()
        self._folder.cleanup()

    def cut(self) -> None:
        """Break all connections and refuse new ones."""
        self._is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    def mend(self) -> None:
        """Accept connections again."""
        self._is_cut = False

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        from_server, to_server = await asyncio.open_unix_connection(self._server)
        ends = {writer, to_server}
        self._writers |= ends
        try:
            await asyncio.gather(_pump(reader, to_server), _pump(from_server, writer))
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    # A process that was killed closes its end; the server has to notice that at once.
    writer.transport.abort()


def folder_of(url: str) -> Path:
    """Return the folder of the socket that a URL names."""
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def through(url: str, folder: Path) -> str:
    """Return the URL of the same database, reached through a proxy's socket."""
    return url.replace(str(folder_of(url)), str(folder))


def make_clock_adjustable(url: str) -> None:
    """Replace the server's clock function in one database: no root, no change of the machine."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(_CLOCK.encode())
        server.execute(_FIND_IT_FIRST.format(name=server.info.dbname).encode())


def has_clients(url: str) -> bool:
    """Return whether a gateway is connected; one that was killed is until its last commit."""
    with psycopg.connect(url, autocommit=True) as server:
        row = server.execute(_CLIENTS).fetchone()
    return row is not None and row[0] > 0


def shift_clock(url: str, by: timedelta) -> None:
    """Set how far the server's clock is ahead, and make all processes read it again.

    A process reads the server's clock once a minute and whenever it connects again.
    """
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(_JUMP, [by])
        server.execute(_NOTICE)
