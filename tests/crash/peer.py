"""Other processes at one store: they write, follow, or hold it.

    python -m tests.crash.peer turns WHERE NAME TASKS COUNT
    python -m tests.crash.peer same WHERE NAME SESSION COUNT
    python -m tests.crash.peer follow WHERE CURSOR
    python -m tests.crash.peer hold WHERE SECONDS

Each line on standard output is JSON, written as soon as it is so.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable
from typing import TypeVar

import apsw
import psycopg

import threadline
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import ThreadlineError
from threadline.core.event import Cursor
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.store import Store

T = TypeVar("T")

RULES = Settings(queue_cap=100_000)
SHARED = Address(platform="p", kind=Kind.DM, chat="shared")


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    """Start a peer."""
    command = (sys.executable, "-m", "tests.crash.peer", *arguments)
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    )


def tell(**facts: object) -> None:
    """Say one thing."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


class Writer:
    """Writes, measures how long that takes, and counts what is refused."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.spans: list[float] = []
        self.told: list[str] = []
        self.errors: list[str] = []

    async def measured(self, work: Awaitable[T]) -> T | None:
        """Wait for one write; an error is counted."""
        started = time.perf_counter()
        try:
            return await work
        except ThreadlineError as error:
            self.errors.append(f"{type(error).__name__}: {error}")
            return None
        finally:
            self.spans.append(time.perf_counter() - started)

    async def say(self, address: Address, id: str) -> SessionId | None:
        """Let a message arrive."""
        inbound = Inbound.text(
            f"{id} v0",
            address=address,
            sender=Sender(id="us"),
            at=self._store.now(),
            message_id=id,
        )
        arrival = await self.measured(self._store.receive(inbound))
        if arrival is None:
            return None
        self.told.append(id)
        return arrival.session_id

    async def answer(self) -> None:
        """Run the turn that has waited longest, if there is one."""
        claimed = await self.measured(self._store.turns.claim())
        if claimed is not None:
            words = [say(Role.ASSISTANT, f"answer to turn {claimed.turn.id}")]
            await self.measured(self._store.turns.append(claimed.lease, words))
            await self.measured(self._store.turns.finish(claimed.lease))

    def report(self) -> None:
        """Say how it went."""
        spans = sorted(self.spans)
        tell(
            told=self.told,
            errors=self.errors,
            writes=len(spans),
            p50=round(1000 * spans[len(spans) // 2], 1),
            p99=round(1000 * spans[len(spans) * 99 // 100], 1),
        )


async def turns(where: str, name: str, tasks: int, count: int) -> None:
    """Let many tasks say and answer, in one shared conversation and in many others."""
    async with threadline.open(where, rules=RULES) as store:
        writer = Writer(store)

        async def work(number: int) -> None:
            own = Address(platform="p", kind=Kind.DM, chat=f"{name} {number}")
            for n in range(count):
                await writer.say(own if n % 2 else SHARED, f"{name}.{number}.{n}")
                await writer.answer()

        async with asyncio.TaskGroup() as group:
            for number in range(tasks):
                group.create_task(work(number))
        writer.report()


async def same(where: str, name: str, session_id: SessionId, count: int) -> None:
    """Write to one session again and again, both from a chat and past it."""
    async with threadline.open(where, rules=RULES) as store:
        writer = Writer(store)
        for n in range(count):
            if n % 2:
                await writer.say(SHARED, f"{name}.{n}")
            else:
                words = [say(Role.SYSTEM, f"noted {name}.{n}")]
                await writer.measured(store.transcripts.record(session_id, words))
        writer.report()


async def follow(where: str, cursor: Cursor) -> None:
    """Follow the feed and say every event."""
    async with threadline.open(where) as store:
        tell(ready=True)
        async for event in store.feed.follow(cursor):
            tell(cursor=event.cursor, session=event.session_id, revision=event.revision)


def hold(where: str) -> None:
    """Hold the store as a foreign program may do, until told: its write lock, or all sessions."""
    if where.startswith("postgresql:"):
        with psycopg.connect(where) as server:
            server.execute("SELECT key FROM sessions FOR UPDATE")
            tell(ready=True)
            sys.stdin.read()
        return
    file = apsw.Connection(where)
    file.execute("BEGIN IMMEDIATE")
    tell(ready=True)
    sys.stdin.read()
    file.execute("ROLLBACK")
    file.close()


def main(what: str, where: str, *rest: str) -> None:
    """Be one of the peers."""
    match what, *rest:
        case "turns", name, tasks, count:
            asyncio.run(turns(where, name, int(tasks), int(count)))
        case "same", name, session_id, count:
            asyncio.run(same(where, name, SessionId(session_id), int(count)))
        case "follow", cursor:
            asyncio.run(follow(where, Cursor(cursor)))
        case ("hold",):
            hold(where)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
