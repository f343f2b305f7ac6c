import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.types import Tool
from pydantic_ai import Agent
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage

from tests.agents.model import mcp_server
from threadline.agents.model.link import Link
from threadline.agents.model.servers import NAME_LIMIT, ServerTools, open_servers, tool_name
from threadline.agents.settings import McpServer
from threadline.testing.deadline import HANG_SECONDS

PROGRAM = Path(mcp_server.__file__)
NO_REST = timedelta(0)
HOLDER = """
import asyncio, sys
from threadline.agents.model.link import Link
from threadline.agents.settings import McpServer

async def hold():
    await Link(McpServer(name="held", command=(sys.executable, *sys.argv[1:]))).tools()
    await asyncio.Event().wait()

asyncio.run(hold())
"""
"""A program that starts the server and never lets it go."""


def crooked(*arguments: str, **fields: Any) -> McpServer:
    """Describe the server of the tests, as a program."""
    return McpServer(name="crooked", command=(sys.executable, str(PROGRAM), *arguments), **fields)


def context() -> RunContext[Any]:
    return RunContext(deps=None, model=TestModel(), usage=RunUsage())


async def call(toolset: AbstractToolset[Any], tool: str, **arguments: Any) -> Any:
    """Run a tool by the name that a model knows it by."""
    tools = await toolset.get_tools(context())
    return await toolset.call_tool(
        f"crooked_{tool}", arguments, context(), tools[f"crooked_{tool}"]
    )


@asynccontextmanager
async def opened(server: McpServer) -> AsyncIterator[AbstractToolset[Any]]:
    async with open_servers([server], rest=NO_REST) as (toolset,):
        yield toolset


def is_alive(pid: int) -> bool:
    """Tell whether a process runs; one that ended may still wait for whoever started it."""
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_the_tools_of_a_server_are_offered_and_run() -> None:
    """A program is run when it is needed, and its tools bear its name; others do not matter."""
    gone = McpServer(name="gone", command=("/no/such/program",))
    async with open_servers([gone, crooked()]) as (missing, toolset):
        assert await missing.get_tools(context()) == {}
        tools = await toolset.get_tools(context())
        together = await asyncio.gather(
            call(toolset, "slow", seconds=0.05), call(toolset, "add", a=2, b=3)
        )
        spoken = await call(toolset, "echo", text="ā½ \u2028 \U0001f600")
        pictured = await call(toolset, "picture")
        long = await call(toolset, "big", size=150_000)
        with pytest.raises(ToolFailed, match="I cannot do that"):
            await call(toolset, "fail")
        with pytest.raises(ToolFailed):
            await call(toolset, "add", a="no number", b=3)
        again = await call(toolset, "add", a=1, b=1)

    assert {"crooked_echo", "crooked_add", "crooked_hang_up"} <= tools.keys()
    assert tools["crooked_echo"].tool_def.description == "Say a text back."
    assert tools["crooked_echo"].tool_def.parameters_json_schema["required"] == ["text"]
    assert list(together) == ["at last", "5"]
    assert spoken == "ā½ \u2028 \U0001f600"
    assert pictured == "see:\n[image/png image, 9 bytes: not shown here]\nthe notes"
    assert long.startswith("x" * 100_000 + "\n[… cut off here: 50,000 more characters]")
    assert again == "2"


async def test_a_server_starts_late_once_and_ends_with_us(tmp_path: Path) -> None:
    """The program runs from the first need to the end, and leaves no process behind.

    What it prints before it speaks the protocol is overheard.
    """
    begun = tmp_path / "begun"
    chatty = ("sh", "-c", 'echo Welcome; echo "{"; exec "$0" "$@"')
    server = crooked(str(begun))

    async with opened(replace(server, command=(*chatty, *server.command))) as toolset:
        assert not begun.exists()
        pids = {await call(toolset, "pid") for _ in range(2)}

    assert {int(line) for line in begun.read_text().split()} == {int(pid) for pid in pids}
    assert len(pids) == 1
    assert not is_alive(int(pids.pop()))


