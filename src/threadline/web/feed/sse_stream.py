"""SSE stream: what one follower is sent, from the first frame to the last."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from datetime import timedelta

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from threadline.core.errors import Invalid, StorageError
from threadline.core.event import Cursor
from threadline.core.session import SessionId
from threadline.store.feed import FeedLost
from threadline.web.feed.broadcaster import BROKEN, Feed
from threadline.web.feed.follower import FeedFollower
from threadline.web.feed.frames import EVENT_STREAM, FrameKind, write_frame, write_retry
from threadline.web.feed.snapshot import SnapshotView, read_snapshot
from threadline.web.raw_writer import RawWriter, pipe_of
from threadline.web.request_limits import lift_time_limit

BEAT = timedelta(seconds=15)
"""After so long without anything to tell there is a sign of life."""
STUCK = timedelta(seconds=60)
"""How long somebody may take nothing at all of what they are sent."""
HEADERS = {
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # nginx would wait until it has enough
}


async def write_stream(
    feed: Feed,
    follower: FeedFollower,
    after: Cursor | None,
    sessions: Sequence[SessionId] = (),
    beat: timedelta = BEAT,
) -> AsyncGenerator[bytes, None]:
    """Write a stream from a place on; without one it begins now, with a snapshot."""
    yield write_retry()
    try:
        begin = await feed.join(follower)
        async for piece in _write_beginning(feed, follower, after, begin, sessions):
            yield piece
    except (FeedLost, Invalid):
        follower.lose()
    except StorageError:
        # What waits is newer than what could not be told: nothing of it may be sent.
        yield write_frame(FrameKind.BYE, {"why": BROKEN})
        return
    is_over = False
    while not is_over:
        await follower.wait(beat)
        is_over = follower.is_over
        yield follower.take(feed.cursor)


async def _write_beginning(
    feed: Feed,
    follower: FeedFollower,
    after: Cursor | None,
    begin: Cursor,
    sessions: Sequence[SessionId],
) -> AsyncIterator[bytes]:
    if after is None:
        seen = await read_snapshot(feed.store, follower.interest.asker, sessions)
        shape = SnapshotView.from_snapshot(seen, begin)
        yield write_frame(FrameKind.SNAPSHOT, msgspec.to_builtins(shape), begin)
        return
    yield write_frame(FrameKind.HELLO, {"profile": follower.interest.asker.profile})
    async for piece in feed.catch_up(follower.interest, after, begin):
        if piece:
            yield piece


class FeedResponse(StreamingResponse):
    """The answer to whoever follows: it lasts until they go, or may follow no longer."""

    media_type = EVENT_STREAM

    def __init__(
        self, feed: Feed, follower: FeedFollower, frames: AsyncGenerator[bytes, None]
    ) -> None:
        """Send frames to a follower."""
        super().__init__(frames, headers=HEADERS)
        self._feed = feed
        self._follower = follower
        self._frames = frames

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the end of either side."""
        lift_time_limit(scope)
        pipe = pipe_of(scope)
        watching = asyncio.create_task(self._watch(receive), name="a follower may go")
        try:
            await self._send(send, pipe)
        except TimeoutError:
            # They take nothing, so nothing may wait for them: else the connection never ended.
            if pipe is not None:
                pipe.break_off()
                await watching
        finally:
            watching.cancel()
            self._feed.leave(self._follower)
            await self._frames.aclose()

    async def _send(self, send: Send, pipe: RawWriter | None) -> None:
        head = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(head)
        self._follower.pipe = pipe
        async for piece in self._frames:
            await _send_piece(send, piece)
        await _send_piece(send, b"", is_last=True)

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._follower.end("gone")


async def _send_piece(send: Send, piece: bytes, *, is_last: bool = False) -> None:
    async with asyncio.timeout(STUCK.total_seconds()):
        await send({"type": "http.response.body", "body": piece, "more_body": not is_last})
