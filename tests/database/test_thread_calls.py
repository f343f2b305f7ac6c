"""Jobs: whatever a verb does, its caller and its neighbours are answered."""

import asyncio
import threading

import pytest

from tests.databases import DatabaseFactory
from threadline.core.errors import StorageError
from threadline.database.port import Transaction
from threadline.testing.database_verbs import error_of, knows, note
from threadline.testing.deadline import HANG_SECONDS

ODD = [StopIteration("over"), SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
async def test_an_odd_end_of_a_verb_is_its_callers_error(
    odd: BaseException, database_factory: DatabaseFactory
) -> None:
    """A future refuses StopIteration, and SystemExit ended the thread: the caller hung for ever."""
    database = await database_factory()

    def verb(tx: Transaction) -> None:
        note(tx, "odd")
        raise odd

    def query(tx: Transaction) -> None:
        knows(tx, "odd")
        raise odd

    for _ in range(9):  # more often than there are threads
        for call in (database.write(verb), database.read(query)):
            error = await asyncio.wait_for(error_of(call), HANG_SECONDS)
            assert isinstance(error, StorageError)
            assert type(odd).__name__ in str(error)
    await asyncio.wait_for(database.write(note, "after"), HANG_SECONDS)
    assert await database.read(knows, "after")
    assert not await database.read(knows, "odd")


async def test_one_bad_verb_does_not_harm_its_batch(database_factory: DatabaseFactory) -> None:
    """All who were committed together hear of it, though one among them ended oddly."""
    database = await database_factory()
    go_on = threading.Event()

    def verb(tx: Transaction, n: int) -> int:
        note(tx, str(n))
        if n < len(ODD):
            raise ODD[n]
        return n

    first = asyncio.create_task(database.write(lambda _: go_on.wait(HANG_SECONDS)))
    calls = [asyncio.create_task(database.write(verb, n)) for n in range(20)]
    await asyncio.sleep(0.05)
    go_on.set()
    outcomes = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), HANG_SECONDS)
    await first

    assert all(isinstance(outcome, StorageError) for outcome in outcomes[: len(ODD)])
    assert outcomes[len(ODD) :] == list(range(len(ODD), 20))
