"""`threadline serve` ends after a signal, whatever an agent does, and stores what it had said."""

import asyncio
import signal
import time
from pathlib import Path

import pytest

import threadline
from tests.cli.program import run
from tests.cli.server_process import Server
from tests.cli.test_serve import DATABASE, key_of, post
from threadline.core.message import Role
from threadline.store.turn_queue.crash_recovery import list_interrupted

AGENT = """
import asyncio, pathlib, re, time

def begun():
    pathlib.Path("begun").touch()

async def told():
    while not pathlib.Path("told").exists():  # Whoever asks is answered first.
        await asyncio.sleep(0.02)

async def ignores(words):
    await told()
    yield "Once upon"
    begun()
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue

async def blocks_a_thread(words):
    await told()
    yield "Once upon"
    begun()
    await asyncio.to_thread(time.sleep, 3600)

def blocks_its_thread(words):
    begun()
    time.sleep(3600)

async def sleeps(words):
    await told()
    yield "Once upon"
    begun()
    time.sleep(3600)

async def spins(words):
    await told()
    yield "Once upon"
    begun()
    while True:
        pass

async def holds_the_interpreter(words):
    await told()
    begun()
    yield "Once upon"
    re.match("(a+)+$", "a" * 60 + "b")
"""
IN_ORDER, BY_FORCE = 0, 1


def serve_stubborn(home: Path, agent: str, *, drain_seconds: int = 0) -> Server:
    """Serve an agent that does not end, and ask it something."""
    assert run("init", "--yes", "--webhook").exit_code == 0
    (home / "stubborn.py").write_text(AGENT)
    settings = f"drain_seconds = {drain_seconds}\n[agent]\npython = 'stubborn:{agent}'\n"
    (home / "threadline.toml").write_text(settings)
    server = Server(home)
    assert post(server.url(), key_of(home), "a story", wait=0).status_code == 202
    (home / "told").touch()
    over = time.monotonic() + 60
    while not (home / "begun").exists():
        assert time.monotonic() < over, "the agent was never asked"
        time.sleep(0.02)
    return server


def said(home: Path) -> list[str]:
    """Take over as the next process would, and read what the agent had said."""

    async def look() -> list[str]:
        async with threadline.open(home / DATABASE) as store:
            await store.turns.interrupt_dead()
            turns = await store.database.read(list_interrupted)
            assert len(turns) == 1, "the successor finds the turn at once"
            session = (await store.turns.get(next(iter(turns)))).session_id
            lines = await store.transcripts.read(session)
            return [line.text for line in lines if line.role is Role.ASSISTANT]

    return asyncio.run(look())


@pytest.mark.parametrize(
    ("agent", "code", "logged"),
    [
        ("ignores", IN_ORDER, "still running: turn 1 of profile main"),
        ("blocks_a_thread", IN_ORDER, "still running: threads"),
        ("sleeps", BY_FORCE, "The event loop is blocked by turn 1, in sleeps"),
        ("spins", BY_FORCE, "The event loop is blocked by turn 1, in spins"),
    ],
)
def test_an_agent_that_does_not_end_is_left(home: Path, agent: str, code: int, logged: str) -> None:
    """After the drain and a grace the process ends, the log says why, and no word is lost."""
    with serve_stubborn(home, agent) as server:
        server.tell(signal.SIGTERM)
        assert server.ended() == code
        assert logged in server.logged()
    assert said(home)[0].startswith("Once upon\n")


def test_a_function_that_never_returns_is_left(home: Path) -> None:
    """A function that is not asynchronous has a thread that the process does not wait for."""
    with serve_stubborn(home, "blocks_its_thread") as server:
        server.tell(signal.SIGTERM)
        assert server.ended() == IN_ORDER
        assert "does not end by itself" not in server.logged()
    assert said(home) == []


def test_code_that_holds_the_interpreter_is_ended_too(home: Path) -> None:
    """Where no thread of ours can run any more, a timer of the interpreter's core ends it."""
    with serve_stubborn(home, "holds_the_interpreter") as server:
        server.tell(signal.SIGTERM)
        assert server.ended() == BY_FORCE
        assert "holds_the_interpreter" in server.logged()


def test_a_second_signal_ends_a_blocked_loop_soon(home: Path) -> None:
    """It does not wait for the drain, and the next process takes over at once."""
    with serve_stubborn(home, "sleeps", drain_seconds=3600) as server:
        server.tell(signal.SIGTERM)
        server.tell(signal.SIGINT)
        assert server.ended() == BY_FORCE
    assert said(home)[0].startswith("Once upon\n")
