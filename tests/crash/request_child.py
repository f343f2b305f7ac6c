"""Somebody who asks for one turn to be taken back, and whose process dies over it."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from tests.crash.dying_database import Moment, die
from threadline.core.account import KnownRequest
from threadline.core.hidden_range import Undone
from threadline.core.session import SessionId
from threadline.database.sqlite import SqliteDatabase
from threadline.store import Store


async def take_back(
    store: Store, id: SessionId, answer: Callable[[Undone], str] = lambda one: str(one.texts)
) -> None:
    """Ask for one turn to be taken back, always by the same request."""
    owner = await store.owner_account()
    request = KnownRequest(account=owner.key, key="key", request_hash="1" * 64)
    await store.answering(request, 200, answer).undo(id)


async def ask(file: Path, id: SessionId, moment: Moment) -> None:
    """Ask, and die: before anything is committed, or before anybody hears of it."""
    database = SqliteDatabase(file)
    await database.open()
    if moment is Moment.INSIDE:
        await take_back(Store(database), id, lambda _: die())
    await take_back(Store(database), id)
    die()


if __name__ == "__main__":
    asyncio.run(ask(Path(sys.argv[1]), SessionId(sys.argv[2]), Moment(sys.argv[3])))
