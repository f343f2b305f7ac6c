"""The agent: one turn of a conversation with a program that speaks the protocol."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

from acp.helpers import ContentBlock
from acp.schema import PromptResponse

from threadline.agents.acp.client import PermissionRequest
from threadline.agents.acp.memory import ConversationMemory, note_heard_lines, recall, text_digest
from threadline.agents.acp.permissions import choose_option, is_approved, question_of, tool_of
from threadline.agents.acp.process import AgentProcess, ProgramEnded
from threadline.agents.acp.process_pool import ProcessPool
from threadline.agents.acp.prompts import tell_history, tell_lines, tell_place
from threadline.agents.acp.updates import Replay, UpdateMapper, read_acp_usage
from threadline.agents.settings import AcpSettings
from threadline.core.agent import Memory, Output, Request
from threadline.core.approval import QUESTION_LIMIT, ToolVerdict
from threadline.core.errors import AgentError
from threadline.core.message import Message

log = logging.getLogger("threadline.agents.acp")

_ENDINGS = {
    "refusal": "The agent refused to answer this",
    "max_tokens": "The answer became too long for the agent",
    "max_turn_requests": "The agent took more steps than it may",
    "cancelled": "The agent stopped by itself",
}


class AcpAgent:
    """Lets programs answer, one for each session. They remember by themselves what was said.

    They cannot be told anything while they work: what is said meanwhile waits for its turn.
    """

    def __init__(self, settings: AcpSettings, crew: ProcessPool) -> None:
        """Answer with a crew of programs."""
        self._settings = settings
        self._crew = crew

    async def answer(self, request: Request) -> AsyncIterator[Output]:
        """Answer one turn.

        A program that ended while it was idle is started again.
        """
        for is_restarted in (False, True):
            async with self._crew.lend(request.session) as companion:
                was_idle = bool(companion.known)
                try:
                    async with aclosing(self._answer(companion, request)) as outputs:
                        async for output in outputs:
                            was_idle = was_idle and isinstance(output, Memory)
                            yield output
                    return
                except ProgramEnded:
                    if is_restarted or not was_idle:
                        raise

    async def _answer(
        self, companion: AgentProcess, request: Request
    ) -> AsyncGenerator[Output, None]:
        name, blocks, replay = await self._prepare(companion, request)
        # What is asked now counts when it is answered: cut off before, it is said again.
        yield note_heard_lines(name, request, _parted(request)[0]).write()
        asked = {(line.key, line.changed_at) for line in _parted(request)[1]}
        async with aclosing(self._converse(companion, name, blocks, replay, request)) as outputs:
            async for output in outputs:
                companion.heard.setdefault(name, set()).update(asked)
                yield output

    async def _converse(
        self,
        companion: AgentProcess,
        name: str,
        blocks: Sequence[ContentBlock],
        replay: Replay | None,
        request: Request,
    ) -> AsyncGenerator[Output, None]:
        telling = UpdateMapper(replay)
        companion.ears.listen(name)
        prompting = asyncio.create_task(companion.prompt(name, blocks), name=f"prompt {name}")
        try:
            async with aclosing(_happenings(companion, prompting)) as happenings:
                async for happened in happenings:
                    if isinstance(happened, AgentError):
                        raise happened
                    if isinstance(happened, PermissionRequest):
                        for line in telling.ask(happened.call):
                            yield line
                        whole = happened.of(telling.whole(happened.call))
                        if await _either(self._decide(whole, request), prompting) is False:
                            telling.deny(whole.call)
                        continue
                    for output in telling.hear(happened):
                        yield output
            ended = prompting.result()
        finally:
            companion.ears.listen(None)
            if not prompting.done():
                await companion.cancel(name)
                self._crew.settle(companion, prompting)
        for output in telling.end():
            yield output
        if ended.usage is not None:
            yield read_acp_usage(ended.usage, companion.program)
        yield note_heard_lines(name, request, request.history, telling.lines).write()
        _check_ending(ended, telling, companion.program)

    async def _prepare(
        self, companion: AgentProcess, request: Request
    ) -> tuple[str, list[ContentBlock], Replay | None]:
        """Find or start the program's own session, and what is to be said in it."""
        known, replay = recall(request.memory), None
        new = None if known is None else known.new_lines(request)
        if known is not None and new is not None and known.name not in companion.known:
            replay = Replay([line for line in request.history if line not in new])
        if known is not None and new is not None and await _goes_on(companion, known, replay):
            is_elsewhere = known.instructions != text_digest(request.instructions)
            blocks = [*tell_place("", request)] if is_elsewhere else []
            name, lines = known.name, _unheard(companion, known.name, new) or new
        else:
            name, (before, lines) = await companion.open_session(), _parted(request)
            blocks = [*tell_place(self._settings.instructions, request), *tell_history(before)]
            replay = None
        blocks += [one async for one in tell_lines(lines, request, companion.takes)]
        return name, blocks, replay

    async def _decide(self, asked: PermissionRequest, request: Request) -> bool:
        """Reply to a permission request by the rules, or as a person decides."""
        settings, platform = self._settings, request.session.platform
        rules = settings.tools_by_platform.get(platform, settings.tools)
        verdict = rules.verdict(
            tool_of(asked.call), only=request.session.tools, allowed=request.allowed
        )
        approved = verdict is ToolVerdict.FREE
        if verdict is ToolVerdict.ASK:
            question = question_of(asked.call, asked.options)
            if len(question.text) > QUESTION_LIMIT:
                log.warning(
                    "A request of %s was denied: it is too long to be shown (%s characters)",
                    tool_of(asked.call),
                    f"{len(question.text):,}",
                )
            else:
                approved = is_approved(await request.ask(question))
                if approved and asked.has_changed:
                    log.warning(
                        "A request of %s was denied: the agent changed it after it was shown",
                        tool_of(asked.call),
                    )
                    approved = False
        if not asked.answer.done():
            asked.answer.set_result(choose_option(asked.options, approved=approved))
        return approved


