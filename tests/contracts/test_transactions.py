"""What a transaction carries: the moment, the settings and new ids, on every database."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import apsw
import psycopg
import pytest

from tests.databases import POSTGRES, DatabaseFactory
from threadline.core.settings import Settings
from threadline.database.port import Database, Transaction
from threadline.testing.clock import A_MONDAY

SECOND = timedelta(seconds=1)


class Ticking:
    """A clock that shows one second more at each reading."""

    def __init__(self) -> None:
        self.readings: list[datetime] = []

    def __call__(self) -> datetime:
        self.readings.append(A_MONDAY + len(self.readings) * SECOND)
        return self.readings[-1]


def write_of(database: Database) -> Callable[..., Any]:
    """Return the method that writes."""
    return database.write


def read_of(database: Database) -> Callable[..., Any]:
    """Return the method that reads."""
    return database.read


@pytest.mark.parametrize("method", [write_of, read_of])
async def test_all_statements_of_a_transaction_see_one_moment(
    database_factory: DatabaseFactory, method: Callable[[Database], Callable[..., Any]]
) -> None:
    """The clock is read once for each transaction, whether it writes or reads."""
    clock = Ticking()
    database = await database_factory(clock=clock)
    before = len(clock.readings)

    def look(tx: Transaction) -> list[datetime]:
        return [tx.now, tx.now, tx.now]

    first = await method(database)(look)
    second = await method(database)(look)

    assert [set(first), set(second)] == [{one} for one in clock.readings[before:]]


async def test_a_repeated_attempt_reads_the_clock_and_the_settings_again(
    database_factory: DatabaseFactory,
) -> None:
    """An attempt that the database refuses leaves nothing behind, not even its moment."""
    clock, seen, rules = Ticking(), [], Settings(queue_cap=7)
    database = await database_factory(clock=clock)
    refused = (
        psycopg.errors.SerializationFailure("refused")
        if database_factory.kind == POSTGRES
        else apsw.BusyError("refused")
    )

    def fail_once(tx: Transaction) -> None:
        seen.append((tx.now, tx.settings))
        if len(seen) == 1:
            database.environment.settings = rules
            raise refused

    await database.write(fail_once)

    assert seen == [(clock.readings[-2], Settings()), (clock.readings[-1], rules)]


@pytest.mark.parametrize("method", [write_of, read_of])
async def test_a_transaction_goes_by_the_settings_of_its_beginning(
    database_factory: DatabaseFactory, method: Callable[[Database], Callable[..., Any]]
) -> None:
    """Settings that are replaced count for the transactions that begin afterwards."""
    database = await database_factory()
    rules = Settings(queue_cap=7)

    def replace_settings(tx: Transaction) -> Settings:
        database.environment.settings = rules
        return tx.settings

    assert await method(database)(replace_settings) == Settings()
    assert await method(database)(lambda tx: tx.settings) is rules


async def test_ids_come_from_the_source_of_the_database(database_factory: DatabaseFactory) -> None:
    """A test chooses the ids; without a choice they are random."""
    database = await database_factory()
    drawn = await database.write(lambda tx: {tx.new_id() for _ in range(5)})
    assert len(drawn) > 1
    ids = iter([3, 1])
    database.environment.new_id = lambda: next(ids)

    assert await database.write(lambda tx: [tx.new_id(), tx.new_id()]) == [3, 1]
