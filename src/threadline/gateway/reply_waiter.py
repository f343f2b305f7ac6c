"""Reply waiter: waiting for what turns say, whichever process answers them."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from threadline.core.errors import NotFound
from threadline.core.event import Event, EventKind
from threadline.core.platform import TurnReply
from threadline.core.turn import Turn, TurnId, TurnState
from threadline.database.port import Database
from threadline.gateway.background_tasks import log_failure
from threadline.gateway.feed_consumer import follow_feed
from threadline.store.feed import feed_end
from threadline.store.queries import read_turn
from threadline.store.turns.output import read_reply

_ENDS = frozenset(
    {
        EventKind.TURN_DONE,
        EventKind.TURN_FAILED,
        EventKind.TURN_STOPPED,
        EventKind.TURN_WAITING,
    }
)
_OVER = frozenset({TurnState.DONE, TurnState.FAILED, TurnState.STOPPED, TurnState.WAITING})
"""It says nothing more by itself."""


class ReplyWaiter:
    """Lets many wait for turns to end or to ask; all of them together follow the feed once."""

    def __init__(self, database: Database) -> None:
        """Begin with nobody waiting."""
        self._db = database
        self._waiting: defaultdict[TurnId, set[asyncio.Event]] = defaultdict(set)
        self._following: asyncio.Task[None] | None = None

    async def wait(self, turn_id: TurnId, within: timedelta) -> TurnReply | None:
        """Wait for what a turn says or asks; None: it is not so far yet.

        One that is gone says nothing.
        """
        try:
            turn = await self._last(turn_id)
            if turn.state not in _OVER:
                async with asyncio.timeout(within.total_seconds()):
                    turn = await self._end_of(turn.id)
            lines = await self._db.read(read_reply, turn.id)
        except TimeoutError:
            return None
        except NotFound:
            return TurnReply(state=TurnState.DONE)
        question = turn.question if turn.state is TurnState.WAITING else None
        return TurnReply(state=turn.state, lines=lines, question=question, error=turn.error)

    async def _end_of(self, turn_id: TurnId) -> Turn:
        with self._news_of(turn_id) as news:
            following = await self._follow()
            while (turn := await self._last(turn_id)).state not in _OVER and turn.id == turn_id:
                await news.wait()
                news.clear()
                if following.done():
                    following.result()
        return turn if turn.state in _OVER else await self._end_of(turn.id)

    async def _last(self, turn_id: TurnId) -> Turn:
        """Read a turn, or the one that took up its words."""
        turn = await self._db.read(read_turn, turn_id)
        return turn if turn.answered_by is None else await self._last(turn.answered_by)

    @contextmanager
    def _news_of(self, turn_id: TurnId) -> Iterator[asyncio.Event]:
        news = asyncio.Event()
        self._waiting[turn_id].add(news)
        try:
            yield news
        finally:
            self._waiting[turn_id].discard(news)
            if not self._waiting[turn_id]:
                del self._waiting[turn_id]
            if not self._waiting and self._following is not None:
                self._following.cancel()
                self._following = None

    async def _follow(self) -> asyncio.Task[None]:
        """Follow the feed from now on, and return the task that does; all who wait share it."""
        if self._following is None:
            cursor = await self._db.read(feed_end)
            if self._following is None:
                following = follow_feed(self._db, cursor, self._notice, self._wake_all)
                self._following = asyncio.create_task(following, name="follow the feed for replies")
                self._following.add_done_callback(self._take_end)
        return self._following

    def _take_end(self, following: asyncio.Task[None]) -> None:
        """Raise the error that ended the task in all who wait; the next one starts it again."""
        log_failure(following)
        if self._following is following:
            self._following = None
            self._wake_all()

    async def _notice(self, event: Event) -> None:
        if event.kind in _ENDS and event.subject is not None:
            for news in self._waiting.get(TurnId(event.subject), ()):
                news.set()

    def _wake_all(self) -> None:
        for waiting in self._waiting.values():
            for news in waiting:
                news.set()
