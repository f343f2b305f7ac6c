"""Checkpoints: store the output of all running turns in one transaction."""

import logging
from collections.abc import Collection
from contextlib import AsyncExitStack

from threadline.core.errors import ThreadlineError
from threadline.core.turn import TurnId
from threadline.database.port import Database
from threadline.gateway.running_turn import RunningTurn
from threadline.store.turn_queue.queue import checkpoint, renew

log = logging.getLogger("threadline.gateway")


async def save_said(
    database: Database, turns: Collection[RunningTurn], *, renew_all: bool
) -> list[RunningTurn]:
    """Store what turns said since the last time; with `renew_all`, renew every lease.

    Return the turns whose lease is lost.
    """
    # A turn that is being written to proves its lease by that, and need not be waited for.
    free = [turn for turn in turns if not turn.writing.locked()]
    proven = {turn: turn.proof.clock() for turn in turns if renew_all}
    async with AsyncExitStack() as locks:
        for turn in free:
            await locks.enter_async_context(turn.writing)
        # A chunk that is stored before a held message would be dropped with that message.
        held = {turn for turn in free if not await _store_held(turn)}
        saying = [turn for turn in free if not turn.is_asking]
        saving = [(turn, turn.pieces, "" if turn in held else turn.unsaved()) for turn in saying]
        chunks = [(turn, n, text) for turn, n, text in saving if text or renew_all]
        lost: frozenset[TurnId] = frozenset()
        if chunks:
            lost = await checkpoint(
                database,
                [(turn.lease, text) for turn, _, text in chunks],
            )
        for turn, count, _ in chunks:
            if turn not in held:
                turn.mark_saved(count)
    # These can say nothing just now, and still need their lease: they wait for an answer, or for
    # a write that may fail.
    silent = [turn for turn in turns if renew_all and (turn.is_asking or turn not in free)]
    if silent:
        lost |= await renew(database, [turn.lease for turn in silent])
    for turn, asked_at in proven.items():
        if turn.turn.id not in lost:
            turn.proof.confirm(asked_at)
    return [turn for turn in turns if turn.turn.id in lost]


async def _store_held(turn: RunningTurn) -> bool:
    """Store the held messages of a turn; return False if that is not possible now."""
    try:
        await turn.store_held()
    except ThreadlineError as error:
        # Its own task meets the same error when it ends, and handles it.
        log.debug("A message of turn %s cannot be stored yet: %s", turn.turn.id, error)
        return False
    return True
