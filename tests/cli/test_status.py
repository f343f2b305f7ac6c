"""`threadline status`: who serves, and what there is to do."""

import asyncio
import json
from pathlib import Path

import threadline
from tests.cli.program import run
from threadline import Address, Inbound, Kind, Sender
from threadline.cli.status_report import read_status, render_status
from threadline.config import load_config
from threadline.core.gateway_status import ServerHealth, ServerState, TurnCapacity
from threadline.store import gateways
from threadline.store.gateways import register_gateway


def say_something() -> None:
    """Let somebody write while nobody serves."""

    async def write() -> None:
        async with threadline.open("chat.db") as store:
            here = Address(platform="web", kind=Kind.DM, chat="alice")
            hello = Inbound.text("Hi", address=here, sender=Sender(id="alice"), at=store.now())
            await store.receive(hello)

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


def test_places_taken_by_silent_agents_are_shown(home: Path) -> None:
    """Whoever wonders why nothing is answered learns how many agents hang."""
    say_something()

    async def serve_and_read() -> str:
        async with threadline.open("chat.db") as store:
            await store.database.write(
                register_gateway,
                owner=store.database.owner,
                host="ship",
                pid=7,
                version="1.2",
                url=None,
                platforms={},
            )
            await gateways.beat(store.database, {}, TurnCapacity(total=32, taken=30, silent=28))
            state = await read_status(load_config({"database": "chat.db"}))
        return render_status(state)

    told = asyncio.run(serve_and_read())

    assert "30 of 32 places for turns taken, 28 by agents silent for more than 5 minutes" in told


def test_the_state_of_mcp_servers_is_shown(home: Path) -> None:
    """Users see why tools are missing: state, number of tools and last error of each server."""
    say_something()

    async def serve_and_read() -> str:
        async with threadline.open("chat.db") as store:
            now = store.now()
            up = ServerHealth(state=ServerState.UP, since=now, tools=1)
            down = ServerHealth(
                state=ServerState.DOWN, since=now, error="It ended by itself.", error_at=now
            )
            await store.database.write(
                register_gateway,
                owner=store.database.owner,
                host="ship",
                pid=7,
                version="1.2",
                url=None,
                platforms={},
            )
            await gateways.beat(store.database, {}, servers={"notes": up, "search": down})
            state = await read_status(load_config({"database": "chat.db"}))
        return render_status(state)

    told = asyncio.run(serve_and_read())

    assert "MCP server notes: up since" in told
    assert ", 1 tool\n" in told
    assert "MCP server search: down since" in told
    assert "(last error a moment ago: It ended by itself)" in told


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
