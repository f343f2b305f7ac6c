"""Model call: one call, repeated while nothing was said, then made to the next model."""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from msgspec import Struct
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelConnectionError,
    ModelRequestRejectedError,
    ModelTimeoutError,
    UserError,
)
from pydantic_ai.messages import (
    InstructionPart,
    ModelMessage,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    repair_messages,
)
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from threadline.agents.model.attachments import Attachments, Content
from threadline.agents.model.errors import (
    BrokenOff,
    CutShort,
    EmptyAnswer,
    Remedy,
    is_context_full,
    plain_error,
    remedy_for,
)
from threadline.agents.model.history import Line, render_history
from threadline.agents.model.models import provider_of
from threadline.agents.model.reasoning_options import settings_for
from threadline.agents.model.retries import Retries, Sleep
from threadline.agents.model.tool_results import storable
from threadline.agents.model.usage import read_model_usage
from threadline.core.agent import Output, ReasoningDelta, TextDelta
from threadline.core.message import BlobHash

log = logging.getLogger(__name__)


class ModelCandidate(Struct, frozen=True, kw_only=True):
    """A model that may be asked, by its name in the configuration."""

    name: str
    model: Model
    may_be_replaced: bool = True
    """Another one may answer when this one is refused; for one that was chosen, only when it is
    overloaded.
    """


@dataclass(slots=True, kw_only=True)
class ModelCall:
    """One call of a model. `response` is there as soon as all outputs were taken."""

    lines: Sequence[Line]
    candidates: list[ModelCandidate]
    """Who is asked, in this order; one that cannot answer is gone for the rest of the turn."""
    instructions: str
    tools: Sequence[ToolDefinition]
    settings: ModelSettings
    attachments: Attachments
    retries: Callable[[], Retries]
    sleep: Sleep
    response: ModelResponse | None = None
    _has_spoken: bool = field(default=False, init=False)
    _is_plain: bool = field(default=False, init=False)
    """Only words are sent, because the model did not take what was attached."""

    async def run(self) -> AsyncGenerator[Output, None]:
        """Yield the answer as it comes, whoever gives it in the end."""
        retries = self.retries()
        while self.response is None:
            candidate = self.candidates[0]
            try:
                async with aclosing(self._ask(candidate)) as outputs:
                    async for output in outputs:
                        yield output
            except Exception as error:  # noqa: BLE001 - whatever a provider's package raises
                wait = await self._wait_after(error, candidate, retries)
                if wait is None:
                    raise plain_error(error, candidate.name) from None
                if self.candidates[0] is not candidate:
                    retries = self.retries()
                await self.sleep(wait)

    async def _wait_after(
        self, error: Exception, candidate: ModelCandidate, retries: Retries
    ) -> float | None:
        """Answer how long to wait before the next try, perhaps of another model; None: give up."""
        if self._has_spoken:
            return None
        if self._may_be_attached(error) and not self._is_plain:
            self._is_plain = True
            return 0.0
        pause = retries.wait_after(error)
        if pause is not None:
            log.info("%s Trying again in %.1f s.", plain_error(error, candidate.name), pause)
            return pause
        if len(self.candidates) == 1 or not _may_move_on(error, candidate):
            return None
        self.candidates.pop(0)
        told = plain_error(error, candidate.name)
        log.warning("%s Asking %s instead.", told, self.candidates[0].name)
        return 0.0

    def _may_be_attached(self, error: Exception) -> bool:
        """Tell whether it may be an attachment that a model did not take."""
        is_refusal = isinstance(
            error, ModelRequestRejectedError | UserError | AssertionError | ValueError
        )
        return is_refusal and not is_context_full(error) and self.attachments.were_shown

    async def _ask(self, candidate: ModelCandidate) -> AsyncGenerator[Output, None]:
        model = candidate.model
        attached = await self.attachments.load(self.lines, model.profile, plain=self._is_plain)
        messages, asked = self._prepare(model, attached)
        async with model_request_stream(
            model,
            messages,
            model_settings=settings_for(model, messages, self.settings),
            model_request_parameters=asked,
            instrument=False,
        ) as stream:
            try:
                async with aclosing(self._follow(stream)) as outputs:
                    async for output in outputs:
                        yield output
            except Exception as error:
                if stream.usage.has_values():
                    yield _usage(stream.get(), candidate)
                if _is_cut_off(error):
                    # It had been reached, though the error does not say so.
                    raise BrokenOff from error
                raise
            response = stream.get()
        yield _usage(response, candidate)
        _check(response)
        self.response = response

    def _prepare(
        self, model: Model, attached: Mapping[BlobHash, Content]
    ) -> tuple[list[ModelMessage], ModelRequestParameters]:
        parameters = ModelRequestParameters(
            function_tools=list(self.tools),
            instruction_parts=[InstructionPart(content=self.instructions)],
        )
        messages = render_history(self.lines, model, attached)
        return repair_messages(model.prepare_messages(messages, parameters)), parameters

    async def _follow(self, stream: StreamedResponse) -> AsyncGenerator[Output, None]:
        is_first_text = True
        async for event in stream:
            if _is_text_start(event):
                if not is_first_text and self._has_spoken:
                    yield TextDelta(text="\n")
                is_first_text = False
            output = output_of(event)
            if output is not None and output.text:
                self._has_spoken |= isinstance(output, TextDelta)
                yield output


def _may_move_on(error: Exception, candidate: ModelCandidate) -> bool:
    remedy = remedy_for(error)
    return remedy is Remedy.WAIT or (remedy is Remedy.ANOTHER and candidate.may_be_replaced)


def _is_cut_off(error: Exception) -> bool:
    return isinstance(error, ModelConnectionError) and not isinstance(error, ModelTimeoutError)


def _usage(response: ModelResponse, candidate: ModelCandidate) -> Output:
    provider, model = provider_of(candidate.name)
    return read_model_usage(response, provider=provider, model=model)


def _is_text_start(event: ModelResponseStreamEvent) -> bool:
    return isinstance(event, PartStartEvent) and isinstance(event.part, TextPart)


def output_of(event: object) -> TextDelta | ReasoningDelta | None:
    """Answer what is said or thought with an event of a stream; None: neither."""
    match event:
        case PartStartEvent(part=TextPart(content=text)):
            return TextDelta(text=storable(text))
        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
            return TextDelta(text=storable(text))
        case PartStartEvent(part=ThinkingPart(content=text)):
            return ReasoningDelta(text=storable(text))
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str() as text)):
            return ReasoningDelta(text=storable(text))
        case _:
            return None


def _check(response: ModelResponse) -> None:
    """Refuse an answer that is none, or not a whole one."""
    told = (response.provider_details or {}).get("finish_reason")
    is_cut = response.provider_name is not None and response.finish_reason is None and not told
    if response.finish_reason == "content_filter":
        raise ContentFilterError("The provider stopped the answer")
    if is_cut or response.state == "incomplete":
        raise BrokenOff
    says = any(isinstance(part, TextPart) and part.content for part in response.parts)
    calls = any(isinstance(part, ToolCallPart) for part in response.parts)
    if response.finish_reason == "length" and (calls or not says):
        raise CutShort
    if response.finish_reason == "error" and not says:
        raise BrokenOff
    if not says and not calls:
        raise EmptyAnswer
