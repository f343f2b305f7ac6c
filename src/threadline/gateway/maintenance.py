"""Maintenance: picks up what was cut off, and ends what is over."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import TypeAlias

from threadline.core.delivery import DeliveryId
from threadline.core.errors import StorageError
from threadline.core.message import Message
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.database.port import Watch
from threadline.gateway.intervals import attempt
from threadline.store import Store
from threadline.store.clock import TRUSTED_AFTER
from threadline.store.sessions.session_end import Ending

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
        store: Store,
        *,
        on_ended: Hook | None = None,
        refuses: Refuses | None = None,
        on_swept: Callable[[Sequence[SessionId]], None] | None = None,
    ) -> None:
        """Keep a store; `on_ended` is called once for every session that ends.

        `on_swept` hears at once of those whose time was over.
        """
        self._store = store
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
        store = self._store
        await store.serve()
        dead = await store.dead_owners()
        await asyncio.gather(
            store.interrupt_dead(running, dead), store.reclaim_deliveries(self.sending, dead)
        )
        resumed: list[TurnId] = []
        while among := await self._store.interrupted_turns():
            may_not = refused if self._refuses is None else refused | await self._refuses(among)
            # In several transactions, as each turn can be claimed when its own is committed.
            ids = sorted(among)
            parts = [ids[at : at + _AT_ONCE] for at in range(0, len(ids), _AT_ONCE)]
            found = await asyncio.gather(
                *(store.recover(may_not, frozenset(part)) for part in parts)
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
        ends_at = await self._store.next_lease_end()
        return None if ends_at is None else max(_SOON, ends_at - self._store.now() + _SOON)

    async def sweep(self) -> None:
        """End what is over, and clear away what nobody uses; a step that fails keeps none back."""
        store = self._store
        steps: tuple[Callable[[], Awaitable[object]], ...] = (
            self._observe_clock,
            self._deny_unanswered,
            self._end_expired,
            self._abandon_stale,
            self._prune,
            store.finish_forgettings,
            store.sweep_blobs,
            self._sweep_pieces,
            store.prune_feed,
            store.sweep_pairings,
            store.sweep_outcomes,
            store.clear_gateways,
        )
        for step in steps:
            await attempt(step)

    async def index(self) -> None:
        """Put what was said since into the search index."""
        await self._store.index()

    async def tell_endings(self) -> None:
        """Tell whoever wants to know of sessions that ended."""
        if self.on_ended is not None:
            await self._store.tell_endings(self.on_ended)

    async def _observe_clock(self) -> None:
        jump = await self._store.observe_clock()
        seconds = 0 if jump is None else round(jump.total_seconds())
        wait = f"For {TRUSTED_AFTER} nothing is given up or deleted because of its age"
        if seconds < 0:
            log.warning("The clock was set back by %s. %s", timedelta(seconds=-seconds), wait)
        elif seconds > 0:
            gap = timedelta(seconds=seconds)
            log.info("No gateway ran for %s, or the clock was set ahead. %s", gap, wait)

    async def _prune(self) -> None:
        """Apply the retention rules, unless the clock may be wrong: what is deleted is gone."""
        if await self._store.steady_for() >= TRUSTED_AFTER:
            await self._store.unbind_idle()
            await self._store.prune()

    async def _end_expired(self) -> None:
        ended = await self._store.sweep()
        if ended and self._on_swept is not None:
            self._on_swept(ended)

    async def _deny_unanswered(self) -> None:
        while await self._store.deny_unanswered():
            pass

    async def _abandon_stale(self) -> None:
        while await self._store.abandon_stale():
            pass
        while await self._store.clear_words():
            pass

    async def _sweep_pieces(self) -> None:
        self._stray_pieces = await self._store.sweep_pieces(self._stray_pieces)
