"""Broadcaster: it is read once, and handed out to all who follow."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Coroutine, Sequence
from contextlib import ExitStack
from datetime import timedelta
from itertools import compress
from weakref import WeakSet

from threadline.core.account import AccountKey
from threadline.core.errors import StorageError
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.person import Viewer
from threadline.core.session import SessionId
from threadline.gateway.turn_pubsub import TurnPubSub
from threadline.store import Store
from threadline.store.feed import PAGE, FeedLost, parse_cursor
from threadline.web.feed.expiry import FollowerExpiry
from threadline.web.feed.follower import FeedFollower, FollowerFilter, SharedFrame
from threadline.web.feed.frames import write_event
from threadline.web.feed.remote_turn_deltas import RemoteTurnDeltas
from threadline.web.feed.turn_deltas import TurnDeltas
from threadline.web.feed.visibility_cache import VisibilityCache, things_of

log = logging.getLogger("threadline.web")

CATCH_UP = 5_000
"""Events that somebody is told who was away; whoever missed more loads everything anew."""
SHUTDOWN, BROKEN, OUT_OF_SIGHT = "shutdown", "broken", "out of sight"
"""Why a stream ends, beside the end of a login."""

_LOOK_AGAIN = timedelta(milliseconds=20)
_NO_STORAGE = 1.0
_TOGETHER = 125
"""Followers that are woken at a time."""
_DOUBTED = frozenset({"access", "account", "person"})
"""After news of these somebody may see more than before, or less."""


def pause_for(followers: int) -> float:
    """Say how long to gather events for so many, as each is written to by itself."""
    return min(0.01 + followers * 0.0002, 0.2)


class Feed:
    """Hands out events, and what is said live, until it is closed.

    Its loops run while somebody follows.
    """

    def __init__(self, store: Store, live: TurnPubSub | None = None) -> None:
        """Follow a store, and the running turns of this process if it runs any."""
        self.store = store
        self.sight = VisibilityCache(store, self._end_sight)
        self.voices = TurnDeltas(self._tell_live, self._is_heard)
        self.distant = RemoteTurnDeltas(store, self._tell_live, self._is_distant)
        self.vigil = FollowerExpiry(store, self.sight, lambda: self.followers)
        self._cursor = Cursor("0.0")
        self._audiences: dict[Viewer, set[FeedFollower]] = {}
        self._expected: WeakSet[FeedFollower] = WeakSet()
        self._hearing: dict[SessionId, set[FeedFollower]] = {}
        self._loops: list[asyncio.Task[None]] = []
        self._starting = asyncio.Lock()
        self._is_closed = False
        self._attending = ExitStack()
        if live is not None:
            self._attending.enter_context(live.attend(self.voices.hear))

    @property
    def cursor(self) -> Cursor:
        """The place up to which everything was handed out."""
        return self._cursor

    @property
    def followers(self) -> Collection[FeedFollower]:
        """Everybody who follows."""
        return [one for audience in self._audiences.values() for one in audience]

    def count(self, account: AccountKey) -> int:
        """Count who follows with an account, or is about to."""
        everybody = {*self.followers, *self._expected}
        return sum(one.interest.visitor.account.key == account for one in everybody)

    def expect(self, follower: FeedFollower) -> None:
        """Count somebody from now on who is about to join, unless they are given up before."""
        self._expected.add(follower)

    async def join(self, follower: FeedFollower) -> Cursor:
        """Hand out to somebody everything from now on; answers the place where that begins."""
        async with self._starting:
            if not self._loops:
                self._cursor = await self.store.feed_end()
            if not self._loops and not self._is_closed:
                self._begin(self._follow(), self.vigil.run(), self.distant.run())
        if self._is_closed:
            follower.end(SHUTDOWN)
        self._expected.discard(follower)
        interest = follower.interest
        self._audiences.setdefault(interest.asker, set()).add(follower)
        for id in interest.live:
            self._hearing.setdefault(id, set()).add(follower)
            follower.offer(self.voices.so_far(id) or self.distant.so_far(id))
            if not self.voices.has(id):
                self.distant.expect(id)
        return self.cursor

    def leave(self, follower: FeedFollower) -> None:
        """Hand out nothing more to somebody."""
        self._expected.discard(follower)
        interest = follower.interest
        audience = self._audiences.get(interest.asker)
        if audience is not None:
            audience.discard(follower)
            if not audience:
                del self._audiences[interest.asker]
                self.sight.forget(interest.asker)
        for id in interest.live:
            self._leave_live(follower, id)
        if not self._audiences:
            self._rest()

    async def catch_up(
        self, interest: FollowerFilter, after: Cursor, until: Cursor
    ) -> AsyncIterator[bytes]:
        """Write what somebody missed between two places; what cannot be told raises FeedLost."""
        told, end = 0, parse_cursor(until)
        while True:
            page = await self.store.events(after)
            events = [event for event in page.events if parse_cursor(event.cursor) <= end]
            told += len(events)
            if told > CATCH_UP:
                raise FeedLost("Too much was missed", id=after, hint="Load a snapshot")
            asker = interest.asker
            await self.sight.learn([asker], self.sight.missing(asker, things_of(events)))
            if self.sight.is_blind(asker, events):
                raise FeedLost("Something was forgotten", id=after, hint="Load a snapshot")
            yield self._join(asker, events, [write_event(event) for event in events])
            after = page.cursor
            if len(page.events) < PAGE or len(events) < len(page.events):
                return

    def close(self) -> None:
        """End all streams, each with a word, and read nothing more."""
        self._is_closed = True
        for follower in self.followers:
            follower.end(SHUTDOWN)
        self._attending.close()
        self.voices.close()
        self._rest()

    def _rest(self) -> None:
        """Read nothing until somebody follows again."""
        for loop in self._loops:
            loop.cancel()
        self._loops.clear()

    def _begin(self, *loops: Coroutine[object, object, None]) -> None:
        for loop in loops:
            task = asyncio.create_task(loop, name="threadline-web-feed")
            task.add_done_callback(self._take_end)
            self._loops.append(task)

    def _take_end(self, task: asyncio.Task[None]) -> None:
        """Let nobody follow a feed that is not read any more; it begins anew when they return."""
        error = None if task.cancelled() else task.exception()
        if error is None or self._is_closed:
            return
        log.error("The live feed broke: %s", type(error).__name__, exc_info=error)
        self._rest()
        for follower in self.followers:
            follower.end(BROKEN)

    async def _follow(self) -> None:
        """Read the feed for all, whatever the database does."""
        with self.store.watch() as watch:
            is_behind = False
            while True:
                await watch.wait(_LOOK_AGAIN if is_behind else None)
                try:
                    is_behind = await self._read_on()
                except FeedLost:
                    self._cursor = await self.store.feed_end()
                    self._lose(self.followers)
                except StorageError as error:
                    log.warning("The feed cannot be read: %s", error)
                    await asyncio.sleep(_NO_STORAGE)
                    is_behind = True
                await asyncio.sleep(pause_for(len(self.followers)))

    async def _read_on(self) -> bool:
        """Hand out everything that is new; True if there is more that cannot be shown yet."""
        while True:
            page = await self.store.events(self.cursor)
            await self._hand_out(page.events, page.cursor)
            if len(page.events) < PAGE:
                return page.is_behind

    async def _hand_out(self, events: Sequence[Event], cursor: Cursor) -> None:
        if any(event.kind.noun in _DOUBTED for event in events):
            self.sight.doubt()
        await self._see(events)
        told: list[tuple[FeedFollower, SharedFrame]] = []
        written = [write_event(event) for event in events]
        for asker, audience in self._audiences.items():
            if self.sight.is_blind(asker, events):
                self._lose(audience)
            elif frames := self._join(asker, events, written):
                piece = SharedFrame(frames)
                for follower in audience:
                    follower.put(frames)
                    told.append((follower, piece))
        self._cursor = cursor
        for event in events:
            if event.kind is EventKind.TURN_RUNNING and event.session_id in self._hearing:
                self.distant.expect(event.session_id)
        await self._send(told)

    async def _see(self, events: Sequence[Event]) -> None:
        """Learn who may see what, until all is known: somebody may join meanwhile."""
        ids = things_of(events)
        while unsure := {
            asker: missing
            for asker in self._audiences
            if (missing := self.sight.missing(asker, ids))
        }:
            await self.sight.learn(unsure.keys(), set().union(*unsure.values()))

    async def _send(self, told: Sequence[tuple[FeedFollower, SharedFrame]]) -> None:
        """Have sent what waits, to some at a time: meanwhile everybody else has a turn, too."""
        for first in range(0, len(told), _TOGETHER):
            for follower, piece in told[first : first + _TOGETHER]:
                follower.hurry(piece)
            await asyncio.sleep(0)

    def _end_sight(self, asker: Viewer) -> None:
        """Let those come back and load anew who may not see any more what they saw."""
        for follower in self._audiences.get(asker, ()):
            follower.lose()
            follower.end(OUT_OF_SIGHT)

    def _join(self, asker: Viewer, events: Sequence[Event], written: Sequence[bytes]) -> bytes:
        return b"".join(compress(written, self.sight.select(asker, events)))

    def _lose(self, followers: Collection[FeedFollower]) -> None:
        for follower in followers:
            follower.lose()

    def _is_heard(self, id: SessionId) -> bool:
        return id in self._hearing

    def _is_distant(self, id: SessionId) -> bool:
        return id in self._hearing and not self.voices.has(id)

    def _tell_live(self, id: SessionId, frame: bytes) -> None:
        piece = SharedFrame(frame)
        for follower in self._hearing.get(id, ()):
            follower.put(frame)
            follower.hurry(piece)

    def _leave_live(self, follower: FeedFollower, id: SessionId) -> None:
        hearing = self._hearing.get(id)
        if hearing is not None:
            hearing.discard(follower)
            if not hearing:
                del self._hearing[id]
