"""Reasoning options: whether a model may think in a step, by how the step before it began."""

from collections.abc import Sequence

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ThinkingPart,
    ToolReturnPart,
)
from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings

_ANTHROPIC = "anthropic"


def settings_for(
    model: Model, messages: Sequence[ModelMessage], settings: ModelSettings
) -> ModelSettings:
    """Answer how a model is asked: without thinking where its provider would refuse that.

    Anthropic's models that think by a budget go on after a tool only from a thought of their own.
    Another model's step has none, nor has one that was made before thinking was set.
    """
    if model.system != _ANTHROPIC or not _has_budget(model, settings) or _may_think(messages):
        return settings
    others = {name: value for name, value in settings.items() if name != "anthropic_thinking"}
    return ModelSettings(**{**others, "thinking": False})  # type: ignore[typeddict-item]


def _has_budget(model: Model, settings: ModelSettings) -> bool:
    own = settings.get("anthropic_thinking")
    if isinstance(own, dict):
        return own.get("type") == "enabled"
    is_adaptive = model.profile.get("anthropic_supports_adaptive_thinking", False)
    return bool(settings.get("thinking")) and not is_adaptive


def _may_think(messages: Sequence[ModelMessage]) -> bool:
    """Tell whether nothing stands before this step, or a thought that can be gone on from."""
    *_, before, last = [None, None, *messages]
    if not isinstance(before, ModelResponse) or not isinstance(last, ModelRequest):
        return True
    if not any(isinstance(part, ToolReturnPart) for part in last.parts):
        return True
    first = before.parts[0] if before.parts else None
    is_own = isinstance(first, ThinkingPart) and first.provider_name == _ANTHROPIC
    return is_own and bool(first.signature)
