"""A follower: somebody who is told what happens, as fast as they can listen and no faster."""

import asyncio
from datetime import timedelta

from msgspec import Struct

from threadline.core.event import Cursor
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.web.authentication import Caller
from threadline.web.feed.frames import FrameKind, write_beat, write_frame, write_reload
from threadline.web.raw_writer import RawWriter, write_chunk

BACKLOG = 1_000_000
"""Bytes that may wait for a follower; whoever is slower is told to load anew."""


class SharedFrame:
    """What many are told at once: it is written for all of them only once."""

    __slots__ = ("chunk", "frames")

    def __init__(self, frames: bytes) -> None:
        """Write frames also as a chunk."""
        self.frames = frames
        self.chunk = write_chunk(frames)


class FollowerFilter(Struct, frozen=True, kw_only=True):
    """Who follows, and what they want to hear."""

    visitor: Caller
    asker: Viewer
    live: frozenset[SessionId] = frozenset()
    """The sessions whose running turns are heard word by word."""


class FeedFollower:
    """What waits to be sent on one stream.

    There are thousands of these that wait for nothing, so each is made of little.
    """

    __slots__ = (
        "__weakref__",
        "_backlog",
        "_bye",
        "_frames",
        "_is_lost",
        "_size",
        "_waiter",
        "interest",
        "pipe",
    )

    def __init__(self, interest: FollowerFilter, backlog: int = BACKLOG) -> None:
        """Begin with nothing to send."""
        self.interest = interest
        self.pipe: RawWriter | None = None
        self._backlog = backlog
        self._frames: list[bytes] = []
        self._size = 0
        self._is_lost = False
        self._bye: str | None = None
        self._waiter: asyncio.Future[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether the stream ends with what is taken next."""
        return self._bye is not None

    @property
    def waiting(self) -> int:
        """How many bytes wait to be sent."""
        return self._size

    def offer(self, frames: bytes) -> None:
        """Put something into the line, and have it sent."""
        self.put(frames)
        if self._frames or self._is_lost:
            self.wake()

    def put(self, frames: bytes) -> None:
        """Put something into the line; if that is too long, all of it is dropped.

        Whoever puts something wakes the stream or hurries as well, at once or soon.
        """
        if self._is_lost or not frames:
            return
        self._frames.append(frames)
        self._size += len(frames)
        if self._size > self._backlog:
            self.lose()

    def hurry(self, piece: SharedFrame) -> None:
        """Send a piece that was put into the line: at once if nothing else is there."""
        is_alone = len(self._frames) == 1 and self._frames[0] is piece.frames
        # While the stream waits, all that it has taken is sent: nothing can be overtaken.
        if is_alone and self._is_idle() and self.pipe is not None and self.pipe.push(piece.chunk):
            self._frames.clear()
            self._size = 0
        else:
            self.wake()

    def lose(self) -> None:
        """Drop what waits: whoever follows has to load everything anew."""
        self._frames.clear()
        self._size, self._is_lost = 0, True
        self.wake()

    def end(self, why: str) -> None:
        """End the stream after what waits."""
        if self._bye is None:
            self._bye = why
        self.wake()

    async def wait(self, most: timedelta) -> None:
        """Wait until there is something to send, but not for ever."""
        if self._frames or self._is_lost or self._bye is not None:
            return
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = loop.call_later(most.total_seconds(), self.wake)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None

    def take(self, cursor: Cursor) -> bytes:
        """Take all that waits, where the feed has come to a place; a sign of life if nothing does.

        Nothing may be awaited between asking for the place and this.
        """
        if self._is_lost:
            taken = write_reload(cursor)
        elif self._frames:
            taken = b"".join(self._frames)
        else:
            taken = b"" if self._bye is not None else write_beat(cursor)
        self._frames.clear()
        self._size, self._is_lost = 0, False
        if self._bye is not None:
            taken += write_frame(FrameKind.BYE, {"why": self._bye})
        return taken

    def wake(self) -> None:
        """Let the stream go on, if it waits."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _is_idle(self) -> bool:
        return self._waiter is not None and not self._waiter.done() and self._bye is None
