"""Tools: what a model may call in a turn, and what comes of a call."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from pydantic import ValidationError
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed
from pydantic_ai.messages import BinaryContent, FileUrl, ToolReturn, UploadedFile
from pydantic_ai.models import Model
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_ai.usage import RunUsage
from pydantic_core import to_json

from threadline.agents.model.mcp_tools import READS_ONLY
from threadline.agents.model.tool_results import cut, storable
from threadline.core.approval import ToolRules, ToolVerdict
from threadline.core.errors import ThreadlineError
from threadline.core.message import NewMessage, Role, ToolCall, ToolResult

log = logging.getLogger("threadline.agents.model")

Toolset: TypeAlias = AbstractToolset[None]

RESULT_LIMIT = 400_000
"""Characters of a result; a tool that says more is cut."""
_ERROR_LIMIT = 2_000


class Toolbox(Struct, frozen=True, kw_only=True):
    """The tools of one turn: each is free, or a person is asked for it first."""

    tools: Mapping[str, ToolsetTool[None]]
    verdicts: Mapping[str, ToolVerdict]
    context: RunContext[None]

    @property
    def definitions(self) -> list[ToolDefinition]:
        """What the model is told of the tools, in an order that does not change."""
        return [self.tools[name].tool_def for name in sorted(self.tools)]

    def verdict(self, call: ToolCall) -> ToolVerdict:
        """Judge a call; a tool that is not there is barred."""
        return self.verdicts.get(call.name, ToolVerdict.BARRED)

    def reads_only(self, calls: Sequence[ToolCall]) -> bool:
        """Return whether these calls change nothing, by what the servers say of their tools."""
        known = (self.tools.get(call.name) for call in calls)
        return all(tool and (tool.tool_def.metadata or {}).get(READS_ONLY) for tool in known)

    async def run(self, calls: Sequence[ToolCall]) -> AsyncGenerator[NewMessage, None]:
        """Run these calls at the same time, and yield each result as it comes."""
        tasks = [asyncio.create_task(self._call(call), name=call.name) for call in calls]
        try:
            for done in asyncio.as_completed(tasks):
                yield NewMessage(role=Role.TOOL, parts=(await done,))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _call(self, call: ToolCall) -> ToolResult:
        try:
            text, is_error = write_result(await self._use(call)), False
        except Exception as error:  # noqa: BLE001 - a tool may raise anything
            text, is_error = _explain(error), True
        fit = cut(storable(text), RESULT_LIMIT)
        return ToolResult(call_id=call.id, text=fit, is_error=is_error)

    async def _use(self, call: ToolCall) -> Any:
        tool = self.tools.get(call.name)
        if tool is None:
            raise ModelRetry(f"There is no tool called {call.name}")
        arguments = tool.args_validator.validate_json(call.arguments or "{}")
        context = RunContext(
            deps=None,
            model=self.context.model,
            usage=self.context.usage,
            tool_name=call.name,
            tool_call_id=call.id,
        )
        return await tool.toolset.call_tool(call.name, arguments, context, tool)


async def open_toolbox(
    toolsets: Sequence[Toolset],
    model: Model,
    rules: ToolRules,
    *,
    only: Sequence[str] | None,
    allowed: frozenset[str],
) -> Toolbox:
    """Gather the tools that there are for a turn; those that are barred are not among them."""
    context = RunContext(deps=None, model=model, usage=RunUsage())
    found = await asyncio.gather(*(toolset.get_tools(context) for toolset in toolsets))
    tools = _gather(found)
    verdicts = {name: rules.verdict(name, only=only, allowed=allowed) for name in tools}
    offered = {
        name: tool for name, tool in tools.items() if verdicts[name] is not ToolVerdict.BARRED
    }
    return Toolbox(tools=offered, verdicts=verdicts, context=context)


def _gather(found: Sequence[Mapping[str, ToolsetTool[None]]]) -> dict[str, ToolsetTool[None]]:
    """Put the tools of all servers together.

    Where two servers have a tool of one name there is none: leave for the one is no leave for the
    other.
    """
    count = Counter(name for some in found for name in some)
    for name in (name for name, times in count.items() if times > 1):
        log.warning("Several servers have a tool %s, so that it is left out", name)
    return {name: tool for some in found for name, tool in some.items() if count[name] == 1}


def write_result(value: object) -> str:
    """Write what a tool gave back as text; what is no text is named."""
    match value:
        case None:
            return ""
        case str():
            return value
        case ToolReturn():
            return "\n".join(filter(None, map(write_result, _told(value))))
        case BinaryContent():
            return f"[{value.media_type}, {len(value.data):,} bytes; you cannot open it]"
        case FileUrl():
            return f"[{value.media_type}: {value.url}]"
        case UploadedFile():
            return f"[file {value.identifier}]"
        case list() | tuple() if any(_is_file(item) for item in value):
            return "\n".join(map(write_result, value))
        case _:
            return _write_data(value)


def _told(value: ToolReturn[object]) -> Iterator[object]:
    yield value.return_value
    content = value.content
    yield from [content] if isinstance(content, str) else content or ()


def _is_file(value: object) -> bool:
    return isinstance(value, BinaryContent | FileUrl | UploadedFile)


def _write_data(value: object) -> str:
    try:
        return to_json(value, serialize_unknown=True).decode()
    except ValueError:
        return str(value)


def _explain(error: Exception) -> str:
    """Say to the model why a call failed; it can do something about it."""
    match error:
        case ValidationError():
            problems = error.errors(include_url=False, include_context=False, include_input=False)
            return f"The arguments do not fit: {json.dumps(problems, default=str)[:_ERROR_LIMIT]}"
        case ModelRetry() | ToolFailed():
            return str(error)[:_ERROR_LIMIT] or "The tool failed"
        case ThreadlineError():
            return str(error)
        case ApprovalRequired() | CallDeferred():
            return "This tool cannot be used here"
        case TimeoutError():
            return "The tool did not answer in time"
        case _:
            return f"The tool failed ({type(error).__name__})"