async def test_a_server_does_not_outlive_a_killed_gateway(tmp_path: Path) -> None:
    """Even `kill -9` leaves no program behind: its standard input ends with us."""
    begun = tmp_path / "begun"
    gateway = await asyncio.create_subprocess_exec(sys.executable, "-c", HOLDER, PROGRAM, begun)
    await _until(lambda: begun.exists() and begun.read_text().endswith("\n"))
    pid = int(begun.read_text())

    gateway.kill()
    await gateway.wait()

    await _until(lambda: not is_alive(pid))


async def test_a_server_that_ended_unseen_costs_no_call() -> None:
    """A program that was killed while nobody needed it is begun anew before it is asked."""
    server = crooked()
    link = Link(server)
    try:
        toolset = ServerTools(server, link)
        first = await call(toolset, "pid")
        os.kill(int(first), signal.SIGKILL)
        await _until(lambda: link.ended)
        second = await call(toolset, "pid")
    finally:
        await link.close()

    assert first != second


async def test_a_turn_survives_a_crash(caplog: pytest.LogCaptureFixture) -> None:
    """The call in flight fails with a sentence, and the next one finds a new process."""
    calls = [
        ToolCallPart("crooked_crash", {}),
        ToolCallPart("crooked_echo", {"text": "still here"}),
    ]

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse(parts=[calls.pop(0) if calls else TextPart("Done.")])

    async with opened(crooked()) as toolset:
        run = await Agent(FunctionModel(answer), toolsets=[toolset]).run("go")

    told = [
        part
        for message in run.all_messages()
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
    assert run.output == "Done."
    assert "broke off when it ran crash" in str(told[0].content)
    assert [part.outcome for part in told] == ["failed", "success"]
    assert told[1].content == "still here"
    assert "crooked broke off when it ran crash" in caplog.text


async def test_a_server_that_hangs_is_begun_anew(caplog: pytest.LogCaptureFixture) -> None:
    """A call that takes too long is given up, and a server that listens to nobody is replaced."""
    async with opened(crooked(timeout_seconds=1.5)) as toolset:
        first = await call(toolset, "pid")
        with pytest.raises(ToolFailed, match=r"did not answer within 1\.5 s when it ran slow"):
            await call(toolset, "slow", seconds=60)
        same = await call(toolset, "pid")
        with pytest.raises(ToolFailed, match="did not answer within"):
            await call(toolset, "hang_up", seconds=60)
        other = await call(toolset, "pid")

    assert first == same != other
    assert "crooked hangs" in caplog.text
    assert not is_alive(int(first))


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (McpServer(name="a", command=("/no/such/program",)), "no such program"),
        (McpServer(name="a", command=("true",), folder="/no/such/folder"), "no such program"),
        (McpServer(name="a", command=("true",)), "MCPError"),
        (McpServer(name="a", command=("cat", "/dev/null")), "MCPError"),
        (McpServer(name="a", command=("sleep", "60")), "did not answer in time"),
        (McpServer(name="a", url="http://127.0.0.1:9/mcp?key=s3cret"), "ConnectError"),
    ],
)
async def test_a_missing_server_costs_its_tools_and_one_line(
    server: McpServer, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What cannot be reached is not offered, is said once, and is not tried all the time."""
    async with open_servers([server], start=timedelta(seconds=1.5)) as (toolset,):
        with caplog.at_level(logging.INFO, "threadline"):
            found = [await toolset.get_tools(context()) for _ in range(3)]

    lines = [line for line in caplog.messages if "cannot be reached" in line]
    assert found == [{}, {}, {}]
    assert len(lines) == 1
    assert why in lines[0]
    assert "s3cret" not in caplog.text


async def test_a_server_learns_nothing_of_our_secrets(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A program gets its own variables and a few of ours, and what it prints of them is hidden."""
    monkeypatch.setenv("THREADLINE_SECRET", "one")
    monkeypatch.setenv("OPENAI_API_KEY", "two")
    server = crooked("--token=abcdefgh12345678", environment={"NOTES_TOKEN": "tok-12345678"})

    async with opened(server) as toolset:
        names = json.loads(f"[{_quoted(await call(toolset, 'environment'))}]")
        with caplog.at_level(logging.INFO, "threadline.agents.mcp"):
            words = "cannot use tok-12345678 or abcdefgh12345678 \x1b[31m"
            await call(toolset, "complain", text=words)
            await _until(lambda: "cannot use" in caplog.text)

    assert "NOTES_TOKEN" in names
    assert "PATH" in names
    assert not [name for name in names if name.startswith("THREADLINE") or "OPENAI" in name]
    assert "crooked says: cannot use … or … [31m" in caplog.text


async def test_a_server_is_reached_over_http() -> None:
    """An address works as a program does; when it is gone and back, so are its tools."""
    async with AsyncExitStack() as stack:
        port = stack.enter_context(_reserved())
        async with _served(port):
            url = f"http://127.0.0.1:{port}/mcp"
            server = McpServer(name="crooked", url=url, timeout_seconds=5)
            toolset = await stack.enter_async_context(opened(server))
            first = await call(toolset, "add", a=2, b=3)
            tools = await toolset.get_tools(context())
        with pytest.raises(ToolFailed, match="MCP server crooked"):
            await toolset.call_tool("crooked_pid", {}, context(), tools["crooked_pid"])
        gone = await toolset.get_tools(context())
        async with _served(port):
            again = await call(toolset, "add", a=3, b=4)

    assert (first, gone, again) == ("5", {}, "7")


async def test_a_tool_that_cannot_be_offered_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Two tools of one name, and arguments that no provider takes, cost those tools alone."""
    tools = [
        Tool(name="a.b", input_schema={}),
        Tool(name="a/b", input_schema={"type": "object"}),
        Tool(name="c", input_schema={"type": "string"}),
        Tool(name="d", input_schema={"type": "object"}, description="x\0" * 5_000),
    ]
    toolset = ServerTools(McpServer(name="s"), _Listed(McpServer(name="s"), tools))

    found, again = [await toolset.get_tools(context()) for _ in range(2)]

    assert found.keys() == again.keys() == {"s_a_b", "s_d"}
    assert found["s_a_b"].tool_def.parameters_json_schema == {"type": "object"}
    assert len(found["s_d"].tool_def.description or "") < 4_100
    assert len(caplog.messages) == 2


class _Listed(Link):
    """A link to a server that only has these tools."""

    def __init__(self, server: McpServer, tools: Sequence[Tool]) -> None:
        super().__init__(server)
        self._listed = tools

    async def tools(self) -> Sequence[Tool]:
        return self._listed


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("echo", "notes_echo"),
        ("admin.tools/list", "notes_admin_tools_list"),
        ("ünder", "notes__nder"),
    ],
)
def test_names_are_such_as_every_provider_takes(tool: str, name: str) -> None:
    """Signs that a provider would refuse are replaced."""
    assert tool_name("notes", tool) == name


def test_long_names_are_shortened_and_stay_apart() -> None:
    """Two long names that begin alike do not become one."""
    one, other = tool_name("notes", "x" * 100 + "1"), tool_name("notes", "x" * 100 + "2")

    assert len(one) == len(other) == NAME_LIMIT
    assert one != other


def _quoted(text: str) -> str:
    return ",".join(json.dumps(line) for line in text.split("\n"))


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(HANG_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


@contextmanager
def _reserved() -> Iterator[int]:
    """Keep a port, so that nobody else gets it while no server listens there."""
    with socket.socket() as keeping:
        keeping.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeping.bind(("127.0.0.1", 0))
        yield keeping.getsockname()[1]


@asynccontextmanager
async def _served(port: int) -> AsyncIterator[None]:
    """Serve the tools of the test server over HTTP."""
    app = mcp_server.server.streamable_http_app()
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_config=None, lifespan="on")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serving = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        await serving
