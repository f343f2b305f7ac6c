import asyncio
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.types import Tool, ToolExecution
from msgspec.structs import replace
from pydantic_ai import Agent
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import AbstractToolset
from pydantic_ai.usage import RunUsage
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.agents.model import mcp_server
from threadline.agents.model.mcp_client import McpClient, ServerUnavailable
from threadline.agents.model.mcp_tools import NAME_LIMIT, ServerTools, open_servers, tool_name
from threadline.agents.model.tool_results import render_result
from threadline.agents.settings import McpServer
from threadline.core.gateway_status import ServerState
from threadline.testing.deadline import HANG_SECONDS
from threadline.testing.loopback import listen

PROGRAM = Path(mcp_server.__file__)
NO_REST = timedelta(0)
HOLDER = """
import asyncio, sys
from threadline.agents.model.mcp_client import McpClient
from threadline.agents.settings import McpServer

async def hold():
    await McpClient(McpServer(name="held", command=(sys.executable, *sys.argv[1:]))).tools()
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
    link = McpClient(server)
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
        (McpServer(name="a", command=("true",)), "it ended"),
        (McpServer(name="a", command=("cat", "/dev/null")), "it ended"),
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
            server = McpServer(name="crooked", url=url, timeout_seconds=HANG_SECONDS)
            toolset = await stack.enter_async_context(opened(server))
            first = await call(toolset, "add", a=2, b=3)
            tools = await toolset.get_tools(context())
        with pytest.raises(ToolFailed, match="MCP server crooked"):
            await toolset.call_tool("crooked_pid", {}, context(), tools["crooked_pid"])
        gone = await toolset.get_tools(context())
        async with _served(port):
            again = await call(toolset, "add", a=3, b=4)

    assert (first, gone, again) == ("5", {}, "7")


class Forgetful:
    """An MCP server over streamable HTTP that can lose its sessions."""

    def __init__(self, status: int, error: Mapping[str, object] | None) -> None:
        self.sessions: list[str] = []
        self.calls = 0
        self.keeps = True
        self._status, self._error = status, error
        self.app = Starlette(routes=[Route("/mcp", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        return self._answer(await request.json(), request.headers.get("mcp-session-id"))

    def _answer(self, asked: dict[str, Any], session: str | None) -> Response:
        if session is None:
            self.sessions.append(f"session-{len(self.sessions) + 1}")
            told = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "forgetful", "version": "1"},
            }
            return self._result(asked, told, {"mcp-session-id": self.sessions[-1]})
        if not self.keeps or session != self.sessions[-1]:
            return JSONResponse(self._error, self._status)
        if asked["method"] == "tools/list":
            return self._result(
                asked, {"tools": [{"name": "count", "inputSchema": {"type": "object"}}]}
            )
        if asked["method"] != "tools/call":
            return Response(status_code=202)
        self.calls += 1
        return self._result(asked, {"content": [{"type": "text", "text": str(self.calls)}]})

    def _result(
        self, asked: dict[str, Any], result: object, headers: dict[str, str] | None = None
    ) -> Response:
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result}, 200, headers)


def said(code: int, message: str) -> dict[str, object]:
    """Write the body of a refusal."""
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, said(-32600, "Session not found")),
        (404, said(-32001, "Session not found")),
        (404, None),
        (400, said(-32000, "Bad Request: No valid session ID provided")),
    ],
)
async def test_a_lost_session_is_replaced_and_the_call_repeated(
    status: int, error: dict[str, object] | None, caplog: pytest.LogCaptureFixture
) -> None:
    """After a server restarts, the next call runs once in a new session, and the log says why."""
    app = Forgetful(status, error)
    async with listen(app.app) as url:
        link = McpClient(McpServer(name="forgetful", url=f"{url}/mcp"))
        try:
            await link.tools()
            app.sessions.append("after the restart")
            called = await link.call("count", {})
            health = link.health
            app.sessions.append("after another restart")
            link.forget_tools()
            tools = await link.tools()
        finally:
            await link.close()

    assert render_result(called, 100) == "1"
    assert app.calls == 1
    assert [tool.name for tool in tools] == ["count"]
    assert (health.state, health.error) == (ServerState.UP, "It did not know our session any more")
    assert "forgetful does not know our session any more" in caplog.text


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (404, said(-32601, "Method not found")),
        (400, said(-32602, "Invalid params")),
        (401, said(-32003, "Your session is over")),
        (500, said(-32603, "Internal error")),
    ],
)
async def test_other_refusals_are_not_repeated_and_not_silent(
    status: int, error: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    """What may have been executed is not called again; tools that are missing are reported."""
    app = Forgetful(status, error)
    async with listen(app.app) as url:
        server = McpServer(name="forgetful", url=f"{url}/mcp")
        link = McpClient(server)
        try:
            tools = ServerTools(server, link)
            await tools.get_tools(context())
            app.sessions.append("another")
            with pytest.raises(ServerUnavailable, match="refused"):
                await link.call("count", {})
            link.forget_tools()
            offered = [await tools.get_tools(context()) for _ in range(2)]
        finally:
            await link.close()

    assert offered == [{}, {}]
    assert app.sessions[-1] == "another"
    assert tools.health.state is ServerState.DOWN
    assert caplog.text.count("so its tools are missing") == 1


async def test_a_server_that_keeps_no_session_is_given_up_after_two_calls() -> None:
    """A server that forgets every session at once costs one more call, and no endless loop."""
    app = Forgetful(404, None)
    async with listen(app.app) as url:
        link = McpClient(McpServer(name="forgetful", url=f"{url}/mcp"))
        try:
            await link.tools()
            app.keeps = False
            with pytest.raises(ServerUnavailable, match="keeps no session"):
                await link.call("count", {})
        finally:
            await link.close()

    assert app.calls == 0


async def test_a_restarted_server_over_sse_costs_no_call() -> None:
    """A connection that ended with the server is replaced before the next call is sent on it."""
    with _reserved() as port:
        server = McpServer(name="crooked", url=f"http://127.0.0.1:{port}/sse", timeout_seconds=30)
        link = McpClient(server, rest=NO_REST)
        try:
            toolset = ServerTools(server, link)
            async with _run_over_sse(port):
                first = await call(toolset, "add", a=2, b=3)
            async with _run_over_sse(port):
                again = await link.call("add", {"a": 3, "b": 4})
        finally:
            await link.close()

    assert (first, render_result(again, 100)) == ("5", "7")


async def test_the_end_of_the_standard_error_explains_a_failed_start(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A program that ends at its start is reported with its last words, bounded and redacted."""
    words = "x" * 2_000 + " key tok-12345678 or AKIAIOSFODNN7EXAMPLE is wrong: no such port"
    environment = {"TOKEN": "tok-12345678"}
    link = McpClient(McpServer(name="a", command=_failing(words), environment=environment))
    try:
        with pytest.raises(ServerUnavailable) as broken:
            await link.tools()
    finally:
        await link.close()

    for text in (str(broken.value), caplog.text, link.health.error or ""):
        assert "is wrong: no such port" in text
        assert "tok-12345678" not in text
        assert "AKIA" not in text
    assert len(str(broken.value)) < 500
    assert link.health.state is ServerState.DOWN


