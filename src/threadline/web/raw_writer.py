"""Raw write: the short way out of a connection, for an answer that lasts and has many listeners."""

import asyncio

from starlette.types import Scope
from uvicorn.protocols.http.flow_control import FlowControl

_PIPE = "threadline.pipe"


class RawWriter:
    """Sends pieces of an answer that has begun, past all that stands between it and its connection.

    Whoever uses it writes each piece as a chunk, once for everybody who is sent the same. It is for
    moments at which nothing else of the answer is on its way.
    """

    __slots__ = ("_flow", "_is_chunked", "_transport")

    def __init__(
        self, transport: asyncio.Transport, flow: FlowControl, *, is_chunked: bool
    ) -> None:
        """Lead to a connection; the answers of old callers have no chunks, so nothing is pushed."""
        self._transport = transport
        self._flow = flow
        self._is_chunked = is_chunked

    def push(self, chunk: bytes) -> bool:
        """Send a chunk at once; False: it has to go the way of all answers, maybe later."""
        if not self._is_chunked or self._flow.write_paused or self._transport.is_closing():
            return False
        self._transport.write(chunk)
        return True

    def break_off(self) -> None:
        """End the connection, whatever has not been sent: nobody takes it."""
        self._transport.abort()


def offer_pipe(scope: Scope, transport: asyncio.Transport, flow: FlowControl) -> None:
    """Let whoever answers a request find the short way."""
    if _PIPE not in scope:
        scope[_PIPE] = RawWriter(transport, flow, is_chunked=scope["http_version"] == "1.1")


def pipe_of(scope: Scope) -> RawWriter | None:
    """Find the short way; None: there is only the usual one."""
    pipe = scope.get(_PIPE)
    return pipe if isinstance(pipe, RawWriter) else None


def write_chunk(piece: bytes) -> bytes:
    """Write a piece of an answer as HTTP sends it when nobody knows how long the answer is."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)
