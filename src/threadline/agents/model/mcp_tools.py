"""MCP tools: the tools of MCP servers, as a model is offered them.

A server that is missing costs its tools and a line in the log; one that breaks in the middle of a
call costs that call, which the model is told. Neither costs the turn.
"""

import hashlib
import logging
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from threadline.agents.model.mcp_client import REST, START, McpClient, ServerUnavailable
from threadline.agents.model.tool_results import RESULT_LIMIT, cut, render_result, storable
from threadline.agents.settings import McpServer
from threadline.core.gateway_status import ServerHealth

if TYPE_CHECKING:
    from mcp.types import Tool

log = logging.getLogger("threadline.agents.mcp")

NAME_LIMIT = 64
"""Characters that every provider takes as the name of a tool."""
DESCRIPTION_LIMIT = 4_000
"""Characters that a model is told about a tool."""
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_ORIGIN = "threadline_origin"
READS_ONLY = "threadline_reads_only"
"""The metadata of a tool of which its server says that it changes nothing."""
_ANY_OBJECT = SchemaValidator(
    core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
)


@asynccontextmanager
async def open_servers(
    servers: Sequence[McpServer], *, start: timedelta = START, rest: timedelta = REST
) -> AsyncIterator[list[AbstractToolset[Any]]]:
    """Give the tools of these servers, each of which starts when it is first needed."""
    async with AsyncExitStack() as stack:
        toolsets: list[AbstractToolset[Any]] = []
        for server in servers:
            link = McpClient(server, start=start, rest=rest)
            stack.push_async_callback(link.close)
            others = [one.name for one in servers if one.name != server.name]
            toolsets.append(ServerTools(server, link, others=others))
        yield toolsets


def _reads_only(tool: "Tool") -> bool:
    hints = tool.annotations
    return hints is not None and hints.read_only_hint is True and not hints.destructive_hint


def tool_name(server: str, tool: str) -> str:
    """Name a tool as the model sees it: after its server, in signs that every provider takes."""
    name = _ODD.sub("_", f"{server}_{tool}")
    if len(name) <= NAME_LIMIT:
        return name
    mark = hashlib.sha256(f"{server}_{tool}".encode()).hexdigest()[:8]
    return f"{name[: NAME_LIMIT - 9]}_{mark}"


class ServerTools(AbstractToolset[Any]):
    """The tools of one server."""

    def __init__(
        self,
        server: McpServer,
        link: McpClient,
        *,
        limit: int = RESULT_LIMIT,
        others: Sequence[str] = (),
    ) -> None:
        """Connect nothing: that is done by whoever first asks for a tool.

        `others` are the other servers. A tool that is named like one of theirs is not offered, also
        while they are down: leave for the one is no leave for the other.
        """
        own = tool_name(server.name, "")
        prefixes = (tool_name(other, "") for other in others)
        self._foreign = tuple(one for one in prefixes if one.startswith(own))
        self._server = server
        self._link = link
        self._limit = limit
        self._told: set[str] = set()

    @property
    def id(self) -> str:
        """The name of the server."""
        return self._server.name

    @property
    def health(self) -> ServerHealth:
        """The state of the server."""
        return self._link.health

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Answer the tools of the server; none while it cannot be reached."""
        try:
            listed = await self._link.tools()
        except ServerUnavailable:
            return {}  # the link has told the log
        offered: dict[str, ToolsetTool[Any]] = {}
        for tool in listed:
            name = tool_name(self._server.name, tool.name)
            schema = {"type": "object", **tool.input_schema}
            if name in offered:
                self._complain(f"Two tools of {self._server.name} would be called {name}")
            elif name.startswith(self._foreign):
                self._complain(f"{name} looks like a tool of another server")
            elif tool.execution is not None and tool.execution.task_support == "required":
                self._complain(f"{name} runs only as a task, which is not supported")
            elif schema["type"] != "object":
                self._complain(f"The arguments of {name} are no object, so that nobody can use it")
            else:
                offered[name] = self._offer(name, tool, schema, ctx)
        return offered

    def _offer(
        self, name: str, tool: "Tool", schema: dict[str, Any], ctx: RunContext[Any]
    ) -> ToolsetTool[Any]:
        definition = ToolDefinition(
            name=name,
            description=cut(storable(tool.description or ""), DESCRIPTION_LIMIT) or None,
            parameters_json_schema=schema,
            metadata={_ORIGIN: tool.name, READS_ONLY: _reads_only(tool)},
        )
        return ToolsetTool(
            toolset=self,
            tool_def=definition,
            max_retries=ctx.max_retries,
            args_validator=_ANY_OBJECT,
        )

    def _complain(self, line: str) -> None:
        """Tell the log of a tool that cannot be offered, once."""
        if line not in self._told:
            self._told.add(line)
            log.warning("%s", line)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> str:
        """Run a tool. Whatever goes wrong is told to the model, and ends nothing."""
        origin = (tool.tool_def.metadata or {})[_ORIGIN]
        try:
            result = await self._link.call(origin, tool_args)
        except ServerUnavailable as error:
            raise ToolFailed(str(error)) from None
        text = render_result(result, self._limit)
        if result.is_error:
            raise ToolFailed(text)
        return text
