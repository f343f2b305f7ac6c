"""Turns of a model in which something happens: a tool breaks, somebody speaks, a line is cut."""

import sys
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from tests.agents.model import mcp_server
from tests.agents.model.provider_agent import arithmetic, settings_of
from tests.doubles.providers import (
    Calls,
    Disconnects,
    Hangs,
    Malformed,
    Overloaded,
    ProviderDouble,
    RateLimited,
    Refuses,
    Says,
    Spends,
    Thinks,
    Unauthorised,
)
from tests.scenarios.models.model_scenario import ModelHouse
from threadline.agents.settings import McpServer
from threadline.core.message import Role, Text, ToolResult
from threadline.core.turn import TurnState
from threadline.testing.gateway_user import GatewayUser
from threadline.testing.scenario import OpenStore

OPENAI, ANTHROPIC = "openai:gpt-5", "anthropic:claude-haiku-4-5"
HM = Thinks("Hm.")


@pytest.fixture
async def house(open_again: OpenStore, double: ProviderDouble) -> AsyncIterator[ModelHouse]:
    """Move into a house where OpenAI answers, and Anthropic if it cannot."""
    models = replace(settings_of(double, OPENAI), fallback=(ANTHROPIC,))
    async with ModelHouse(open_again, double, models, arithmetic()) as house:
        yield house


async def said_by_model(guest: GatewayUser) -> list[str]:
    """Answer what the transcript keeps of the model's words, without what we say to them."""
    lines = [line for line in await guest.transcript() if line.role is Role.ASSISTANT]
    return [part.text for line in lines for part in line.parts if isinstance(part, Text)]


async def test_a_server_of_tools_crashes_and_comes_back(
    open_again: OpenStore, double: ProviderDouble
) -> None:
    """In the middle of a turn; the model is told, and its next call is answered again."""
    program = (sys.executable, mcp_server.__file__)
    models = replace(
        settings_of(double, ANTHROPIC), servers=(McpServer(name="crooked", command=program),)
    )
    async with ModelHouse(open_again, double, models) as house:
        alice = house.guest("Alice")
        double.will(HM, Calls(("crooked_pid", {})))
        double.will(HM, Calls(("crooked_crash", {})))
        double.will(HM, Calls(("crooked_pid", {})))
        double.will(Says("It came back."))

        assert await alice.asks("try everything") == "It came back."

        parts = [part for line in await alice.transcript() for part in line.parts]
    first, crashed, again = (part for part in parts if isinstance(part, ToolResult))
    assert [one.is_error for one in (first, crashed, again)] == [False, True, False]
    assert first.text != again.text


async def test_somebody_steers_between_two_steps(house: ModelHouse, double: ProviderDouble) -> None:
    """What is said while the model works is in its next request, after the result of its tool."""
    alice = house.guest("Alice")
    double.will(HM, Says("A moment."), Hangs(), Calls(("add", {"a": 1, "b": 2})))
    alice.writes("add up")
    await house.hangs()

    await alice.says("/steer and be brief")
    double.will(Says("3."))
    await house.goes_on()

    assert any(words.endswith("3.") for words in alice.sees)
    *_, result, steered = double.last.json["input"]
    assert result["type"] == "function_call_output"
    assert "and be brief" in str(steered)
    assert len(double.requests) == 2
    assert {turn.state for turn in await alice.turns()} == {TurnState.DONE}


async def test_a_stop_in_the_middle_keeps_what_was_said(
    house: ModelHouse, double: ProviderDouble
) -> None:
    """The provider is let go, the words stay, and the next turn reads them."""
    alice = house.guest("Alice")
    double.will(Says("Once upon a time"), Hangs(), Says(" never said"))
    alice.writes("a story")
    await alice.hears("Once upon a time")

    await alice.says("/stop")

    await double.is_free()
    assert await said_by_model(alice) == ["Once upon a time"]
    (turn,) = await alice.turns()
    assert turn.state is TurnState.STOPPED
    assert await alice.asks("and now?") != ""
    assert "Once upon a time" in double.last.body.decode()
    assert "never said" not in double.last.body.decode()


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (Disconnects(), f"The connection to {OPENAI} broke off in the middle of its answer."),
        (Malformed(), f"{OPENAI} sent an answer that cannot be read. Please try again."),
    ],
    ids=["disconnects", "malformed"],
)
async def test_a_line_that_is_cut_keeps_what_was_said(
    house: ModelHouse, double: ProviderDouble, trouble: Disconnects | Malformed, told: str
) -> None:
    """It is not asked again, as Alice has read the beginning; she is told plainly."""
    alice = house.guest("Alice")
    double.will(Says("Once upon a time"), trouble)
    await alice.says("a story")

    (turn,) = await alice.turns()
    assert turn.state is TurnState.FAILED
    assert turn.error == told
    assert await said_by_model(alice) == ["Once upon a time"]
    read = "\n".join(alice.sees)
    assert read.count("Once upon a time") == 1
    assert told in read
    assert len(double.requests) == 1


async def test_an_overload_is_waited_for(house: ModelHouse, double: ProviderDouble) -> None:
    """Longer each time, and as long as the provider asks for; Alice reads only the answer."""
    alice = house.guest("Alice")
    for trouble in (Overloaded(), Overloaded(), RateLimited(7), Disconnects()):
        double.will(trouble)
    double.will(Says("Here I am."))

    assert await alice.asks("hello?") == "Here I am."

    assert len(double.requests) == 5
    first, second, asked_for, _ = house.pauses.seconds
    assert 0 < first < second
    assert asked_for >= 7


async def test_another_model_takes_over(house: ModelHouse, double: ProviderDouble) -> None:
    """Where the first one does not come back; usage says who answered, and what that cost."""
    alice = house.guest("Alice")
    for _ in range(5):
        double.will(Overloaded())
    double.will(Says("I am somebody else."), Spends(1000, 100))

    assert await alice.asks("hello?") == "I am somebody else."

    paths = [request.path for request in double.requests]
    assert paths == [*["/openai/v1/responses"] * 5, "/anthropic/v1/messages"]
    (used,) = await house.store.usage.of_session((await alice.session()).id)
    assert (used.provider, used.task) == ("anthropic", "turn")
    assert used.model.startswith("claude-haiku-4-5")
    assert (used.input_tokens, used.output_tokens) == (1000, 100)


async def test_another_model_takes_over_between_two_steps(
    house: ModelHouse, double: ProviderDouble
) -> None:
    """It reads what the first one did, in its own language, and ends the turn."""
    alice = house.guest("Alice")
    double.will(HM, Calls(("add", {"a": 1, "b": 2})))
    double.will(Unauthorised())
    double.will(Says("It is 3."))

    assert await alice.asks("1 + 2?") == "It is 3."

    assert double.last.path == "/anthropic/v1/messages"
    assert "thinking" not in double.last.json, "it has no thought of its own to go on from"
    used = await house.store.usage.of_session((await alice.session()).id)
    assert {one.provider for one in used} == {"openai", "anthropic"}

    double.will(Unauthorised())
    double.will(HM, Says("And that is 4."))
    assert await alice.asks("and one more?") == "And that is 4."
    assert double.last.json["thinking"]["type"] == "enabled"


async def test_a_refusal_is_said_plainly(house: ModelHouse, double: ProviderDouble) -> None:
    """Nobody else is asked the same; the next message is answered as usual."""
    alice = house.guest("Alice")
    double.will(Refuses())

    assert f"{OPENAI} declined to answer this" in await alice.asks("something bad")

    assert len(double.requests) == 1
    double.will(Says("Gladly."))
    assert await alice.asks("something good") == "Gladly."
