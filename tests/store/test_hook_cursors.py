import asyncio
from datetime import timedelta

import pytest

from tests.databases import OpenStore
from tests.gateway.worker_setup import tell, until
from threadline.core.errors import Invalid, LeaseLost, NotFound
from threadline.core.event import EventKind
from threadline.store import Store
from threadline.store.feed import claim_follower, lost_delivery, move_follower, stop_following
from threadline.testing.clock import FakeClock


async def test_a_new_follower_begins_now(store: Store) -> None:
    """Who begins to follow is told of what comes, and not of what was."""
    await tell(store, "before")
    cursor = await claim_follower(store.database, "hook")
    assert cursor is not None
    assert not (await store.feed.read(cursor)).events

    await tell(store, "after", who="bob")

    kinds = [event.kind for event in (await store.feed.read(cursor)).events]
    assert EventKind.SESSION_OPENED in kinds


async def test_a_follower_goes_on_where_it_was(open_store: OpenStore) -> None:
    """How far somebody was told is kept, for this process and for the next."""
    here, there = await open_store(), await open_store()
    begun = await claim_follower(here.database, "hook")
    await tell(here, "hello")
    end = await here.feed.end()
    assert begun != end

    await here.database.write(move_follower, "hook", end, owner=here.database.owner)
    assert await claim_follower(here.database, "hook") == end
    await here.database.write(stop_following, "hook", None, owner=here.database.owner)

    assert await claim_follower(there.database, "hook") == end


async def test_one_process_tells_a_follower(open_store: OpenStore) -> None:
    """While one process tells, another one may not, but it may tell somebody else."""
    here, there = await open_store(), await open_store()

    assert await claim_follower(here.database, "one") is not None
    assert await claim_follower(there.database, "one") is None
    assert await claim_follower(there.database, "two") is not None
    with pytest.raises(LeaseLost):
        await there.database.write(
            move_follower, "one", await there.feed.end(), owner=there.database.owner
        )


async def test_of_two_who_come_at_once_one_tells(open_store: OpenStore) -> None:
    """Two processes that begin in the same moment do not both get the telling."""
    stores = [await open_store() for _ in range(4)]

    begun = await asyncio.gather(*(claim_follower(store.database, "hook") for store in stores))

    assert sum(cursor is not None for cursor in begun) == 1


async def test_who_died_is_followed_at_once(open_store: OpenStore) -> None:
    """The telling of a process that vanished is taken over without waiting for its lease."""
    here, there = await open_store(), await open_store()
    cursor = await claim_follower(here.database, "hook")

    await here.close()

    async def is_ours() -> bool:
        return await claim_follower(there.database, "hook") == cursor

    # A server that has just begun calls nobody dead for some seconds.
    await until(is_ours, "the telling is taken over")


async def test_who_fell_silent_is_followed_after_a_minute(open_store: OpenStore) -> None:
    """A process that lives but does not tell any more loses the telling with its lease."""
    clock = FakeClock()
    here, there = await open_store(clock=clock), await open_store(clock=clock)
    cursor = await claim_follower(here.database, "hook")
    assert cursor is not None
    clock.advance(timedelta(seconds=50))
    await here.database.write(move_follower, "hook", cursor, owner=here.database.owner)
    clock.advance(timedelta(seconds=50))
    assert await claim_follower(there.database, "hook") is None

    clock.advance(timedelta(seconds=20))
    assert await claim_follower(there.database, "hook") == cursor

    with pytest.raises(LeaseLost):
        await here.database.write(move_follower, "hook", cursor, owner=here.database.owner)
    await here.database.write(stop_following, "hook", None, owner=here.database.owner)
    assert await claim_follower(here.database, "hook") is None


async def test_nonsense_is_not_followed(store: Store) -> None:
    """Names that no database can keep, and deliveries that never were, are refused."""
    with pytest.raises(Invalid):
        await claim_follower(store.database, "a\x00b")
    with pytest.raises(Invalid):
        await claim_follower(store.database, "x" * 256)
    with pytest.raises(NotFound):
        await store.database.read(lost_delivery, 7)  # type: ignore[arg-type]
