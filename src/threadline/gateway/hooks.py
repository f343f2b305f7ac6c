"""Hooks: functions of the user's own that are told when something has happened.

    def turn_finished(news: TurnFinished) -> None: …

A hook is named in the settings as `package.module:function`, or by the name of an entry point in
the group `threadline.hooks`. It may be synchronous, then it runs on a thread, or asynchronous.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from threadline.core.delivery import DeliveryId
from threadline.core.errors import ConfigError, NotFound, ThreadlineError, sentence_of
from threadline.core.event import Cursor, Event, EventKind
from threadline.core.message import Message
from threadline.core.session import Session
from threadline.core.turn import LEASE, Turn, TurnId
from threadline.database.port import Database
from threadline.gateway.background_tasks import log_failure
from threadline.gateway.intervals import NO_STORAGE, Intervals
from threadline.gateway.metrics import Metrics
from threadline.gateway.user_callables import HOOK_WITHIN, Callee, Function, find_function
from threadline.store import feed, queries
from threadline.store.feed import (
    FeedLost,
    LostDelivery,
    claim_follower,
    feed_end,
    lost_delivery,
    move_follower,
    read_feed,
    stop_following,
)
from threadline.store.people.visibility import read_visible
from threadline.store.queries import read_turn
from threadline.store.sessions.session_end import Ending, list_told, note_told

log = logging.getLogger("threadline.gateway")

_RENEW = LEASE / 3
_BREATH = 0.02
"""Seconds between two looks at the feed: whoever follows it need not see every commit by itself."""


class HookKind(StrEnum):
    """What a hook is told of."""

    SESSION_STARTED = "session_started"
    SESSION_ENDED = "session_ended"
    TURN_FINISHED = "turn_finished"
    DELIVERY_FAILED = "delivery_failed"


class SessionStarted(Struct, frozen=True, kw_only=True):
    """A session was opened, or opened again."""

    session: Session
    at: datetime
    is_resumed: bool
    """It had ended before, and somebody came back to it."""


class TurnFinished(Struct, frozen=True, kw_only=True):
    """A turn has come to its end: it is done, failed or stopped."""

    session: Session
    turn: Turn
    at: datetime


class DeliveryFailed(Struct, frozen=True, kw_only=True):
    """A delivery never arrived: it failed, or was given up after a day."""

    delivery: LostDelivery
    at: datetime


News: TypeAlias = SessionStarted | TurnFinished | DeliveryFailed

_TOLD: Mapping[EventKind, HookKind] = {
    EventKind.SESSION_OPENED: HookKind.SESSION_STARTED,
    EventKind.TURN_DONE: HookKind.TURN_FINISHED,
    EventKind.TURN_FAILED: HookKind.TURN_FINISHED,
    EventKind.TURN_STOPPED: HookKind.TURN_FINISHED,
    EventKind.DELIVERY_FAILED: HookKind.DELIVERY_FAILED,
    EventKind.DELIVERY_ABANDONED: HookKind.DELIVERY_FAILED,
}


class Hooks:
    """Tells hooks, each at its own pace: one that raises, hangs or is slow keeps no other waiting.

    Of endings the ledger of endings tells (`ended`): a hook that fails is told again, up to three
    times. Of everything else they hear from the feed, from a place in it that is stored for each
    hook: one process at a time tells it, and each piece of news is told once. Only a crash in the
    middle of a call lets the same news come again.
    """

    def __init__(
        self,
        database: Database,
        hooks: Mapping[str, Sequence[str | Function]],
        *,
        pace: Intervals | None = None,
        meters: Metrics | None = None,
        within: timedelta = HOOK_WITHIN,
    ) -> None:
        """Tell functions, or what is found by their names, of one kind of news each."""
        callees = [
            (_kind_of(kind), _callee_of(hook, within))
            for kind, listed in hooks.items()
            for hook in listed
        ]
        self._db = database
        self._meters = meters or Metrics()
        self._ended = [callee for kind, callee in callees if kind is HookKind.SESSION_ENDED]
        self._followers = [
            HookRunner(database, kind, callee, pace=pace or Intervals(), meters=self._meters)
            for kind, callee in callees
            if kind is not HookKind.SESSION_ENDED
        ]

    @property
    def on_ended(self) -> Callable[[Ending, Sequence[Message]], Awaitable[None]] | None:
        """What a worker calls with endings; None: nobody wants to be told."""
        return self.tell_ended if self._ended else None

    async def begin(self) -> None:
        """Let new hooks hear of what happens from now on, before anything does."""
        for follower in self._followers:
            await claim_follower(self._db, follower.name)

    async def run(self) -> None:
        """Tell of everything but endings, until cancelled."""
        async with asyncio.TaskGroup() as group:
            for follower in self._followers:
                group.create_task(follower.run(), name=f"hook {follower.name}")

    async def tell_ended(self, ending: Ending, transcript: Sequence[Message]) -> None:
        """Tell every hook of an ending; when one fails, the next attempt is for that one alone."""
        told = await self._db.read(list_told, ending.id)
        waiting = [callee for callee in self._ended if callee.name not in told]
        results = await asyncio.gather(
            *(self._tell_one(callee, ending, transcript) for callee in waiting),
            return_exceptions=True,
        )
        for failure in results:
            if isinstance(failure, BaseException):
                raise failure

    async def _tell_one(
        self, callee: Callee, ending: Ending, transcript: Sequence[Message]
    ) -> None:
        try:
            await callee.call(ending, transcript)
        except Exception as error:
            self._meters.hook_called(HookKind.SESSION_ENDED, failed=True)
            _log_failure(callee.name, error)
            raise
        self._meters.hook_called(HookKind.SESSION_ENDED, failed=False)
        # At once, as others may take their time, or this process may not live to see them end.
        await self._db.write(note_told, ending.id, callee.name)


class HookRunner:
    """Tells one hook what the feed says, from where it was told last."""

    def __init__(
        self,
        database: Database,
        kind: HookKind,
        callee: Callee,
        *,
        pace: Intervals,
        meters: Metrics,
    ) -> None:
        """Tell a hook of one kind of news."""
        self.name = f"{kind} {callee.name}"
        self._db = database
        self._kind = kind
        self._callee = callee
        self._pace = pace
        self._meters = meters
        self._cursor: Cursor | None = None
        self._moved_at = 0.0

    async def run(self) -> None:
        """Tell, until cancelled; then another process may go on at once."""
        try:
            while True:
                try:
                    await self._tell_on()
                except ThreadlineError as error:
                    log.warning("The hook %s has to wait: %s", self.name, error)
                    await asyncio.sleep(NO_STORAGE.total_seconds())
        finally:
            await self._leave()

    async def _tell_on(self) -> None:
        """Take over the telling if nobody has it, and go on with it until it is lost."""
        self._cursor = None
        cursor = await claim_follower(self._db, self.name)
        if cursor is None:
            await asyncio.sleep(self._pace.recover.total_seconds())
            return
        self._cursor, self._moved_at = cursor, _now()
        with self._db.watch() as watch:
            while True:
                is_more = await self._tell_page(self._cursor)
                if not is_more:
                    await watch.wait(_RENEW)
                if _now() - self._moved_at >= _RENEW.total_seconds():
                    await self._move(self._cursor)
                await asyncio.sleep(_BREATH)

    async def _tell_page(self, after: Cursor) -> bool:
        """Tell a stretch of the feed; True: there may be more."""
        try:
            page = await self._db.read(read_feed, after, feed.PAGE)
        except FeedLost:
            log.warning("The hook %s was away for too long, and hears from now on", self.name)
            self._cursor = await self._db.read(feed_end)
            await self._move(self._cursor)
            return True
        for event in page.events:
            news = await self._news_of(event)
            if news is not None:
                await self._tell(news, event.cursor)
            self._cursor = event.cursor
        return bool(page.events) or page.is_behind

    async def _tell(self, news: News, cursor: Cursor) -> None:
        # While it still hangs from an earlier call nothing is moved on, and in a minute another
        # process takes over.
        await self._callee.idle()
        calling = asyncio.create_task(self._callee.call(news), name=f"hook {self.name}")
        try:
            await asyncio.wait({calling})
        except asyncio.CancelledError:
            # What was begun may come to its end, so that it need not be told again.
            await asyncio.wait({calling}, timeout=self._pace.grace.total_seconds())
            raise
        finally:
            if calling.done():
                self._cursor = cursor
                self._note(calling)
            else:
                calling.cancel()
                calling.add_done_callback(log_failure)
        await self._move(cursor)

    def _note(self, call: asyncio.Task[None]) -> None:
        error = None if call.cancelled() else call.exception()
        self._meters.hook_called(self._kind, failed=error is not None)
        if error is not None:
            _log_failure(self.name, error)

    async def _news_of(self, event: Event) -> News | None:
        """Read what a hook is told of an event; None: nothing, or it has been forgotten since."""
        if _TOLD.get(event.kind) is not self._kind:
            return None
        try:
            return await self._read(event)
        except NotFound:
            return None

    async def _read(self, event: Event) -> News | None:
        if self._kind is HookKind.DELIVERY_FAILED:
            delivery = await self._db.read(lost_delivery, DeliveryId(event.subject or 0))
            return DeliveryFailed(delivery=delivery, at=event.at)
        if event.session_id is None:
            return None
        session = await self._db.read(read_visible, None, queries.read_session, event.session_id)
        if self._kind is HookKind.SESSION_STARTED:
            resumed = event.at > session.opened_at
            return SessionStarted(session=session, at=event.at, is_resumed=resumed)
        turn = await self._db.read(read_turn, TurnId(event.subject or 0))
        return TurnFinished(session=session, turn=turn, at=event.at)

    async def _move(self, cursor: Cursor) -> None:
        await self._db.write(move_follower, self.name, cursor, owner=self._db.owner)
        self._moved_at = _now()

    async def _leave(self) -> None:
        self._callee.leave()
        try:
            await self._db.write(stop_following, self.name, self._cursor, owner=self._db.owner)
        except ThreadlineError as error:
            log.warning("The hook %s stays taken for a minute: %s", self.name, error)


def _log_failure(name: str, error: BaseException) -> None:
    is_expected = isinstance(error, ThreadlineError)
    told = None if is_expected else error
    log.warning("The hook %s failed: %s", name, sentence_of(error), exc_info=told)


def _kind_of(name: str) -> HookKind:
    try:
        return HookKind(name)
    except ValueError:
        hint = f"There are {', '.join(HookKind)}"
        raise ConfigError(f"No hook is told of {name!r}", hint=hint) from None


def _callee_of(hook: str | Function, within: timedelta) -> Callee:
    if isinstance(hook, str):
        return Callee(hook, find_function(hook), within)
    module, name = getattr(hook, "__module__", "?"), getattr(hook, "__qualname__", "?")
    return Callee(f"{module}:{name}", hook, within)


def _now() -> float:
    return asyncio.get_running_loop().time()
