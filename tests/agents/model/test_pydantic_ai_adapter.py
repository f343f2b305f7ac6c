"""An agent that somebody wrote with pydantic-ai answers our turns."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic_ai import Agent as TheirAgent
from pydantic_ai import ModelRetry
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel

from tests.agents.model.provider_settings import MODELS, settings_for
from tests.doubles.providers import Overloaded, ProviderDouble, Says
from threadline.agents.model.models import make_model, open_http
from threadline.agents.model.pydantic_ai_adapter import WrappedAgent
from threadline.agents.python import load_agent
from threadline.core.agent import Agent, TextDelta
from threadline.core.errors import AgentError, ConfigError
from threadline.core.message import NewMessage, Role, ToolCall, ToolResult
from threadline.core.usage import Usage
from threadline.testing.agent_contract import AgentContract, outputs_of, request_for, words_of

parrot = TheirAgent(TestModel(custom_output_text="hello yourself"))
nobody: TheirAgent[None, str] = TheirAgent()


@dataclass
class City:
    """Something that is no text."""

    name: str


class TestContract(AgentContract):
    """It keeps the contract of all agents."""

    def make_agent(self) -> Agent:
        return load_agent(f"{__name__}:parrot")


async def test_its_words_come_piece_by_piece_and_are_paid_for() -> None:
    """What it says is streamed, kept as one line, and what it spent is told."""
    outputs = await outputs_of(WrappedAgent(parrot), request_for("hello"))

    said = "".join(one.text for one in outputs if isinstance(one, TextDelta))
    assert said == words_of(outputs) == "hello yourself"
    assert sum(isinstance(one, TextDelta) for one in outputs) > 1
    assert any(isinstance(one, Usage) for one in outputs)


async def test_it_sees_the_history_and_where_it_is() -> None:
    """It is given what was said before, beside its own instructions."""
    seen: list[list[ModelMessage]] = []

    async def speak(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
        seen.append(messages)
        assert info.instructions is not None
        assert "You are terse." in info.instructions
        assert "Where you are" in info.instructions
        yield "yes"

    theirs = TheirAgent(FunctionModel(stream_function=speak), instructions="You are terse.")
    await outputs_of(WrappedAgent(theirs), request_for("one", "two"))

    prompts = [
        part.content
        for message in seen[0]
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    assert [str(prompt).splitlines()[-1] for prompt in prompts] == ["one", "two"]


async def test_its_own_tools_are_in_the_transcript() -> None:
    """Calls, results and what went wrong with a tool become lines."""

    async def speak(
        messages: list[ModelMessage], _: AgentInfo
    ) -> AsyncIterator[str | dict[int, DeltaToolCall]]:
        if len(messages) == 1:
            yield {
                0: DeltaToolCall(name="add", json_args='{"a": 1, "b": 2}', tool_call_id="c1"),
                1: DeltaToolCall(name="fail", json_args="{}", tool_call_id="c2"),
            }
        else:
            yield "three"

    theirs = TheirAgent(FunctionModel(stream_function=speak))

    @theirs.tool_plain
    def add(a: int, b: int) -> int:
        """Add numbers."""
        return a + b

    @theirs.tool_plain
    def fail() -> str:
        """Fail."""
        raise ModelRetry("not today")

    outputs = await outputs_of(WrappedAgent(theirs), request_for("1 + 2"))

    lines = [one for one in outputs if isinstance(one, NewMessage)]
    calls = [part.name for part in lines[0].parts if isinstance(part, ToolCall)]
    results = {
        part.call_id: (part.text.splitlines()[0], part.is_error)
        for line in lines
        if line.role is Role.TOOL
        for part in line.parts
        if isinstance(part, ToolResult)
    }
    assert calls == ["add", "fail"]
    assert results == {"c1": ("3", False), "c2": ("not today", True)}
    assert words_of(outputs) == "three"


async def test_data_is_said_in_words() -> None:
    """An agent that answers with data says it as JSON."""
    theirs: TheirAgent[None, City] = TheirAgent(TestModel(), output_type=City)
    outputs = await outputs_of(WrappedAgent(theirs), request_for("where?"))

    assert '"name": "a"' in words_of(outputs)


async def test_over_the_wire_it_fails_in_plain_words() -> None:
    """A provider's failure is told without what the provider said."""
    async with ProviderDouble() as double, open_http() as http:
        model = make_model(
            settings_for(double, MODELS["anthropic"]), MODELS["anthropic"], http=http
        )
        theirs: TheirAgent[None, Any] = TheirAgent(model)
        double.will(Says("from afar"))
        outputs = await outputs_of(WrappedAgent(theirs), request_for("hello"))
        double.will(Overloaded())
        with pytest.raises(AgentError) as failed:
            await outputs_of(WrappedAgent(theirs), request_for("hello"))

    assert words_of(outputs) == "from afar"
    assert "overloaded" in str(failed.value).lower()
    assert failed.value.__suppress_context__


def test_an_agent_without_a_model_is_refused() -> None:
    """Nobody could answer, which is said before anybody asks."""
    with pytest.raises(ConfigError, match="no model"):
        load_agent(f"{__name__}:nobody")
