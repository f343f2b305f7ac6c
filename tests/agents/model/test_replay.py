"""What is sent again is, byte for byte, what a provider's own package would send again."""

from typing import cast

import pytest
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import AgentRunResultEvent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.settings import ModelSettings as Options

from tests.agents.model.provider_agent import NAMES, arithmetic, opened, settings_of
from tests.agents.model.stored_conversation import Talk
from tests.doubles.providers import Calls, ProviderDouble, Says, Thinks
from threadline.agents.model.agent import render_instructions
from threadline.agents.model.models import make_model, open_http
from threadline.core.message import Reasoning, Role

FIRST = "What is 1 + 2, and 3 + 4?"
SECOND = "Thank you. And 5?"


def script(double: ProviderDouble) -> None:
    double.will(
        Thinks("Two sums."),
        Says("A moment."),
        Calls(("add", {"a": 1, "b": 2}), ("add", {"b": 4, "a": 3})),
    )
    double.will(Thinks("Easy."), Says("3 and 7."))
    double.will(Says("5 is 5."))


async def bodies_of_theirs(name: str) -> list[bytes]:
    """Have the same conversation without us, in one process, and answer what was sent."""
    async with ProviderDouble() as double, open_http() as http:
        script(double)
        settings, talk = settings_of(double, name), Talk()
        agent: PydanticAgent[None, str] = PydanticAgent(
            make_model(settings, name, http=http),
            instructions=render_instructions(settings, talk.request()),
            toolsets=[arithmetic()],
            model_settings=cast("Options", {"cache": True, **settings.options}),
        )
        history: list[ModelMessage] = []
        for trigger, words in (("m1", FIRST), ("m6", SECOND)):
            minute = int(trigger[1:])
            prompt = f'(message "{trigger}", 2026-03-02 09:{minute:02} UTC)\n{words}'
            async with agent.run_stream_events(prompt, message_history=history) as events:
                async for event in events:
                    if isinstance(event, AgentRunResultEvent):
                        history = event.result.all_messages()
        return [request.body for request in double.requests]


@pytest.mark.parametrize("name", NAMES)
async def test_a_replay_is_identical(name: str) -> None:
    """Thoughts, words and parallel calls are sent again as if nothing had been stored between."""
    async with ProviderDouble() as double:
        script(double)
        settings, talk = settings_of(double, name), Talk()
        async with opened(settings, arithmetic()) as agent:
            await talk.says(agent, FIRST)
        async with opened(settings, arithmetic()) as restarted:
            await talk.says(restarted, SECOND)
        ours = [request.body for request in double.requests]

    assert len(ours) == 3
    assert ours == await bodies_of_theirs(name)
    assert any(isinstance(part, Reasoning) for part in talk.parts(Role.ASSISTANT))
