"""The keeper: picks up what was cut off, and ends what is over."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from threadline.core.message import Message
from threadline.core.turn import TurnId
from threadline.sessions.endings import Ending
from threadline.sessions.store import Store

Hook: TypeAlias = Callable[[Ending, Sequence[Message]], Awaitable[None]]
"""Is told of an ending, with the transcript. One that raises is called again."""


class Keeper:
    """Does the housekeeping of a store. Any number of them may work on one store."""

    def __init__(self, store: Store, *, on_ended: Hook | None = None) -> None:
        """Keep a store; `on_ended` is called once for every session that ends."""
        self._store = store
        self._on_ended = on_ended
        self._stray_pieces: frozenset[str] = frozenset()

    async def recover(self, refused: frozenset[TurnId] = frozenset()) -> list[TurnId]:
        """Take turns and deliveries from workers that are gone; answer the turns that run again.

        Replies that are owed come first: they are due again before any turn is.
        """
        await self._store.interrupt_dead()
        await self._store.reclaim_deliveries()
        resumed: list[TurnId] = []
        while (found := await self._store.recover(refused)).resumed or found.failed:
            resumed += found.resumed
        return resumed

    async def sweep(self) -> None:
        """End what is over: sessions, questions, replies; and clear away what nobody uses."""
        while await self._store.deny_unanswered():
            pass
        await self._store.sweep()
        while await self._store.abandon_stale():
            pass
        await self._store.unbind_idle()
        await self._store.prune()
        await self._store.finish_forgettings()
        await self._store.sweep_blobs()
        self._stray_pieces = await self._store.sweep_pieces(self._stray_pieces)
        await self._store.prune_feed()

    async def index(self) -> None:
        """Put what was said since into the search index."""
        await self._store.index()

    async def tell_endings(self) -> None:
        """Tell whoever wants to know of sessions that ended."""
        if self._on_ended is not None:
            await self._store.tell_endings(self._on_ended)
