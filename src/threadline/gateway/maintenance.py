"""Maintenance: picks up what was cut off, and ends what is over."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from functools import partial
from typing import TypeAlias

from threadline.core.delivery import DeliveryId
from threadline.core.errors import StorageError
from threadline.core.message import Message
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.database.port import Database, Watch
from threadline.gateway.intervals import attempt
from threadline.store.accounts.idempotency import sweep_outcomes
from threadline.store.blobs import sweep_all_blobs
from threadline.store.clock import TRUSTED_AFTER, steady_for
from threadline.store.clock_correction import observe_clock
from threadline.store.deletion.forget import finish_deletions
from threadline.store.deletion.prune import prune, sweep_pieces, unbind_idle
from threadline.store.deliveries.recovery import abandon_stale, clear_words
from threadline.store.feed import prune_whole_feed
from threadline.store.gateways import remove_dead_gateways
from threadline.store.people.pairing import sweep_pairings
from threadline.store.search.search import index_all
from threadline.store.sessions import endings
from threadline.store.sessions.endings import expire_sessions
from threadline.store.sessions.session_end import Ending
from threadline.store.turn_queue import queue
from threadline.store.turn_queue.crash_recovery import find_lease_end, list_interrupted
from threadline.store.turn_queue.queue import (
    interrupt_dead,
    list_dead_owners,
    recover_deliveries,
    serve,
)
from threadline.store.turns.stop_and_wait import deny_unanswered

log = logging.getLogger("threadline.gateway")

_AT_ONCE = 4
"""So many interrupted turns are decided about in one transaction."""
_SOON = timedelta(milliseconds=20)
"""A lease is over only after its last moment."""
Hook: TypeAlias = Callable[[Ending, Sequence[Message]], Awaitable[None]]
"""Is told of an ending, with the transcript. One that raises is called again."""
Refuses: TypeAlias = Callable[[Collection[TurnId]], Awaitable[frozenset[TurnId]]]
"""Tells which of some interrupted turns may not go on, as their sender may not speak any more."""


class Maintenance:
    """Does the housekeeping of a store. Any number of them may work on one store."""

    def __init__(
        self,
        database: Database,
        *,
        on_ended: Hook | None = None,
        refuses: Refuses | None = None,
        on_swept: Callable[[Sequence[SessionId]], None] | None = None,
    ) -> None:
        """Keep a store; `on_ended` is called once for every session that ends.

        `on_swept` hears at once of those whose time was over.
        """
        self._db = database
        self.on_ended = on_ended
        self._refuses = refuses
        self._on_swept = on_swept
        self.sending: Callable[[], frozenset[DeliveryId]] = frozenset
        """Returns what this process is sending, which is not taken from it."""
        self._stray_pieces: frozenset[str] = frozenset()

    async def recover(
        self,
        refused: frozenset[TurnId] = frozenset(),
        running: Callable[[], frozenset[TurnId]] = frozenset,
    ) -> list[TurnId]:
        """Take turns and deliveries from workers that are gone; return the turns that run again.

        Replies that are owed come first: they are due again before any turn is. Access is asked
        before a turn goes on. `running` returns the turns of this process, which are not taken.
        """
        database = self._db
        await serve(database)
        dead = await list_dead_owners(database)
        await asyncio.gather(
            interrupt_dead(database, running, dead),
            recover_deliveries(database, self.sending, dead),
        )
        resumed: list[TurnId] = []
        while among := await self._db.read(list_interrupted):
            may_not = refused if self._refuses is None else refused | await self._refuses(among)
            # In several transactions, as each turn can be claimed when its own is committed.
            ids = sorted(among)
            parts = [ids[at : at + _AT_ONCE] for at in range(0, len(ids), _AT_ONCE)]
            found = await asyncio.gather(
                *(queue.recover(database, may_not, frozenset(part)) for part in parts)
            )
            resumed += [turn_id for one in found for turn_id in one.resumed]
            if not any(one.resumed or one.failed for one in found):
                break
        return resumed

    async def recover_in_time(
        self, deaths: Watch, recover: Callable[[], Awaitable[object]], every: timedelta
    ) -> None:
        """Call `recover` every so often, and at once when it may find something.

        That is when another process is gone, and when a lease that another one holds runs out.
        """
        while True:
            pause = every
            try:
                pause = min(every, await self._until_lease_end() or every)
                await deaths.wait(pause)
            except StorageError as error:
                log.warning("The leases of others cannot be read: %s", error)
                await asyncio.sleep(pause.total_seconds())
            await attempt(recover)

    async def _until_lease_end(self) -> timedelta | None:
        ends_at = await self._db.read(find_lease_end, self._db.owner)
        return None if ends_at is None else max(_SOON, ends_at - self._db.now() + _SOON)

    async def sweep(self) -> None:
        """End what is over, and clear away what nobody uses; a step that fails keeps none back."""
        database = self._db
        steps: tuple[Callable[[], Awaitable[object]], ...] = (
            self._observe_clock,
            self._deny_unanswered,
            self._end_expired,
            self._abandon_stale,
            self._prune,
            partial(finish_deletions, database),
            partial(sweep_all_blobs, database),
            self._sweep_pieces,
            partial(prune_whole_feed, database),
            partial(database.write, sweep_pairings),
            partial(database.write, sweep_outcomes),
            partial(remove_dead_gateways, database),
        )
        for step in steps:
            await attempt(step)

    async def index(self) -> None:
        """Put what was said since into the search index."""
        await index_all(self._db)

    async def tell_endings(self) -> None:
        """Tell whoever wants to know of sessions that ended."""
        if self.on_ended is not None:
            await endings.tell_endings(self._db, self.on_ended)

    async def _observe_clock(self) -> None:
        jump = await observe_clock(self._db)
        seconds = 0 if jump is None else round(jump.total_seconds())
        wait = f"For {TRUSTED_AFTER} nothing is given up or deleted because of its age"
        if seconds < 0:
            log.warning("The clock was set back by %s. %s", timedelta(seconds=-seconds), wait)
        elif seconds > 0:
            gap = timedelta(seconds=seconds)
            log.info("No gateway ran for %s, or the clock was set ahead. %s", gap, wait)

    async def _prune(self) -> None:
        """Apply the retention rules, unless the clock may be wrong: what is deleted is gone."""
        if await self._db.read(steady_for) >= TRUSTED_AFTER:
            await unbind_idle(self._db)
            await prune(self._db)

    async def _end_expired(self) -> None:
        ended = await expire_sessions(self._db)
        if ended and self._on_swept is not None:
            self._on_swept(ended)

    async def _deny_unanswered(self) -> None:
        while await self._db.write(deny_unanswered):
            pass

    async def _abandon_stale(self) -> None:
        while await self._db.write(abandon_stale):
            pass
        while await self._db.write(clear_words):
            pass

    async def _sweep_pieces(self) -> None:
        self._stray_pieces = await sweep_pieces(self._db, self._stray_pieces)
