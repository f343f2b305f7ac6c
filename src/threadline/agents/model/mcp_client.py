"""MCP client: the connection to one MCP server, opened when needed and again after it broke."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from threadline.agents.model.mcp_stderr import Stderr
from threadline.agents.model.mcp_transports import make_client
from threadline.agents.settings import McpServer
from threadline.core.errors import SENTENCE_LIMIT, AgentError
from threadline.core.gateway_status import ServerHealth, ServerState

if TYPE_CHECKING:
    from fastmcp.client import Client
    from mcp.types import CallToolResult, Tool

log = logging.getLogger("threadline.agents.mcp")

START = timedelta(seconds=30)
"""How long a server may take until it answers for the first time."""
REST = timedelta(seconds=30)
"""How long a server is left alone that could not be reached."""
TOOLS_HOLD = timedelta(minutes=1)
"""How long a list of tools is believed: not every server says when it changes."""
_SIGN_OF_LIFE = 5.0
"""Seconds in which a server that hung has to show that it still listens."""
_SAID_LIMIT = 500

T = TypeVar("T")


class ServerUnavailable(AgentError):
    """The MCP server did not answer."""


class _SessionLost(ServerUnavailable):
    """The MCP server does not know our session any more, and executed nothing."""


class McpClient:
    """Speaks with one server on behalf of every session, and survives its end."""

    def __init__(
        self, server: McpServer, *, start: timedelta = START, rest: timedelta = REST
    ) -> None:
        """Open nothing yet."""
        self.health = ServerHealth(state=ServerState.IDLE, since=datetime.now(UTC))
        self._server = server
        self._start = start.total_seconds()
        self._rest = rest.total_seconds()
        self._opening = asyncio.Lock()
        self._client: Client[Any] | None = None
        self._stderr: Stderr | None = None
        self._tools: Sequence[Tool] = ()
        self._tools_until = 0.0
        self._closing: set[asyncio.Task[None]] = set()
        self._calls = 0
        self._rest_until = 0.0
        self._missed = ""
        """Why it could not be reached when that was last tried."""
        self._doubted: Client[Any] | None = None
        """A connection on which something was not answered in time."""

    @property
    def ended(self) -> bool:
        """Whether the server ended by itself since it was last needed."""
        return self._stderr is not None and self._stderr.ended

    async def tools(self) -> "Sequence[Tool]":
        """Answer which tools the server has; raise `ServerUnavailable` if it cannot be asked."""
        await self._open()
        loop = asyncio.get_running_loop()
        if loop.time() >= self._tools_until:
            try:
                self._tools = await self._ask(
                    "was asked for its tools",
                    lambda client: client.list_tools(cache_mode="refresh"),
                )
            except ServerUnavailable as error:
                if self._client is not None:
                    self._miss_tools(error)
                raise
            self._tools_until = loop.time() + TOOLS_HOLD.total_seconds()
            self._note(ServerState.UP, tools=len(self._tools))
        return self._tools

    async def call(self, tool: str, arguments: dict[str, Any]) -> "CallToolResult":
        """Run a tool on the server; raise `ServerUnavailable` if there is no result."""
        return await self._ask(f"ran {tool}", lambda client: client.call_tool_mcp(tool, arguments))

    async def _ask(self, doing: str, ask: "Callable[[Client[Any]], Awaitable[T]]") -> T:
        """Send a request, and once more in a new session if the server did not know the old one.

        Such a request was certainly not executed.
        """
        try:
            return await self._ask_once(doing, ask)
        except _SessionLost:
            return await self._ask_once(doing, ask)

    async def _ask_once(self, doing: str, ask: "Callable[[Client[Any]], Awaitable[T]]") -> T:
        client = await self._open()
        self._calls += 1
        try:
            return await self._hear(client, doing, ask(client))
        finally:
            self._calls -= 1

    async def close(self) -> None:
        """End the server, or the connection to it."""
        async with self._opening:
            self._drop(self._client)
        while self._closing:
            await asyncio.wait(self._closing)

    async def _open(self) -> "Client[Any]":
        async with self._opening:
            await self._look_after_doubted()
            await self._look_after_stream()
            if self.ended:
                log.warning("The MCP server %s ended by itself", self._server.name)
                self._drop(self._client)
                self._note(ServerState.DOWN, "It ended by itself")
            return self._client or await self._connect()

    async def _connect(self) -> "Client[Any]":
        loop = asyncio.get_running_loop()
        if loop.time() < self._rest_until:
            raise self._unreachable()
        stderr = Stderr(self._server)
        client = make_client(self._server, await stderr.open(), self.forget_tools)
        try:
            async with asyncio.timeout(self._start):
                await client.__aenter__()  # type: ignore[no-untyped-call]
        except BaseException as error:
            if not isinstance(error, Exception):
                self._close_later(client, stderr)
                raise
            self._rest_until = loop.time() + self._rest
            stderr.hand_over()
            if not isinstance(error, TimeoutError):
                await stderr.wait_for_end()
            self._close_later(client, stderr)
            raise self._miss(error, stderr.last_words) from None
        finally:
            stderr.hand_over()
        if self.health.state is ServerState.DOWN:
            log.info("The MCP server %s is back", self._server.name)
        self._client, self._stderr, self._missed = client, stderr, ""
        self._note(ServerState.UP)
        self.forget_tools()
        return client

    async def _look_after_doubted(self) -> None:
        """Begin a server anew that hangs, unless somebody still waits for it."""
        doubted, self._doubted = self._doubted, None
        if doubted is None or doubted is not self._client or self._calls:
            return
        try:
            async with asyncio.timeout(min(_SIGN_OF_LIFE, self._server.timeout_seconds)):
                await doubted.list_tools(cache_mode="refresh")
        except Exception as error:  # noqa: BLE001 - whatever it is, the server is begun anew
            log.warning("The MCP server %s hangs: %s", self._server.name, _why(error))
            self._drop(doubted)

    async def _look_after_stream(self) -> None:
        """Drop a connection over SSE that has ended, before a call is lost on it.

        It ends with the server. Only a request shows that.
        """
        client = self._client
        if client is None or not self._server.speaks_sse or self._calls:
            return
        try:
            async with asyncio.timeout(min(_SIGN_OF_LIFE, self._server.timeout_seconds)):
                await client.ping()
        except Exception as error:  # noqa: BLE001 - whatever it is, a new connection is better
            name = self._server.name
            log.warning("The connection to the MCP server %s ended: %s", name, _why(error))
            self._drop(client)
            self._note(ServerState.DOWN, "The connection ended")

    async def _hear(self, client: "Client[Any]", doing: str, answer: Awaitable[T]) -> T:
        """Wait for an answer of the server, for as long as it may take."""
        name, seconds = self._server.name, self._server.timeout_seconds
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            self._doubted = client
            said = f"The MCP server {name} did not answer within {seconds:g} s when it {doing}"
            raise ServerUnavailable(said) from None
        except Exception as error:  # noqa: BLE001 - a program of others may fail in any way
            if _is_session_lost(error):
                self._drop(client)
                log.warning("The MCP server %s does not know our session any more", name)
                self._note(ServerState.DOWN, "It did not know our session any more")
                raise _SessionLost(f"The MCP server {name} keeps no session") from None
            refusal = _refusal(error)
            if refusal is not None:
                raise ServerUnavailable(f"The MCP server {name} refused: {refusal}") from None
            self._drop(client)
            log.warning("The MCP server %s broke off when it %s: %s", name, doing, _why(error))
            self._note(ServerState.DOWN, f"It broke off when it {doing}")
            raise ServerUnavailable(
                f"The MCP server {name} broke off when it {doing}",
                hint="Nobody knows how far it came. It is begun anew when it is next needed",
            ) from None

    def _miss(self, error: Exception, said: str) -> ServerUnavailable:
        """Log that a server is missing: as a warning at first, and for debugging while it is.

        `said` is the end of its standard error.
        """
        why = _why(error)
        level = logging.DEBUG if self._missed.startswith(why) else logging.WARNING
        self._missed = f"{why}. It wrote: {said}" if said else why
        told = "The MCP server %s cannot be reached, so its tools are missing: %s"
        log.log(level, told, self._server.name, self._missed)
        self._note(ServerState.DOWN, self._missed)
        return self._unreachable()

    def _miss_tools(self, error: ServerUnavailable) -> None:
        """Log that a server which is connected does not list its tools: once per reason."""
        if self.health.state is ServerState.UP or self.health.error != error.message:
            log.warning("%s, so its tools are missing", error.message)
        self._note(ServerState.DOWN, error.message)

    def _note(
        self, state: ServerState, error: str | None = None, *, tools: int | None = None
    ) -> None:
        """Update the health; the last error stays in it when the server is up again."""
        was, now = self.health, datetime.now(UTC)
        known = 0 if state is ServerState.DOWN else was.tools
        self.health = ServerHealth(
            state=state,
            since=was.since if state is was.state else now,
            tools=known if tools is None else tools,
            error=was.error if error is None else error[:SENTENCE_LIMIT],
            error_at=was.error_at if error is None else now,
        )

    def _unreachable(self) -> ServerUnavailable:
        return ServerUnavailable(
            f"The MCP server {self._server.name} cannot be reached: {self._missed}"
        )

    def forget_tools(self) -> None:
        """Ask for the tools again when they are next needed."""
        self._tools_until = 0.0

    def _drop(self, client: "Client[Any] | None") -> None:
        """Let a connection go that is of no use any more, unless another took its place."""
        if client is not None and client is self._client:
            self._close_later(client, self._stderr)
            self._client = self._stderr = None

    def _close_later(self, client: "Client[Any]", stderr: Stderr | None) -> None:
        """Close in a task of its own: whoever found it broken may be cancelled any moment."""
        closing = asyncio.create_task(_close(client, stderr))
        self._closing.add(closing)
        closing.add_done_callback(self._closing.discard)


async def _close(client: "Client[Any]", stderr: Stderr | None) -> None:
    try:
        await client.close()  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - what is broken may break once more at its end
        log.debug("A connection to an MCP server did not end well: %s", _why(error))
    finally:
        if stderr is not None:
            stderr.close()


def _is_session_lost(error: Exception) -> bool:
    from mcp.shared.exceptions import MCPError

    from threadline.agents.model.mcp_transports import SESSION_LOST

    return isinstance(error, MCPError) and error.code == SESSION_LOST


def _refusal(error: Exception) -> str | None:
    """Answer what a server said when it understood, and would not; None: it is gone."""
    from mcp.shared.exceptions import MCPError
    from mcp.types import CONNECTION_CLOSED

    if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
        return error.message[:_SAID_LIMIT]
    return None


def _why(error: BaseException) -> str:
    """Say what went wrong without the words of the error: an address in them may be a secret."""
    from mcp.shared.exceptions import MCPError
    from mcp.types import CONNECTION_CLOSED

    while isinstance(error, BaseExceptionGroup | RuntimeError):
        inner = error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__
        if inner is None:
            break
        error = inner
    match error:
        case FileNotFoundError():
            return "there is no such program or folder"
        case PermissionError():
            return "the program may not be run"
        case TimeoutError():
            return "it did not answer in time"
        case MCPError(code=code) if code == CONNECTION_CLOSED:
            return "it ended, or closed the connection"
        case _:
            return type(error).__name__
