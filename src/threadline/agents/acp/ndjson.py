"""NDJSON: one JSON object a line, both ways; what is none is passed over."""

import asyncio
import json
import logging
from typing import Any

from threadline.core.validation import clean_title

log = logging.getLogger("threadline.agents.acp")

MESSAGE_LIMIT = 50_000_000
"""Bytes of one message: files travel in them."""
_LOG_LIMIT = 200


class NdjsonPipe:
    """Carries messages to a program's standard input, and from its standard output."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Speak with a program that was started with both."""
        self._process = process
        self.ended = False
        """Whether the program will say nothing more, though it may still run."""

    async def send(self, message: dict[str, Any]) -> None:
        """Write one message. Raise `ConnectionError` if the program does not read any more.

        A reply to a program that has ended is dropped: nothing waits for it.
        """
        stream = self._process.stdin
        try:
            if stream is None or stream.is_closing():
                raise ConnectionResetError("The program reads no more")
            stream.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
            await stream.drain()
        except ConnectionError:
            if "method" in message:
                raise

    async def receive(self) -> dict[str, Any] | None:
        """Read the next message; None: there will be none any more."""
        message = await self._next()
        self.ended = message is None
        return message

    async def _next(self) -> dict[str, Any] | None:
        stream = self._process.stdout
        while stream is not None:
            try:
                line = await stream.readuntil(b"\n")
            except asyncio.IncompleteReadError:
                return None
            except asyncio.LimitOverrunError:
                log.warning("A message of the agent is larger than %s bytes", MESSAGE_LIMIT)
                return None
            if (message := _read(line)) is not None:
                return message
        return None

    async def close(self) -> None:
        """Let the program know that nothing more comes."""
        if self._process.stdin is not None:
            self._process.stdin.close()


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if isinstance(message, dict):
        return message
    if line.strip():
        said = clean_title(line[:_LOG_LIMIT].decode("utf-8", "replace"), _LOG_LIMIT)
        log.info("The agent wrote a line that is no message: %s", said)
    return None
