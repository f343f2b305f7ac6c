"""`threadline status`: who serves, and what there is to do."""

import asyncio
import json
from pathlib import Path

import threadline
from tests.cli.program import run
from threadline import Address, Inbound, Kind, Sender


def say_something() -> None:
    """Let somebody write while nobody serves."""

    async def write() -> None:
        async with threadline.open("chat.db") as store:
            here = Address(platform="web", kind=Kind.DM, chat="alice")
            hello = Inbound.text("Hi", address=here, sender=Sender(id="alice"), at=store.now())
            await store.arrive(hello)

    asyncio.run(write())


def test_it_tells_what_waits_while_nobody_serves(home: Path) -> None:
    """It reads the store alone."""
    say_something()

    told = run("status", "--database", "chat.db")

    assert told.exit_code == 0, told.output
    assert "No gateway serves." in told.output
    assert "Turns: 1 waiting, 0 under way." in told.output
    assert "Replies: 0 owed, 0 lost in the last day." in told.output
    assert "Jobs: none ahead." in told.output


def test_a_program_reads_the_same(home: Path) -> None:
    """As JSON."""
    say_something()

    told = json.loads(run("status", "--json", "--database", "chat.db").stdout)

    assert told["gateways"] == []
    assert told["load"]["queued"] == 1
    assert (told["lost"], told["due_jobs"], told["next_job_at"]) == (0, 0, None)


def test_without_a_store_it_says_so() -> None:
    """And makes none."""
    told = run("status", "--database", "nowhere.db")

    assert told.exit_code == 1
    assert "There is no database yet" in told.output
    assert not Path("nowhere.db").exists()
