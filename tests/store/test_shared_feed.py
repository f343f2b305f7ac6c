"""Everybody who follows the feed in one process, and how often it is read for them."""

import asyncio
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import pytest

from threadline.core.errors import StorageError
from threadline.core.event import Cursor
from threadline.database.port import Transaction
from threadline.store.feed import FeedPage, SharedReads

P = ParamSpec("P")
T = TypeVar("T")

HERE = Cursor("0.7")
PAGE = FeedPage(events=(), cursor=HERE, is_behind=False)


class SlowDatabase:
    """Answers reads when it is told to, and counts them."""

    def __init__(self) -> None:
        self.reads: list[asyncio.Future[FeedPage]] = []

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        answer: asyncio.Future[FeedPage] = asyncio.get_running_loop().create_future()
        self.reads.append(answer)
        return await answer  # type: ignore[return-value]


async def begun(database: SlowDatabase, *rings: int) -> list[asyncio.Task[FeedPage]]:
    """Let somebody look after each of these rings, at the same place."""
    reads = SharedReads()
    tasks = [
        asyncio.create_task(reads.page_after(database, HERE, number))  # type: ignore[arg-type]
        for number in rings
    ]
    await asyncio.sleep(0)
    return tasks


async def test_one_read_is_enough_for_all_at_one_place() -> None:
    """Four who were woken by one commit share a read."""
    database = SlowDatabase()

    tasks = await begun(database, 3, 3, 3, 3)
    (read,) = database.reads
    read.set_result(PAGE)

    assert await asyncio.gather(*tasks) == [PAGE] * 4


async def test_a_read_that_began_before_a_commit_is_not_shared() -> None:
    """Whoever was woken by a later commit looks for themselves, as the other read may miss it."""
    database = SlowDatabase()

    tasks = await begun(database, 3, 4, 4)

    assert len(database.reads) == 2
    for read in database.reads:
        read.set_result(PAGE)
    assert await asyncio.gather(*tasks) == [PAGE] * 3


@pytest.mark.parametrize("is_cancelled", [True, False])
async def test_whoever_shares_a_read_that_fails_looks_again(*, is_cancelled: bool) -> None:
    """The end of one follower is not the end of the others."""
    database = SlowDatabase()

    first, second = await begun(database, 3, 3)
    if is_cancelled:
        first.cancel()
    else:
        database.reads[0].set_exception(StorageError("away"))
    await asyncio.wait({first})
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    database.reads[1].set_result(PAGE)

    assert await second == PAGE
    assert first.cancelled() if is_cancelled else isinstance(first.exception(), StorageError)
