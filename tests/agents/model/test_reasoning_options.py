"""Models that think, and steps in which their provider would not let them."""

import pytest
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.settings import ModelSettings

from tests.agents.model.provider_settings import settings_for as settings_of
from tests.doubles.providers import ProviderDouble
from threadline.agents.model.models import make_model, open_http
from threadline.agents.model.reasoning_options import settings_for

BUDGET, ADAPTIVE = "anthropic:claude-haiku-4-5", "anthropic:claude-opus-4-7"
ASKED = ModelRequest(parts=[UserPromptPart(content="1 + 2?")])
CALL = ToolCallPart(tool_name="add", args="{}", tool_call_id="1")
RESULT = ModelRequest(parts=[ToolReturnPart(tool_name="add", content="3", tool_call_id="1")])
OWN = ThinkingPart(content="Hm.", signature="abc", provider_name="anthropic")
FOREIGN = ThinkingPart(content="Hm.", signature="abc", provider_name="openai")
THINKS = ModelSettings(thinking=True)
OWN_WAY = {"anthropic_thinking": {"type": "enabled", "budget_tokens": 2000}}


@pytest.mark.parametrize(
    ("name", "messages", "thinks"),
    [
        (BUDGET, [ASKED], True),
        (BUDGET, [ASKED, ModelResponse(parts=[OWN, CALL]), RESULT], True),
        (BUDGET, [ASKED, ModelResponse(parts=[CALL]), RESULT], False),
        (BUDGET, [ASKED, ModelResponse(parts=[FOREIGN, CALL]), RESULT], False),
        (BUDGET, [ASKED, ModelResponse(parts=[TextPart(content="3.")]), ASKED], True),
        (ADAPTIVE, [ASKED, ModelResponse(parts=[CALL]), RESULT], True),
        ("openai:gpt-5", [ASKED, ModelResponse(parts=[CALL]), RESULT], True),
    ],
    ids=["first", "own", "none", "foreign", "over", "adaptive", "elsewhere"],
)
async def test_who_thinks_by_a_budget_needs_a_thought_to_go_on_from(
    name: str, messages: list[ModelMessage], thinks: bool
) -> None:
    """After a tool was used, and only there; everybody else thinks as they were told to."""
    async with open_http() as http:
        model = make_model(settings_of(ProviderDouble(), name), name, http=http)

        assert settings_for(model, messages, THINKS)["thinking"] is thinks


async def test_thinking_in_the_words_of_the_provider_is_left_out_too() -> None:
    """An owner may have set it by its own name."""
    settings = ModelSettings(temperature=1.0, **OWN_WAY)  # type: ignore[typeddict-item]
    messages: list[ModelMessage] = [ASKED, ModelResponse(parts=[CALL]), RESULT]
    async with open_http() as http:
        model = make_model(settings_of(ProviderDouble(), BUDGET), BUDGET, http=http)

        assert settings_for(model, messages, settings) == {"temperature": 1.0, "thinking": False}
        assert settings_for(model, [ASKED], settings) == settings
