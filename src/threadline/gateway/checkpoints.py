"""Checkpoints: what running turns have said is brought into the store, by one verb for all."""

import logging
from collections.abc import Collection
from contextlib import AsyncExitStack

from threadline.core.errors import ThreadlineError
from threadline.core.turn import TurnId
from threadline.gateway.running import RunningTurn
from threadline.sessions.store import Store

log = logging.getLogger("threadline.gateway")


async def save_said(
    store: Store, turns: Collection[RunningTurn], *, renew_all: bool
) -> list[RunningTurn]:
    """Store what turns said since last time, and renew the leases of the silent if that is asked.

    Answers those whose lease is lost.
    """
    # Whoever is just writing proves its lease by that, and need not be waited for.
    free = [turn for turn in turns if not turn.writing.locked()]
    async with AsyncExitStack() as locks:
        for turn in free:
            await locks.enter_async_context(turn.writing)
        for turn in free:
            await _store_held(turn)
        saying = [turn for turn in free if not turn.is_asking]
        saving = [(turn, turn.pieces, turn.unsaved()) for turn in saying]
        chunks = [(turn, n, text) for turn, n, text in saving if text or renew_all]
        lost: frozenset[TurnId] = frozenset()
        if chunks:
            lost = await store.checkpoint([(turn.lease, text) for turn, _, text in chunks])
        for turn, count, _ in chunks:
            turn.mark_saved(count)
    # A turn that waits for an answer can say nothing, and still needs its lease.
    asking = [turn for turn in turns if turn.is_asking and renew_all]
    if asking:
        lost |= await store.renew([turn.lease for turn in asking])
    return [turn for turn in turns if turn.turn.id in lost]


async def _store_held(turn: RunningTurn) -> None:
    try:
        await turn.store_held()
    except ThreadlineError:
        # Its own task meets the same error when it ends, and knows what to do about it.
        log.debug("A message of turn %s cannot be stored yet", turn.turn.id)
