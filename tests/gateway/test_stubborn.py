"""Agents that do not end when they are cancelled."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial

import pytest

from tests.gateway.scene import becomes, tell, unhurried, until
from threadline.core.agent import Output, Piece, Request
from threadline.core.message import Role, say
from threadline.core.turn import TurnState
from threadline.gateway.worker import Worker
from threadline.sessions.store import Store


class Deaf:
    """An agent that swallows every cancellation, and ends only when a test lets it."""

    def __init__(self, last: Exception | None = None) -> None:
        self.asked = 0
        self.alive = 0
        self._may_end = asyncio.Event()
        self._last = last

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        self.asked += 1
        self.alive += 1
        yield Piece(text="I begin.")
        while not self._may_end.is_set():
            try:
                await self._may_end.wait()
            except asyncio.CancelledError:
                continue
        self.alive -= 1
        if self._last is not None:
            raise self._last
        yield say(Role.ASSISTANT, "I go on.")

    @asynccontextmanager
    async def ending(self) -> AsyncIterator[None]:
        """Let it end when the context does, lest a test leaves it behind."""
        try:
            yield
        finally:
            self._may_end.set()
            async with asyncio.timeout(5):
                while self.alive:
                    await asyncio.sleep(0)


@pytest.mark.parametrize("last", [None, RuntimeError("at last")], ids=["speaks", "raises"])
@pytest.mark.parametrize("way", ["stop", "halt"])
async def test_a_deaf_agent_does_not_keep_its_worker(
    store: Store, caplog: pytest.LogCaptureFixture, way: str, last: Exception | None
) -> None:
    """A worker leaves without an agent that goes on, says so, and lets it write nothing more."""
    agent = Deaf(last)
    worker = Worker(store, agent, pace=unhurried())
    async with agent.ending():
        await worker.__aenter__()
        arrival = await tell(store, "hello")
        assert arrival.session_id is not None
        assert arrival.turn_id is not None
        await until(lambda: _truth(agent.asked == 1), "it is asked")
        with caplog.at_level(logging.WARNING, "threadline.gateway"):
            async with asyncio.timeout(5):
                await (worker.stop() if way == "stop" else worker.halt())
        assert agent.alive == 1
        before = await store.turn(arrival.turn_id)
        lines = await store.transcript(arrival.session_id)

    await asyncio.sleep(0.02)
    assert f"The agent of turn {arrival.turn_id} was cancelled and goes on" in caplog.text
    assert before.state is (TurnState.INTERRUPTED if way == "stop" else TurnState.RUNNING)
    assert await store.turn(arrival.turn_id) == before
    assert await store.transcript(arrival.session_id) == lines


async def _is_asked(agent: Deaf, times: int) -> bool:
    return agent.asked == times


async def test_deaf_agents_do_not_pile_up(store: Store) -> None:
    """An agent that goes on after a stop keeps its place until it ends; then the next one runs."""
    agent = Deaf()
    async with Worker(store, agent, concurrency=2, pace=unhurried()) as worker:
        async with agent.ending():
            for asked, who in enumerate(("alice", "bob"), start=1):
                arrival = await tell(store, "hello", who=who)
                assert arrival.turn_id is not None
                await until(partial(_is_asked, agent, asked), "the agent is asked")
                await store.stop(arrival.turn_id)
            await until(lambda: _truth(not worker.running), "both are let go")
            third = await tell(store, "hello", who="carol")
            await asyncio.sleep(0.05)
            assert agent.asked == agent.alive == 2
            await becomes(store, third.turn_id, TurnState.QUEUED)
        await becomes(store, third.turn_id, TurnState.DONE)


async def test_a_worker_does_not_drain_what_is_not_its_own(store: Store) -> None:
    """A turn that was stopped is not waited for, however long running turns may go on."""
    agent = Deaf()
    worker = Worker(store, agent, pace=unhurried(drain=timedelta(minutes=1)))
    async with agent.ending():
        await worker.__aenter__()
        arrival = await tell(store, "hello")
        assert arrival.turn_id is not None
        await until(lambda: _truth(agent.asked == 1), "it is asked")
        await store.stop(arrival.turn_id)
        await until(lambda: _truth(not worker.running), "it is let go")
        async with asyncio.timeout(5):
            await worker.stop()


async def _truth(value: bool) -> bool:
    return value
