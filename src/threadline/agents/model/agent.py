"""The model agent: any model of any provider, with tools, answers a turn from its history alone."""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import TypeAlias, cast

from pydantic_ai.models import Model
from pydantic_ai.settings import ModelSettings as Options

from threadline.agents.model.approvals import (
    ask_about,
    ask_again,
    fitting,
    pending_calls,
    put_off,
    read_approval,
    refuse_call,
)
from threadline.agents.model.attachments import Attachments
from threadline.agents.model.history import NOTES_ARE_NOTES, Line
from threadline.agents.model.mcp_tools import ServerTools
from threadline.agents.model.model_call import ModelCall, ModelCandidate
from threadline.agents.model.models import full_model_name
from threadline.agents.model.response_parts import messages_of
from threadline.agents.model.retries import Chance, Retries, RetryLimits, Sleep
from threadline.agents.model.tools import Toolbox, Toolset, open_toolbox
from threadline.agents.settings import ModelSettings
from threadline.core.agent import Output, Request
from threadline.core.approval import ToolVerdict
from threadline.core.errors import AgentError, ConfigError
from threadline.core.gateway_status import ServerHealth
from threadline.core.message import NewMessage, Role, ToolCall

log = logging.getLogger(__name__)

MakeModel: TypeAlias = Callable[[str, str | None], Model]
"""Makes a model of its name, and of the address that a session chose for it."""

_CACHED = {"cache": True}
"""The beginning of a conversation is read once and kept, where a provider offers that."""


class ModelAgent:
    """Answers turns with the models of the configuration, and stores nothing."""

    def __init__(
        self,
        settings: ModelSettings,
        make_model: MakeModel,
        *,
        toolsets: Sequence[Toolset] = (),
        patience: RetryLimits | None = None,
        sleep: Sleep = asyncio.sleep,
        chance: Chance = random.random,
    ) -> None:
        """Take what there is: models as they are needed, and tools that are open already."""
        self._settings = settings
        self._make_model = make_model
        self._toolsets = tuple(toolsets)
        self._patience = patience or RetryLimits()
        self._sleep = sleep
        self._chance = chance

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Answer one turn."""
        candidates = self._candidates(request)
        toolbox = await open_toolbox(
            self._toolsets,
            candidates[0].model,
            self._settings.rules_for(request.session.platform),
            only=request.session.tools,
            allowed=request.allowed,
        )
        exchange = ModelTurn(self._settings, request, candidates, toolbox, self._new_step)
        async with aclosing(exchange.run()) as outputs:
            async for output in outputs:
                yield output

    def servers(self) -> dict[str, ServerHealth]:
        """Return the state of each MCP server by its name."""
        return {one.id: one.health for one in self._toolsets if isinstance(one, ServerTools)}

    def _candidates(self, request: Request) -> list[ModelCandidate]:
        choice = request.session.choice
        first = full_model_name(self._settings, choice)
        base_url = None if choice is None else choice.base_url
        model = self._make_model(first, base_url)
        chosen = ModelCandidate(name=first, model=model, may_be_replaced=choice is None)
        return [chosen, *self._others(first)]

    def _others(self, first: str) -> Iterator[ModelCandidate]:
        """Make those who may answer in its place; one that cannot be asked is passed over."""
        for name in dict.fromkeys(self._settings.fallback):
            if name == first:
                continue
            try:
                yield ModelCandidate(name=name, model=self._make_model(name, None))
            except ConfigError as error:
                log.warning("%s cannot take over: %s", name, error)

    def _new_step(
        self,
        lines: Sequence[Line],
        candidates: list[ModelCandidate],
        toolbox: Toolbox,
        instructions: str,
        attachments: Attachments,
    ) -> ModelCall:
        return ModelCall(
            lines=lines,
            candidates=candidates,
            instructions=instructions,
            tools=toolbox.definitions,
            settings=cast("Options", {**_CACHED, **self._settings.options}),
            attachments=attachments,
            retries=lambda: Retries(self._patience, chance=self._chance),
            sleep=self._sleep,
        )


class ModelTurn:
    """One turn: the model speaks and calls tools, until it has said what it had to say."""

    def __init__(
        self,
        settings: ModelSettings,
        request: Request,
        candidates: list[ModelCandidate],
        toolbox: Toolbox,
        new_step: Callable[..., ModelCall],
    ) -> None:
        """Begin where the history ends."""
        self._settings = settings
        self._request = request
        self._candidates = candidates
        self._toolbox = toolbox
        self._new_step = new_step
        self._lines: list[Line] = list(request.history)
        self._attachments = Attachments(request.read_blob)
        self._steps = _count_steps(request)

    async def run(self) -> AsyncGenerator[Output, None]:
        """Yield everything that is said and done."""
        async with aclosing(self._take_answer()) as results:
            async for result in results:
                yield result
        while True:
            step = self._next_step()
            async with aclosing(step.run()) as outputs:
                async for output in outputs:
                    yield output
            calls: list[ToolCall] = []
            for message in messages_of(step.response) if step.response else ():
                yield self._kept(message)
                calls += [part for part in message.parts if isinstance(part, ToolCall)]
            if not calls:
                return
            asked = [call for call in calls if self._toolbox.verdict(call) is ToolVerdict.ASK]
            async with aclosing(
                self._use([call for call in calls if call not in asked])
            ) as results:
                async for result in results:
                    yield result
            if asked:
                shown = fitting(asked)
                for call in asked[len(shown) :]:
                    yield self._kept(put_off(call))
                if shown:
                    yield ask_about(shown, reads_only=self._toolbox.reads_only(shown))
                    return
            self._lines += await self._request.steering()

    def _next_step(self) -> ModelCall:
        if self._steps >= self._settings.max_steps:
            raise AgentError(
                f"The model was called {self._steps} times in this turn, and came to no end",
                hint="`max_steps` says how often it may be",
            )
        self._steps += 1
        return self._new_step(
            tuple(self._lines),
            self._candidates,
            self._toolbox,
            render_instructions(self._settings, self._request),
            self._attachments,
        )

    async def _take_answer(self) -> AsyncGenerator[Output, None]:
        """Do what a person was asked about, or tell the model that it may not."""
        answer = self._request.turn.answer
        calls = [] if answer is None else pending_calls(self._lines, self._request.turn.id)
        if answer is None or not calls:
            return
        is_allowed, words = read_approval(answer)
        if is_allowed and ask_about(calls).text != self._request.turn.question:
            for call in calls:
                yield self._kept(ask_again(call))
        elif not is_allowed:
            for call in calls:
                yield self._kept(refuse_call(call, words))
        else:
            async with aclosing(self._use(calls)) as results:
                async for result in results:
                    yield result
        self._lines += await self._request.steering()

    async def _use(self, calls: Sequence[ToolCall]) -> AsyncGenerator[NewMessage, None]:
        async with aclosing(self._toolbox.run(calls)) as results:
            async for result in results:
                yield self._kept(result)

    def _kept(self, message: NewMessage) -> NewMessage:
        self._lines.append(message)
        return message


def render_instructions(settings: ModelSettings, request: Request) -> str:
    """Write who the model is, how it is spoken to, and where it is: the same in every turn."""
    who = settings.instructions
    if request.session.personality is not None:
        who = settings.personalities.get(request.session.personality, who)
    sections = (who.strip(), NOTES_ARE_NOTES, request.instructions.strip())
    return "\n\n".join(filter(None, sections))


def _count_steps(request: Request) -> int:
    """Count how often the model was called in this turn before somebody was asked."""
    return sum(
        line.role is Role.ASSISTANT and line.turn_id == request.turn.id for line in request.history
    )
