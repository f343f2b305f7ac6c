"""Turns of a process that died, or whose lease ran out, are taken over at once."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from tests.crash.dying_database import DeadlyDatabase, Moment, Step
from tests.databases import DURABLE, FAST, POSTGRES, DatabaseFactory, OpenStore, on
from tests.gateway.worker_setup import becomes
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.settings import Settings
from threadline.core.turn import OwnerId, TurnId, TurnState
from threadline.gateway.intervals import Intervals
from threadline.gateway.maintenance import Maintenance
from threadline.gateway.worker import Worker
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.testing.scripted_agent import ScriptedAgent

AT = Address(platform="p", kind=Kind.DM, chat="c")
NEVER = Intervals(recover=timedelta(hours=1))
"""Nothing is found by looking again: only because it was noticed."""
MANY = 60
"""More turns than one transaction takes."""

CHILD = """
import asyncio, sys
from datetime import timedelta
import threadline
from threadline.core.settings import Settings

async def main():
    rules = Settings(lease=timedelta(seconds=float(sys.argv[2])))
    async with threadline.open(sys.argv[1], rules=rules) as store:
        await store.turns.claim()
        print("claimed", flush=True)
        await asyncio.sleep(3600)

asyncio.run(main())
"""
"""Claims a turn, and neither answers it nor renews its lease."""


@asynccontextmanager
async def held(where: str, folder: Path, lease: float) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a process that holds the turn."""
    script = folder / "holds.py"
    script.write_text(CHILD)
    child = await asyncio.create_subprocess_exec(
        sys.executable, str(script), where, str(lease), stdout=asyncio.subprocess.PIPE
    )
    try:
        assert child.stdout is not None
        assert await child.stdout.readline() == b"claimed\n"
        yield child
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def ask(store: Store) -> TurnId:
    """Ask something."""
    asked = Inbound.text("hi", address=AT, sender=Sender(id="s"), at=store.now())
    turn_id = (await store.receive(asked)).turn_id
    assert turn_id is not None
    return turn_id


@on(DURABLE, POSTGRES)
async def test_a_killed_process_is_succeeded_at_once(
    database_factory: DatabaseFactory, open_store: OpenStore, tmp_path: Path
) -> None:
    """A worker that looks only every hour still answers the turn of a process that was killed."""
    store = await open_store()
    turn_id = await ask(store)
    async with (
        held(database_factory.where, tmp_path, lease=60) as child,
        Worker(store, ScriptedAgent(), pace=NEVER),
    ):
        await becomes(store, turn_id, TurnState.RUNNING)
        child.kill()
        await becomes(store, turn_id, TurnState.DONE)


@on(DURABLE, POSTGRES)
async def test_a_lease_that_runs_out_is_succeeded_at_once(
    database_factory: DatabaseFactory, open_store: OpenStore, tmp_path: Path
) -> None:
    """A worker that looks only every hour takes a turn over when its lease ends, not later.

    The process that held it is alive, but does not renew the lease, as if it were suspended.
    """
    store = await open_store(rules=Settings(lease=timedelta(seconds=2)))
    turn_id = await ask(store)
    async with held(database_factory.where, tmp_path, lease=2) as child:
        async with Worker(store, ScriptedAgent(), pace=NEVER):
            await becomes(store, turn_id, TurnState.DONE)
        assert child.returncode is None


@on(DURABLE, POSTGRES)
async def test_that_a_process_is_gone_is_noticed(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """Another store on the same database that is closed is noticed like one that was killed."""
    other = await open_store()
    store = await open_store()
    with store.database.deaths() as deaths:
        await deaths.wait()  # A new watch begins with a look.

        await other.close()

        assert await deaths.wait(timedelta(seconds=60))


class Counted(DeadlyDatabase):
    """A database that counts how often it is asked who is dead, and never dies itself."""

    looks = 0

    async def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
        self.looks += 1
        return await super().dead(owners)


@on(DURABLE, POSTGRES)
async def test_a_takeover_looks_for_the_dead_once(
    database_factory: DatabaseFactory, open_store: OpenStore, tmp_path: Path
) -> None:
    """Turns and replies of a killed process are taken after one look, which takes its time."""
    database = Counted((await open_store()).database, Step(verb="none", moment=Moment.INSIDE))
    store = Store(database)
    turn_id = await ask(store)
    async with held(database_factory.where, tmp_path, lease=60) as child:
        child.kill()
        await child.wait()
        with store.database.deaths() as deaths:
            await deaths.wait()
            while not (resumed := await Maintenance(store.database).recover()):
                await deaths.wait(timedelta(milliseconds=50))
                database.looks = 0

    assert resumed == [turn_id]
    assert database.looks == 1


@on(FAST, POSTGRES)
async def test_many_turns_of_a_dead_process_run_again(open_store: OpenStore) -> None:
    """However many turns a process ran, all of them are queued again by one recovery."""
    clock = FakeClock()
    here, there = await open_store(clock=clock), await open_store(clock=clock)
    asked = []
    for n in range(MANY):
        place = replace(AT, chat=f"c{n}")
        said = Inbound.text("hi", address=place, sender=Sender(id=f"s{n}"), at=here.now())
        asked.append((await here.receive(said)).turn_id)
        assert await here.turns.claim() is not None
    clock.advance(timedelta(minutes=5))

    assert sorted(await Maintenance(there.database).recover()) == asked
