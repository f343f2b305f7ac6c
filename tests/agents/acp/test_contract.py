"""Agents that are programs keep the contract of all agents."""

import asyncio
from collections.abc import AsyncIterator

from tests.agents.acp.test_acp import settings
from threadline.agents.acp.agent import AcpAgent
from threadline.agents.acp.process_pool import ProcessPool
from threadline.agents.settings import AcpSettings
from threadline.core.agent import Agent, Output, Request
from threadline.testing.agent_contract import AgentContract


class TestContract(AgentContract):
    """An agent in a program of its own keeps the contract of all agents."""

    def make_agent(self) -> Agent:
        made = settings()
        return Passing(made)

    async def test_an_answer_can_be_left(self) -> None:
        """Whoever stops listening can close it, and when it is closed nothing goes on."""
        before = asyncio.all_tasks()
        await super().test_it_answers()
        await asyncio.sleep(0)

        assert asyncio.all_tasks() <= before


class Passing:
    """An agent whose programs end with each answer, as the contract closes no agent."""

    def __init__(self, settings: AcpSettings) -> None:
        """Know the program."""
        self._settings = settings

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Answer with a program that ends with it."""
        async with ProcessPool(self._settings) as crew:
            outputs = AcpAgent(self._settings, crew).answer(request)
            try:
                async for output in outputs:
                    yield output
            finally:
                await outputs.aclose()  # type: ignore[attr-defined]
