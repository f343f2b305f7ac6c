"""The feed on PostgreSQL, where numbers can become visible out of order."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator

import psycopg
import pytest

from tests.databases import PostgresFactory, on
from threadline.core.event import Event
from threadline.database.port import Transaction
from threadline.database.postgres import check
from threadline.store import Store
from threadline.testing.database_verbs import arrive_slowly
from threadline.testing.deadline import HANG_SECONDS

pytestmark = on("postgres")


async def next_events(events: AsyncGenerator[Event], count: int) -> list[Event]:
    """Read so many events."""
    return [await asyncio.wait_for(anext(events), HANG_SECONDS) for _ in range(count)]


def arrive_and_wait(tx: Transaction, written: threading.Event, go_on: threading.Event) -> None:
    """Write events with small numbers, and commit them late."""
    arrive_slowly(tx, "early", "1", 0.0)
    written.set()
    go_on.wait(HANG_SECONDS)


async def test_a_late_commit_is_not_skipped(database_factory: PostgresFactory) -> None:
    """Events with smaller numbers that are committed after others are seen, and seen first."""
    database = await database_factory()
    store = Store(database)
    begin = await store.feed.end()
    written, go_on = threading.Event(), threading.Event()
    late = asyncio.create_task(database.write(arrive_and_wait, written, go_on))
    await asyncio.to_thread(written.wait, HANG_SECONDS)
    await database.write(arrive_slowly, "other", "2", 0.0)
    visible = database_factory.tamper("SELECT min(id), max(id), count(*) FROM events")
    events = store.feed.follow(begin)
    assert isinstance(events, AsyncGenerator)

    first = asyncio.ensure_future(anext(events))
    await asyncio.wait([first], timeout=0.3)
    assert not first.done(), "what was committed first is shown before it is safe"
    go_on.set()
    await late
    seen = [await asyncio.wait_for(first, HANG_SECONDS), *await next_events(events, 3)]
    await events.aclose()

    rows = database_factory.tamper("SELECT count(*), min(id) FROM events")
    assert visible[0][2] == 2, "the later transaction was not committed first"
    assert rows[0][0] == 4
    assert rows[0][1] != visible[0][0], "the late events have no smaller numbers"
    assert [event.revision for event in seen] == [1, 2, 1, 2]
    assert len({event.session_id for event in seen}) == 2


async def test_a_stranger_holds_the_feed_back_and_is_named(
    database_factory: PostgresFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign open transaction delays the feed; doctor tells who it is, and nothing is lost."""
    monkeypatch.setattr(check, "LONG_SECONDS", 0)
    database = await database_factory()
    store = Store(database)
    begin = await store.feed.end()
    events = store.feed.follow(begin)
    assert isinstance(events, AsyncGenerator)
    with psycopg.connect(database_factory.where, application_name="stranger") as stranger:
        stranger.execute("CREATE TABLE theirs (a INTEGER)")
        await database.write(arrive_slowly, "a", "1", 0.0)
        first = asyncio.ensure_future(anext(events))
        await asyncio.wait([first], timeout=0.2)
        assert not first.done()

        (found,) = await database.check()

        assert not found.grave
        assert f"Process {stranger.info.backend_pid} " in found.what
        assert "stranger" in found.what
        stranger.rollback()
    assert (await asyncio.wait_for(first, HANG_SECONDS)).revision == 1
    await events.aclose()


async def test_many_commits_are_told_in_few_notices(database_factory: PostgresFactory) -> None:
    """Other processes hear of commits at most 50 times a second, and of the last one for sure."""
    database = await database_factory()
    with psycopg.connect(database_factory.where, autocommit=True) as stranger:
        stranger.execute("LISTEN threadline")
        begin = time.monotonic()
        for n in range(200):
            await database.write(arrive_slowly, str(n), str(n), 0.0)
        lasted = time.monotonic() - begin
        notices = list(stranger.notifies(timeout=0.5))

    assert 1 <= len(notices) <= 2 + lasted * 50
