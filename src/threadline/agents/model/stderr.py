"""The standard error of an MCP server: what it complains of goes to our log, line by line."""

import asyncio
import logging
import os
import sys
from contextlib import ExitStack
from typing import TextIO

from threadline.agents.settings import McpServer
from threadline.core.text import clean_title

log = logging.getLogger("threadline.agents.mcp")

LINE_LIMIT = 1_000
"""Characters of a line that are logged."""
_SECRET_LENGTH = 6
_TOKEN_LENGTH = 16


class Stderr(asyncio.Protocol):
    """Reads what a server writes, and knows when nobody can write any more: it ended."""

    def __init__(self, server: McpServer) -> None:
        """Nothing is open yet."""
        self.ended = False
        self._server = server
        self._secrets = _secrets_of(server)
        self._rest = b""
        self._reader: asyncio.ReadTransport | None = None
        self._ours = ExitStack()

    async def open(self) -> TextIO:
        """Answer the file that the server is to write to."""
        if sys.platform == "win32" or not self._server.command:
            return self._ours.enter_context(open(os.devnull, "w"))  # noqa: ASYNC230, PTH123
        reading, writing = os.pipe()
        end = self._ours.enter_context(os.fdopen(writing, "w"))
        source = os.fdopen(reading, "rb", buffering=0)
        loop = asyncio.get_running_loop()
        self._reader, _ = await loop.connect_read_pipe(lambda: self, source)
        return end

    def hand_over(self) -> None:
        """Leave the file to the server alone, so that it ends with it."""
        self._ours.close()

    def close(self) -> None:
        """Listen no longer."""
        self.hand_over()
        if self._reader is not None:
            self._reader.close()

    def data_received(self, data: bytes) -> None:
        """Log every line that is complete, and keep the rest of one for later."""
        *lines, rest = (self._rest + data).split(b"\n")
        if len(rest) > LINE_LIMIT:
            lines, rest = [*lines, rest], b""
        self._rest = rest
        for line in lines:
            self._log(line)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the server ended."""
        self.ended = True
        self._log(self._rest)

    def _log(self, line: bytes) -> None:
        text = clean_title(line.decode("utf-8", "replace"), LINE_LIMIT)
        for secret in self._secrets:
            text = text.replace(secret, "…")
        if text:
            log.info("%s says: %s", self._server.name, text)


def _secrets_of(server: McpServer) -> list[str]:
    """List what may be a secret among what the server was given, the longest first.

    Short words are none, nor are paths and names of packages.
    """
    given = [argument.rpartition("=")[2] for argument in server.command[1:]]
    tokens = [word for word in given if len(word) >= _TOKEN_LENGTH and not set(word) & set("/.@")]
    values = [value for value in server.environment.values() if len(value) >= _SECRET_LENGTH]
    return sorted({*tokens, *values}, key=len, reverse=True)
