"""MCP stderr: what a server writes to standard error is logged, line by line."""

import asyncio
import logging
import os
import sys
from collections import deque
from contextlib import ExitStack, suppress
from typing import TextIO

from threadline.agents.settings import McpServer
from threadline.core.redaction import redact_text
from threadline.core.validation import clean_title

log = logging.getLogger("threadline.agents.mcp")

LINE_LIMIT = 1_000
"""Characters of a line that are logged."""
LAST_WORDS = 300
"""Characters of the end of it that are shown if the server does not start."""
_END_WITHIN = 1.0
"""Seconds to wait for the rest of the standard error of a server that has ended."""
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
        self._lines: deque[str] = deque(maxlen=8)
        self._end = asyncio.Event()
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

    @property
    def last_words(self) -> str:
        """The end of what the server wrote, in one line and without secrets."""
        return redact_text(" ".join(self._lines))[-LAST_WORDS:]

    async def wait_for_end(self) -> None:
        """Wait until everything was read that a server wrote before it ended.

        Not for long: another process of it may still have the file open.
        """
        if self._reader is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_WITHIN):
                    await self._end.wait()

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
        self._end.set()

    def _log(self, line: bytes) -> None:
        text = clean_title(line.decode("utf-8", "replace"), len(line))
        for secret in self._secrets:
            text = text.replace(secret, "…")
        if text:
            self._lines.append(text[-LINE_LIMIT:])
            log.info("%s says: %s", self._server.name, text[:LINE_LIMIT])


def _secrets_of(server: McpServer) -> list[str]:
    """List what may be a secret among what the server was given, the longest first.

    Short words are none, nor are paths and names of packages.
    """
    given = [argument.rpartition("=")[2] for argument in server.command[1:]]
    tokens = [word for word in given if len(word) >= _TOKEN_LENGTH and not set(word) & set("/.@")]
    values = [value for value in server.environment.values() if len(value) >= _SECRET_LENGTH]
    return sorted({*tokens, *values}, key=len, reverse=True)
