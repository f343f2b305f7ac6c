"""Answers of real MCP servers, recorded as they ran, played again (descriptions are left out)."""

import json
import sys
from pathlib import Path

import pytest

from tests.agents.model.test_mcp_tools import context
from threadline.agents.model.mcp_tools import open_servers
from threadline.agents.settings import McpServer

HERE = Path(__file__).parent
RESULTS = {
    "everything": "Echo: hi",
    "filesystem": "hello file",
    "memory": '"entities": []',
    "time": '"timezone": "UTC"',
    "fetch": "not a public address",
    "git": "Repository status:",
    "fastmcp": "5",
}
TASKS = {"everything": {"simulate-research-query"}}
"""Tools that run only as tasks."""


@pytest.mark.parametrize("name", RESULTS)
async def test_the_tools_of_a_recorded_server_are_offered_and_run(name: str) -> None:
    """Every tool is offered but those that run only as tasks, and the result is readable."""
    path = HERE / "recordings" / f"{name}.json"
    recording = json.loads(path.read_text())
    tool, arguments = recording["call"]
    listed = {one["name"] for one in recording["answers"]["tools/list"]["result"]["tools"]}
    command = (sys.executable, str(HERE / "mcp_player.py"), str(path))
    async with open_servers([McpServer(name="s", command=command)]) as (toolset,):
        tools = await toolset.get_tools(context())
        try:
            told = await toolset.call_tool(f"s_{tool}", arguments, context(), tools[f"s_{tool}"])
        except Exception as error:  # noqa: BLE001 - a tool that fails says why
            told = str(error)

    assert tools.keys() == {f"s_{one}" for one in listed - TASKS.get(name, set())}
    assert RESULTS[name] in told
