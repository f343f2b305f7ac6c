"""Connections: those that ask for nothing are ended, and stand in nobody's way."""

import asyncio
from datetime import timedelta
from typing import ClassVar, cast

from starlette.types import Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from threadline.web.raw_writer import offer_pipe

CONNECTIONS = 5000
"""How many may be open at a time; most of them only follow."""
FILES_BESIDE = 500
"""Files that may be open beside connections."""
HEADERS_WITHIN = timedelta(seconds=10)
"""How long a request may take until all of its headers are there."""


class HttpConnection(H11Protocol):
    """A connection that is ended when it does not say in time what it wants.

    When there are too many of them, the one goes that has been silent for longest: only those that
    ask for something count.
    """

    most: ClassVar[int] = CONNECTIONS
    within: ClassVar[timedelta] = HEADERS_WITHIN
    _deadline: asyncio.TimerHandle | None = None
    silent_since: float = 0.0
    """From when on it is silent, by the clock of the loop."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._expect_request()
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Take in a piece of a request; the time for its headers runs from the first one on."""
        super().data_received(data)
        if not self.is_silent():
            self._end_waiting()
            self._offer_pipe()
        elif self._deadline is None:
            self._expect_request()

    def on_response_complete(self) -> None:
        """Go on with the next request, of which all may have come with the one before."""
        super().on_response_complete()
        if not self.is_silent():
            self._offer_pipe()
        elif self.transport.get_write_buffer_size():
            self.loop.call_later(2 * self.within.total_seconds(), self._end_unread)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._end_waiting()
        super().connection_lost(exc)

    def _offer_pipe(self) -> None:
        offer_pipe(cast("Scope", self.scope), self.transport, self.flow)

    def _expect_request(self) -> None:
        self.silent_since = self.loop.time()
        self._deadline = self.loop.call_later(self.within.total_seconds(), self._give_up)

    def _end_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self.is_silent():
            self.transport.abort()

    def _end_unread(self) -> None:
        """End a connection that was closed, but waits for its last answer to be taken."""
        if self.transport.is_closing():
            self.transport.abort()

    def is_silent(self) -> bool:
        """Tell whether no request is under way: none has begun, or not all of its headers came."""
        # Its type does not say that there is none before the first request.
        return self.cycle is None or self.cycle.response_complete  # type: ignore[redundant-expr]

    def _make_room(self) -> None:
        if len(self.connections) <= self.most:
            return  # each new connection would look at all others
        ours = [one for one in self.connections if isinstance(one, HttpConnection)]
        there = [one for one in ours if not one.transport.is_closing()]
        if len(there) > self.most:
            # This one is among them, as it has just begun.
            silent = [one for one in there if one.is_silent()]
            min(silent, key=lambda one: one.silent_since).transport.abort()


def allow_files(most: int = CONNECTIONS) -> None:
    """Let this process open as many files as connections need, as far as it may decide that."""
    try:
        import resource
    except ImportError:  # there is no such limit on this system
        return
    now, most_ever = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + FILES_BESIDE
    if most_ever != resource.RLIM_INFINITY:
        wanted = min(wanted, most_ever)
    if now != resource.RLIM_INFINITY and now < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most_ever))


def limited(most: int, within: timedelta) -> type[HttpConnection]:
    """Make a kind of connection with other limits."""
    return type("LimitedConnection", (HttpConnection,), {"most": most, "within": within})