def _failing(words: str) -> tuple[str, ...]:
    """Return a command that writes words to standard error and ends."""
    code = f"import sys; sys.exit({words!r})"
    return (sys.executable, "-c", code)


async def test_a_tool_that_cannot_be_offered_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A second tool of a name, arguments that are no object, and tasks cost those tools alone."""
    tools = [
        Tool(name="a.b", input_schema={}),
        Tool(name="a/b", input_schema={"type": "object"}),
        Tool(name="c", input_schema={"type": "string"}),
        Tool(name="d", input_schema={"type": "object"}, description="x\0" * 5_000),
        Tool(name="e", input_schema={}, execution=ToolExecution(task_support="required")),
        Tool(name="f", input_schema={}, execution=ToolExecution(task_support="optional")),
    ]
    toolset = ServerTools(McpServer(name="s"), _Listed(McpServer(name="s"), tools))

    found, again = [await toolset.get_tools(context()) for _ in range(2)]

    assert found.keys() == again.keys() == {"s_a_b", "s_d", "s_f"}
    assert found["s_a_b"].tool_def.parameters_json_schema == {"type": "object"}
    assert len(found["s_d"].tool_def.description or "") < 4_100
    assert len(caplog.messages) == 3


async def test_a_server_has_no_tool_that_is_named_like_one_of_another_server() -> None:
    """What was allowed for another server is not done by this one, even while that one is down."""
    tools = [Tool(name=name, input_schema={}) for name in ("hub_push", "log")]
    servers = [McpServer(name="git"), McpServer(name="git_hub", command=_failing("gone"))]
    async with open_servers(servers) as (_, missing):
        link = _Listed(servers[0], tools)
        toolset = ServerTools(servers[0], link, others=["git_hub", "log"])

        assert await missing.get_tools(context()) == {}
        assert (await toolset.get_tools(context())).keys() == {"git_log"}


class _Listed(McpClient):
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


@asynccontextmanager
async def _run_over_sse(port: int) -> AsyncIterator[None]:
    """Run the test server over SSE as a program, and kill it in the end."""
    process = await asyncio.create_subprocess_exec(sys.executable, PROGRAM, f"--sse={port}")
    try:
        await _until(lambda: _is_open(port))
        yield
    finally:
        process.kill()
        await process.wait()


def _is_open(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


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
