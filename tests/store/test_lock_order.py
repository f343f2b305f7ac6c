"""Locks are taken in one order, so that nobody waits for somebody who waits for them."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Concatenate, ParamSpec, TypeVar, cast

import psycopg
import pytest

from tests.databases import PostgresFactory, on
from tests.gateway.worker_setup import until
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import Delivery, SendOutcome
from threadline.core.errors import ThreadlineError
from threadline.core.inbound import Inbound
from threadline.core.job import NewJob
from threadline.core.message import Role, say
from threadline.core.person import Identity, Viewer
from threadline.database.port import Database, Transaction
from threadline.store import Store
from threadline.testing.clock import FakeClock

pytestmark = on("postgres")

ADA = Sender(id="ada")
P = ParamSpec("P")
T = TypeVar("T")


class Counting:
    """A database that remembers how often each verb ran: one that a deadlock ends runs again."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.runs: list[int] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a verb, and count."""
        self.runs.append(0)
        place = len(self.runs) - 1

        def counted(tx: Transaction, /, *args: P.args, **kwargs: P.kwargs) -> T:
            self.runs[place] += 1
            return verb(tx, *args, **kwargs)

        return await self._database.write(counted, *args, **kwargs)


async def blocked(factory: PostgresFactory, count: int) -> None:
    """Wait until so many transactions wait for others."""

    async def are_waiting() -> bool:
        (row,) = factory.tamper(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return row[0] == count

    await until(are_waiting, f"{count} transactions wait")


def message(store: Store, name: str) -> Inbound:
    """Say something in a group, as it is called just now."""
    group = Address(platform="telegram", kind=Kind.GROUP, chat="7", chat_name=name)
    return Inbound.text("hi", address=group, sender=ADA, at=store.now(), message_id=name)


async def answered(store: Store, name: str) -> Delivery:
    """Say something, and take the answer for sending."""
    await store.receive(message(store, name))
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    (parcel,) = await store.deliveries.lease()
    return parcel.delivery


@pytest.mark.parametrize("outcome", [None, SendOutcome.DEAD])
async def test_a_place_is_renamed_while_it_is_found_dead_or_alive(
    database_factory: PostgresFactory, outcome: SendOutcome | None
) -> None:
    """Whoever speaks changes the name of a place, and whoever sends there whether it lives."""
    database = Counting(await database_factory())
    store = Store(cast("Database", database))
    dead = await answered(store, "First name")
    await store.deliveries.record_failure(dead, SendOutcome.DEAD, "blocked")
    delivery = await answered(store, "Second name")

    with psycopg.connect(database_factory.where) as stranger:
        stranger.execute("SELECT key FROM sessions FOR NO KEY UPDATE")
        told = (
            store.deliveries.record_sent(delivery)
            if outcome is None
            else store.deliveries.record_failure(delivery, outcome, "blocked")
        )
        sending = asyncio.create_task(told)
        await blocked(database_factory, 1)
        hearing = asyncio.create_task(store.receive(message(store, "Third name")))
        await blocked(database_factory, 2)
    await asyncio.gather(sending, hearing)

    assert set(database.runs) == {1}


async def test_a_job_starts_while_its_maker_is_forgotten(
    database_factory: PostgresFactory,
) -> None:
    """Whoever starts it needs the maker, and whoever forgets the maker needs the job."""
    clock = FakeClock()
    database = Counting(await database_factory(clock=clock))
    store = Store(cast("Database", database))
    at = Address(platform="telegram", kind=Kind.DM, chat="ada")
    new = NewJob(prompt="What is new?", schedule="every 1h")
    job = await store.jobs.create(new, Viewer(address=at, sender=ADA))
    clock.advance(timedelta(hours=1))

    with psycopg.connect(database_factory.where) as stranger:
        stranger.execute("SELECT id FROM jobs FOR UPDATE")
        starting = asyncio.create_task(store.jobs.start_due(job.id))
        await blocked(database_factory, 1)
        who = Identity(platform="telegram", id="ada")
        forgetting = asyncio.create_task(store.people.delete(who))
        await blocked(database_factory, 2)
    with suppress(ThreadlineError):
        await starting
    await forgetting

    assert await store.jobs.list() == []
    assert set(database.runs) == {1}
