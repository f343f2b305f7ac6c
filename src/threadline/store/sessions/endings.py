"""Endings: sessions that expire, and the hook that is called once for every session that ends."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from threadline.core.errors import sentence_of
from threadline.core.message import Message
from threadline.core.session import SessionId
from threadline.core.turn import LEASE
from threadline.database.port import Database
from threadline.store.sessions import session_end
from threadline.store.sessions.session_end import Ending
from threadline.store.transcripts.history import history

_RENEW_SECONDS = LEASE.total_seconds() / 3


async def expire_sessions(db: Database) -> list[SessionId]:
    """End all sessions that their reset policy has expired; return their ids."""
    ended: list[SessionId] = []
    for platform, kind in await db.read(session_end.list_open_kinds):
        while slice_ := await db.write(session_end.sweep, platform, kind):
            ended += slice_
    return ended


async def tell_endings(
    db: Database, hook: Callable[[Ending, Sequence[Message]], Awaitable[None]]
) -> int:
    """Call a hook once for every ending that has not been told, with the transcript.

    A hook that raises is called up to three times more, then the failure is recorded. Return how
    many endings were told. After a crash during a call the hook is called again with the same
    `Ending.id`.
    """
    told = 0
    while ending := await db.write(session_end.take_ending, owner=db.owner):
        transcript = await db.read(history, ending.session_id)
        error = None
        try:
            await _tell(db, ending, hook(ending, transcript))
        except Exception as failure:  # noqa: BLE001 - becomes the recorded state of the ending
            error = sentence_of(failure)
        await db.write(session_end.close_ending, ending, owner=db.owner, error=error)
        told += error is None
    return told


async def _tell(db: Database, ending: Ending, telling: Awaitable[None]) -> None:
    """Wait for a hook, and renew the lease of the ending however long it takes."""
    task = asyncio.ensure_future(telling)
    try:
        while not (await asyncio.wait({task}, timeout=_RENEW_SECONDS))[0]:
            await db.write(session_end.renew_ending, ending, owner=db.owner)
    finally:
        task.cancel()
    await task
