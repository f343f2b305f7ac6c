from datetime import UTC, datetime, timedelta

import pytest

from tests.databases import OpenStore
from tests.gateway.worker_setup import until
from threadline.core.errors import NotFound
from threadline.core.gateway_status import PlatformHealth, PlatformState, ServerHealth, ServerState
from threadline.store import Store, gateways
from threadline.store.gateways import register_gateway, remove_dead_gateways, unregister_gateway
from threadline.testing.clock import FakeClock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
UP = PlatformHealth(state=PlatformState.UP, since=NOON)
DOWN = PlatformHealth(state=PlatformState.DOWN, since=NOON, error="The token was refused.")


async def enrol(store: Store, **platforms: PlatformHealth) -> None:
    await store.database.write(
        register_gateway,
        owner=store.database.owner,
        host="ship",
        pid=7,
        version="1.2",
        url="http://localhost:8080",
        platforms=platforms,
    )


async def test_who_serves_can_be_seen(open_store: OpenStore) -> None:
    """A gateway that enrolled is listed, with what it said of itself and when it was heard of."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    began = store.now()

    await enrol(store, telegram=UP, discord=DOWN)
    clock.advance(timedelta(seconds=10))
    await gateways.beat(store.database, {"telegram": DOWN})

    (row,) = await store.gateways()
    assert (row.host, row.pid, row.version, row.url) == ("ship", 7, "1.2", "http://localhost:8080")
    assert row.owner == store.owner
    assert row.platforms == {"telegram": DOWN}
    assert (row.started_at, row.beat_at) == (began, began + timedelta(seconds=10))


async def test_mcp_servers_of_a_gateway_are_stored(open_store: OpenStore) -> None:
    """Each beat replaces the state of the MCP servers, with tools and last error."""
    store = await open_store()
    up = ServerHealth(state=ServerState.UP, since=NOON, tools=13)
    down = ServerHealth(state=ServerState.DOWN, since=NOON, error="Refused", error_at=NOON)
    await enrol(store, telegram=UP)
    (before,) = await store.gateways()

    await gateways.beat(store.database, {"telegram": UP}, servers={"notes": up, "search": down})

    (row,) = await store.gateways()
    assert before.servers == {}
    assert row.servers == {"notes": up, "search": down}
    assert row.platforms == {"telegram": UP}


async def test_who_left_is_not_listed(open_store: OpenStore) -> None:
    """A gateway that leaves is gone at once, and the others stay."""
    here, there = await open_store(), await open_store()
    await enrol(here)
    await enrol(there)
    assert {row.owner for row in await here.gateways()} == {here.owner, there.owner}

    await there.database.write(unregister_gateway, owner=there.database.owner)

    assert [row.owner for row in await here.gateways()] == [here.owner]


async def test_a_dead_gateway_is_told_apart(open_store: OpenStore) -> None:
    """A process that vanished without a word is not listed, and can be cleared away."""
    here, there = await open_store(), await open_store()
    await enrol(here)
    await enrol(there)

    await there.close()

    async def is_alone() -> bool:
        return [row.owner for row in await here.gateways()] == [here.owner]

    # A server that has just begun calls nobody dead for some seconds.
    await until(is_alone, "the other one is known to be gone")
    assert await remove_dead_gateways(here.database) == 1
    assert await remove_dead_gateways(here.database) == 0


async def test_a_beat_without_enrolment_is_refused(store: Store) -> None:
    """Who was cleared away by others, or never came, has to enrol first."""
    with pytest.raises(NotFound, match="never enrolled"):
        await gateways.beat(store.database, {})


async def test_enrolling_again_begins_anew(store: Store) -> None:
    """A process that begins to serve again is there once."""
    await enrol(store, telegram=UP)
    await enrol(store, discord=UP)

    (row,) = await store.gateways()
    assert list(row.platforms) == ["discord"]


async def test_the_load_is_counted(store: Store) -> None:
    """An empty store has nothing to do, and some size."""
    load = await store.load()

    assert (load.queued, load.running, load.owed) == (0, 0, 0)
    assert load.size > 0
