"""A model that is asked again after a restart reads what it would have read without one."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.agents.model.provider_agent import arithmetic, settings_of
from tests.doubles.providers import Calls, ProviderDouble, Says, Thinks
from tests.doubles.providers.script import seal_of
from tests.scenarios.models.model_scenario import ModelHouse
from threadline.core.approval import ToolRules
from threadline.core.message import Reasoning
from threadline.testing.scenario import sqlite_at

ASK_FOR_DIVIDE = ToolRules(ask=("divide",))
SUM, QUOTIENT = ("add", {"b": 2, "a": 1}), ("divide", {"a": 6, "b": 2})


def script(double: ProviderDouble) -> None:
    """Think, call one tool freely and ask for another, think again, and answer twice."""
    double.will(Thinks("Two sums."), Says("A moment."), Calls(SUM, QUOTIENT))
    double.will(Thinks("One more."), Calls(("add", {"a": 3, "b": 4})))
    double.will(Thinks("Easy."), Says("3, 3 and 7."))
    double.will(Thinks("Five."), Says("5 is 5."))


async def bodies_of(
    folder: Path, name: str, between: Callable[[ModelHouse], Awaitable[None]]
) -> list[bytes]:
    """Have the conversation, with something between; answer what the provider was sent."""
    folder.mkdir()
    async with ProviderDouble() as double:
        script(double)
        models = settings_of(double, name, tools=ASK_FOR_DIVIDE)
        open_again = sqlite_at(folder / "threadline.db")
        async with ModelHouse(open_again, double, models, arithmetic()) as house:
            alice = house.guest("Alice")
            await alice.says("What is 1 + 2, and 6 / 2?")
            await between(house)
            await alice.presses("Approve")
            assert alice.sees[-1] == "3, 3 and 7."
            await between(house)
            assert await alice.asks("And 5?") == "5 is 5."
            kept = [part for line in await alice.transcript() for part in line.parts]
        assert any(isinstance(part, Reasoning) for part in kept)
        return [request.body for request in double.requests]


async def goes_on(house: ModelHouse) -> None:
    """Let nothing happen."""


async def crashes(house: ModelHouse) -> None:
    """Let the whole gateway vanish, and another one begin on the same file."""
    await house.crashes_and_comes_back()


@pytest.mark.parametrize(
    "name", ["openai:gpt-5", "anthropic:claude-haiku-4-5", "google:gemini-2.5-pro"]
)
async def test_a_restart_changes_no_byte(tmp_path: Path, name: str) -> None:
    """Thoughts with their seals, words and parallel calls, also of a turn that was cut in two."""
    unbroken = await bodies_of(tmp_path / "one", name, goes_on)
    broken = await bodies_of(tmp_path / "two", name, crashes)

    assert len(unbroken) == 4
    assert broken == unbroken
    if name.startswith(("openai:", "anthropic:")):
        for thought in ("Two sums.", "One more.", "Easy."):
            assert seal_of(thought).encode() in broken[-1]
