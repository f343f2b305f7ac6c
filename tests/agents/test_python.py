"""Any function or object of a user's own can be the agent."""

import asyncio
import os
import sys
import threading
from pathlib import Path

import pytest

from threadline.agents.python import FunctionAgent, load_agent
from threadline.core.agent import Agent, TextDelta
from threadline.core.errors import AgentError, ConfigError
from threadline.core.usage import Usage
from threadline.testing.agent_contract import AgentContract, outputs_of, request_for, words_of
from threadline.testing.deadline import HANG_SECONDS

HERE = "tests.agents.sample_agents"


class TestFunction(AgentContract):
    """A plain function keeps the contract of all agents."""

    def make_agent(self) -> Agent:
        return load_agent(f"{HERE}:shout")


class TestGenerator(AgentContract):
    """A function that yields keeps it, too."""

    def make_agent(self) -> Agent:
        return load_agent(f"{HERE}:spell")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shout", "HELLO"),
        ("whisper", "hello"),
        ("count", "1 lines"),
        ("spell", "Hello"),
        ("report", "so: Hello"),
        ("Parrot", "Hello"),
        ("parrot", "Hello"),
        ("parrot.answer", "Hello"),
    ],
)
async def test_every_form_answers(name: str, said: str) -> None:
    """Functions of words or of the request, those that yield, classes and objects."""
    outputs = await outputs_of(load_agent(f"{HERE}:{name}"), request_for("Hello"))

    assert words_of(outputs) == said


async def test_what_is_yielded_is_said_piece_by_piece() -> None:
    """Texts become pieces, and everything else stays what it is."""
    spelt = await outputs_of(load_agent(f"{HERE}:spell"), request_for("Hi"))
    told = await outputs_of(load_agent(f"{HERE}:report"), request_for("Hi"))

    assert spelt == [TextDelta(text="H"), TextDelta(text="i")]
    assert isinstance(told[-1], Usage)


async def test_an_agent_that_says_nothing_fails() -> None:
    """Something else than words is no answer, and is told as such."""
    with pytest.raises(AgentError, match="returned int"):
        await outputs_of(load_agent(f"{HERE}:mumble"), request_for("Hi"))


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("bodies", "package.module:name"),
        (":shout", "package.module:name"),
        ("tests.agents.nowhere:shout", "not there"),
        (f"{HERE}:whistle", "no whistle"),
        (f"{HERE}:parrot.beak", "no beak"),
        (f"{HERE}:NUMBER", "of the type int"),
        (f"{HERE}:no_argument", "one argument"),
        (f"{HERE}:Caged", "without arguments"),
    ],
)
def test_a_wrong_name_is_explained(name: str, complaint: str) -> None:
    """Whatever is wrong with a name is said, and what to write instead."""
    with pytest.raises(ConfigError, match=complaint) as refused:
        load_agent(name)

    assert refused.value.hint or "arguments" in complaint


def test_a_module_that_breaks_is_a_wrong_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a module raises when it is imported is told, and harms nothing else."""
    (tmp_path / "breaking_agent.py").write_text("raise RuntimeError('no luck')\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    with pytest.raises(ConfigError, match="no luck"):
        load_agent("breaking_agent:agent")


async def test_functions_that_never_return_leave_threads_for_others() -> None:
    """Any number of them may hang: the threads of the event loop are not theirs."""
    may_end = threading.Event()

    def hangs(_: object) -> str:
        may_end.wait()
        return "done"

    agent = FunctionAgent(hangs)
    hanging = [
        asyncio.create_task(outputs_of(agent, request_for("hello")))
        for _ in range((os.cpu_count() or 1) + 5)
    ]
    try:
        async with asyncio.timeout(HANG_SECONDS):
            assert await asyncio.to_thread(lambda: "free") == "free"
    finally:
        may_end.set()
        await asyncio.gather(*hanging)


async def test_a_function_may_end_with_any_error() -> None:
    """Also one that a future refuses."""

    def stops(_: object) -> str:
        raise StopIteration

    with pytest.raises(AgentError, match="StopIteration"):
        await outputs_of(FunctionAgent(stops), request_for("hello"))
