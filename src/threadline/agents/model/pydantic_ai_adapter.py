"""Adapter for agents written with pydantic-ai, which keep their own tools."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

from pydantic_ai import Agent as TheirAgent
from pydantic_ai.agent import AgentRun
from pydantic_ai.messages import (
    FunctionToolResultEvent,
    ModelMessage,
    ModelResponse,
    ToolReturnPart,
)
from pydantic_ai.models import Model, infer_model
from pydantic_ai.output import OutputSpec
from pydantic_ai.tools import DeferredToolRequests
from pydantic_core import to_json

from threadline.agents.model.attachments import Attachments
from threadline.agents.model.errors import plain_error
from threadline.agents.model.history import NOTES_ARE_NOTES, render_history
from threadline.agents.model.model_call import output_of
from threadline.agents.model.response_parts import messages_of
from threadline.agents.model.tool_results import RESULT_LIMIT, cut, storable
from threadline.agents.model.tools import write_result
from threadline.agents.model.usage import read_model_usage
from threadline.core.agent import Output, Request
from threadline.core.errors import AgentError, ConfigError, ThreadlineError
from threadline.core.message import NewMessage, Role, ToolResult, say

_UNKNOWN = "unknown"


class WrappedAgent:
    """Lets an agent of pydantic-ai answer: its model, its instructions, its tools.

    What a person has to allow it decides by itself: the rules of the configuration are for the
    tools of the configuration.
    """

    def __init__(self, agent: TheirAgent[Any, Any]) -> None:
        """Answer with an agent that has a model."""
        if agent.model is None:
            raise ConfigError("The agent has no model", hint="Give it one: Agent('openai:gpt-5')")
        self._agent = agent

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Answer one turn."""
        model = infer_model(self._agent.model) if self._agent.model is not None else None
        name = model.model_name if model is not None else _UNKNOWN
        try:
            async with aclosing(self._answer(request, model)) as outputs:
                async for output in outputs:
                    yield output
        except ThreadlineError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a provider or a tool raises
            # What a provider says may quote a key, so that its words go no further.
            raise plain_error(error, name) from None

    async def _answer(self, request: Request, model: Model | None) -> AsyncGenerator[Output, None]:
        history = await _history(request, model)
        told = f"{NOTES_ARE_NOTES}\n\n{request.instructions.strip()}"
        async with self._agent.iter(message_history=history, instructions=told) as run:
            async for node in run:
                if TheirAgent.is_model_request_node(node):
                    async with node.stream(run.ctx) as stream:
                        async for event in stream:
                            if (output := output_of(event)) is not None and output.text:
                                yield output
                        answered = stream.response
                    for message in _said(answered):
                        yield message
                elif TheirAgent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as events:
                        async for event in events:
                            if isinstance(event, FunctionToolResultEvent) and isinstance(
                                event.part, ToolReturnPart
                            ):
                                yield _result(event.part)
        for last in _last_words(run):
            yield last


async def _history(request: Request, model: Model | None) -> Sequence[ModelMessage]:
    if model is None:
        raise AgentError("The agent has no model")
    attachments = Attachments(request.read_blob)
    attached = await attachments.load(request.history, model.profile, plain=False)
    return render_history(request.history, model, attached)


def _said(answered: ModelResponse) -> list[Output]:
    """Answer the line that a model said, and what it spent."""
    provider, model = answered.provider_name or _UNKNOWN, answered.model_name or _UNKNOWN
    return [read_model_usage(answered, provider=provider, model=model), *messages_of(answered)]


def _result(part: ToolReturnPart) -> NewMessage:
    text = cut(storable(write_result(part.content)), RESULT_LIMIT)
    is_error = part.outcome != "success"
    result = ToolResult(call_id=part.tool_call_id, text=text, is_error=is_error)
    return NewMessage(role=Role.TOOL, parts=(result,))


def _last_words(run: "AgentRun[Any, Any]") -> list[NewMessage]:
    """Say in words what an agent found that answers with data; what it said it has said."""
    output: OutputSpec[Any] | None = None if run.result is None else run.result.output
    if output is None or isinstance(output, str):
        return []
    if isinstance(output, DeferredToolRequests):
        raise AgentError(
            "The agent wants somebody else to run its tools, and nobody here does",
            hint="Let its tools run by themselves",
        )
    return [say(Role.ASSISTANT, to_json(output, indent=2, fallback=str).decode())]
