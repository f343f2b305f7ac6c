"""The verbs and queries with which the database contract tries a database."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Sequence
from datetime import timedelta

from threadline.core.address import Address, Kind, Sender
from threadline.core.event import Cursor
from threadline.core.inbound import Inbound
from threadline.database.port import Row, SqlValue, Transaction, Watch
from threadline.store import Store, feed
from threadline.store.inbound.receive import receive
from threadline.testing.deadline import HANG_SECONDS

QUIET = timedelta(milliseconds=300)
STRANGER = """
import asyncio, sys
from threadline.assembly import open_database

async def live():
    database = await open_database(sys.argv[1])
    print(database.owner, flush=True)
    await asyncio.sleep(600)

asyncio.run(live())
"""
"""A process that opens the store, tells its name, and lives on until it is killed."""


def _place(name: str) -> dict[str, SqlValue]:
    return {
        "profile": "main",
        "platform": "contract",
        "account": "",
        "chat": "",
        "message_id": name,
        "kind": "message",
        "version": 0,
    }


def _values(name: str, outcome: str = "", number: int | None = None) -> dict[str, SqlValue]:
    return {
        **_place(name),
        "outcome": outcome,
        "session_key": None,
        "turn_id": number,
        "message_key": None,
    }


def note(tx: Transaction, name: str, *, outcome: str = "", number: int | None = None) -> str:
    """Write something down under a name."""
    tx.run("add_arrival", **_values(name, outcome, number))
    return name


def note_all(tx: Transaction, names: Sequence[str]) -> None:
    """Write down several names."""
    for name in names:
        note(tx, name)


def note_many(tx: Transaction, names: Sequence[str]) -> None:
    """Write down several names in one go."""
    tx.run_many("add_arrival", [_values(name) for name in names])


def note_and_fail(tx: Transaction, name: str, error: Exception) -> str:
    """Write something down, and raise an error."""
    note(tx, name)
    raise error


def note_slowly(tx: Transaction, name: str) -> str:
    """Write something down, and take some time for it."""
    time.sleep(0.001)
    return note(tx, name)


def note_late(tx: Transaction, name: str, started: threading.Event, go_on: threading.Event) -> None:
    """Say that it has begun, and write only when it is told to go on."""
    started.set()
    go_on.wait(HANG_SECONDS)
    note(tx, name)


def wait_for(_: Transaction, go_on: threading.Event) -> None:
    """Do nothing until it is told to go on."""
    go_on.wait(HANG_SECONDS)


def raise_error(_: Transaction, error: Exception) -> None:
    """Raise an error."""
    raise error


def look(tx: Transaction, name: str) -> Row:
    """Read what is written under a name."""
    row = tx.one("find_arrival", **_place(name))
    assert row is not None, f"{name} is not there"
    return row


def knows(tx: Transaction, name: str) -> bool:
    """Tell whether something is written under a name."""
    return bool(tx.all("find_arrival", **_place(name)))


def count_slowly(tx: Transaction) -> tuple[int, int]:
    """Count both halves of the pairs; what is looked at later must not be newer."""
    counts = []
    for side in ("right", "left"):
        n = 0
        while knows(tx, f"{side} {n}"):
            n += 1
        counts.append(n)
        time.sleep(0.005)
    return counts[0], counts[1]


def arrive_slowly(tx: Transaction, chat: str, name: str, pause: float) -> None:
    """Take in a message, and commit it only after a while."""
    inbound = Inbound.text(
        name,
        address=Address(platform="contract", kind=Kind.DM, chat=chat),
        sender=Sender(id=chat),
        at=tx.now,
        message_id=name,
    )
    receive(tx, inbound)
    time.sleep(pause)


async def follow_until_stored(
    reader: Store, begin: Cursor, *, messages: int
) -> dict[str, list[int]]:
    """Follow the feed until so many turns were queued; answer the revisions of each session."""
    seen: dict[str, list[int]] = {}
    events = feed.follow(reader.database, begin)
    while messages:
        event = await anext(events)
        if event.session_id is not None:
            seen.setdefault(event.session_id, []).append(event.revision)
        messages -= event.kind.value == "turn.queued"
    if isinstance(events, AsyncGenerator):
        await events.aclose()
    return seen


async def quiet(watch: Watch) -> None:
    """Wait until nothing is left to be noticed."""
    for _ in range(5):
        if not await watch.wait(QUIET):
            return
    raise AssertionError("the watch rings although nothing is committed")


async def error_of(call: Awaitable[object]) -> BaseException | None:
    """Answer the error that a call raises."""
    (outcome,) = await asyncio.gather(call, return_exceptions=True)
    return outcome if isinstance(outcome, BaseException) else None
