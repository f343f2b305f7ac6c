"""Stream checker: proves over HTTP that old snapshot + events == new snapshot."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any

from msgspec import Struct, field

from threadline.core.event import Cursor, Event, EventKind, SessionSnapshot, fold
from threadline.core.session import SessionId
from threadline.testing.deadline import HANG_SECONDS

Told = Mapping[str, Any]
"""JSON that was answered."""
ReadSnapshot = Callable[[], Awaitable[Told]]
"""Asks for a snapshot of the sessions that are looked at."""


class Frame(Struct, frozen=True, kw_only=True):
    """One server-sent event."""

    kind: str
    id: str | None = None
    data: Told = field(default_factory=dict)


async def read_frames(lines: AsyncIterator[str]) -> AsyncIterator[Frame]:
    """Read the events of a stream as a browser does; what only tells an id is a `beat`."""
    kind, id, data = "message", None, ""
    async for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            kind = value
        elif name == "id":
            id = value
        elif name == "data":
            data += value
        elif not line and (data or id is not None):
            yield Frame(kind=kind if data else "beat", id=id, data=json.loads(data or "{}"))
            kind, id, data = "message", None, ""


def glimpses_of(snapshot: Told) -> dict[SessionId, SessionSnapshot]:
    """Read what a snapshot tells of sessions."""
    return {
        SessionId(id): SessionSnapshot(
            revision=told["revision"],
            last_seq=told["last_seq"],
            states={thing: (state, told["revision"]) for thing, state in told["states"].items()},
        )
        for id, told in snapshot["sessions"].items()
    }


def event_of(frame: Frame) -> Event:
    """Read what became true."""
    return Event(
        cursor=Cursor(frame.id or ""),
        kind=EventKind(frame.data["kind"]),
        session_id=frame.data["session_id"],
        revision=frame.data["revision"],
        subject=frame.data["subject"],
        at=datetime.fromisoformat(frame.data["at"]),
    )


class StreamWitness:
    """Follows a stream as a screen does, and knows what that screen would show.

    It goes on through `reload`, by loading a snapshot anew, and remembers the last id, with which
    it can come back on another stream.
    """

    def __init__(self, read_snapshot: ReadSnapshot) -> None:
        """Begin with nothing known; `begin` loads the first snapshot."""
        self._read_snapshot = read_snapshot
        self.cursor: str | None = None
        self.glimpses: dict[SessionId, SessionSnapshot] = {}
        self.events: list[Event] = []
        self.reloads = 0

    def reads(self, read_snapshot: ReadSnapshot) -> None:
        """Ask somewhere else from now on: the server was started again."""
        self._read_snapshot = read_snapshot

    async def begin(self) -> None:
        """Load a snapshot, from which the stream is followed."""
        snapshot = await self._read_snapshot()
        self.cursor, self.glimpses = snapshot["cursor"], glimpses_of(snapshot)

    async def take(self, frame: Frame) -> None:
        """Take in one event of a stream."""
        self.cursor = frame.id or self.cursor
        if frame.kind == "event":
            event = event_of(frame)
            self.events.append(event)
            self.glimpses = fold(self.glimpses, [event])
        elif frame.kind == "reload":
            self.reloads += 1
            self.glimpses = glimpses_of(await self._read_snapshot())

    async def agrees(self) -> bool:
        """Tell whether it shows the same as whoever loads everything now."""
        return all(
            _looks_like(self.glimpses.get(id), glimpse)
            for id, glimpse in glimpses_of(await self._read_snapshot()).items()
        )

    def missing(self, expected: Collection[str]) -> set[str]:
        """Name the kinds of events that are expected, and were not told yet."""
        return set(expected) - {event.kind.value for event in self.events}

    async def follow(self, frames: AsyncIterator[Frame], expected: Collection[str] = ()) -> None:
        """Follow until it shows the same as a fresh snapshot; that must be soon.

        What belongs to no session is in no snapshot: events of the expected kinds must come, too.
        """
        try:
            async with asyncio.timeout(HANG_SECONDS):
                while self.missing(expected) or not await self.agrees():
                    await self.take(await anext(frames))
        except TimeoutError:
            now = glimpses_of(await self._read_snapshot())
            lacking = sorted(self.missing(expected))
            raise AssertionError(
                f"the stream shows {self.glimpses}, but it is {now}; missing: {lacking}"
            ) from None


async def verify_feed(
    read_snapshot: ReadSnapshot,
    open_stream: Callable[[str], AbstractAsyncContextManager[AsyncIterator[Frame]]],
    act: Callable[[], Awaitable[object]],
    expected: Collection[str] = (),
) -> Sequence[Event]:
    """Do something, and prove that whoever follows ends in the same state as whoever loads anew.

    `open_stream` follows from a place on, and is told events of the expected kinds. Answers the
    events that told of it.
    """
    witness = StreamWitness(read_snapshot)
    await witness.begin()
    async with open_stream(witness.cursor or "") as frames:
        await act()
        await witness.follow(frames, expected)
    assert not witness.reloads, "something was missing on the stream"
    return witness.events


def _looks_like(shown: SessionSnapshot | None, true: SessionSnapshot) -> bool:
    return shown is not None and (
        (shown.revision, shown.last_seq, shown.shown())
        == (true.revision, true.last_seq, true.shown())
    )