def _check_ending(ended: PromptResponse, telling: UpdateMapper, program: str) -> None:
    """Raise `AgentError` if a turn failed.

    Codex stops by itself when permission was denied: that is no failure.
    """
    is_refused = ended.stop_reason == "cancelled" and telling.is_denied
    if (why := _ENDINGS.get(str(ended.stop_reason))) is not None and not is_refused:
        raise AgentError(why, id=program)


async def _goes_on(
    companion: AgentProcess, known: ConversationMemory, replay: Replay | None
) -> bool:
    """Return whether the program still has its session open, or has loaded it again."""
    if replay is None:
        return True
    return companion.loads and await companion.load_session(known.name, replay)


def _unheard(companion: AgentProcess, name: str, lines: list[Message]) -> list[Message]:
    """Return the lines that this very program has not begun to reply to.

    What was stopped is not said again with the next message: the agent would do it after all.
    """
    heard = companion.heard.get(name, set())
    return [line for line in lines if (line.key, line.changed_at) not in heard]


async def _either(
    work: Coroutine[Any, Any, bool], other: "asyncio.Task[PromptResponse]"
) -> bool | None:
    """Do some work, but give it up and return None if the other task ends first."""
    task = asyncio.create_task(work)
    try:
        await asyncio.wait({task, other}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()
        await asyncio.wait({task})
    return None if task.cancelled() else task.result()


def _parted(request: Request) -> tuple[list[Message], list[Message]]:
    """Part the history into what was before, and what is to be answered now."""
    history, asked = list(request.history), request.asked
    at = history.index(asked[0]) if asked else len(history)
    return history[:at], history[at:]


async def _happenings(
    companion: AgentProcess, prompting: "asyncio.Task[PromptResponse]"
) -> AsyncGenerator[object, None]:
    """Hear what the program does until it is done."""
    heard = companion.ears.heard
    while not prompting.done() or not heard.empty():
        if not heard.empty():
            yield heard.get_nowait()
            continue
        waiting = asyncio.create_task(heard.get())
        try:
            await asyncio.wait({waiting, prompting}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done():
                yield waiting.result()
        finally:
            waiting.cancel()
