"""MCP transports: it reports a session that a server no longer knows.

The SDK passes on the JSON-RPC error of a response and drops its HTTP status. Only the status says
for certain that the request was refused because of its session, and so was not executed.
"""

import json
import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

import httpx2
from mcp.shared._httpx_utils import MCP_DEFAULT_SSE_READ_TIMEOUT, MCP_DEFAULT_TIMEOUT
from mcp.types import METHOD_NOT_FOUND

from threadline.agents.settings import McpServer

SESSION_LOST = -32_077
"""Our own error code. No server sends it: those of the protocol and of servers are others."""
_SESSION = "mcp-session-id"
_BODY_LIMIT = 100_000
_TIMEOUT = httpx2.Timeout(MCP_DEFAULT_TIMEOUT, read=MCP_DEFAULT_SSE_READ_TIMEOUT)


class HttpClient(httpx2.AsyncClient):
    """Replaces a response that means "unknown session" by an error with a code of its own."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request."""
        response = await super().send(request, **options)
        if request.method != "POST" or _SESSION not in request.headers:
            return response
        if response.status_code not in (400, 404, 410) or not await _is_unknown(response):
            return response
        error = {"code": SESSION_LOST, "message": "The server does not know the session"}
        body = {"jsonrpc": "2.0", "id": None, "error": error}
        return httpx2.Response(404, json=body, request=request)


def make_http_client(
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
    **_: Any,
) -> httpx2.AsyncClient:
    """Return a client with the time-outs that the SDK uses."""
    return HttpClient(headers=headers, timeout=timeout or _TIMEOUT, auth=auth)


async def _is_unknown(response: httpx2.Response) -> bool:
    """Return whether a refusal is one of the session; read its body for that.

    The protocol wants 404. Many servers send 400 with words about the session, as they do for
    arguments that do not fit, so there the words decide.
    """
    try:
        body = json.loads((await response.aread())[:_BODY_LIMIT])
        error = body["error"]
        code, message = error["code"], str(error["message"])
    except (httpx2.StreamError, ValueError, KeyError, TypeError):
        code, message = 0, ""
    if response.status_code == 400:
        return "session" in message.lower()
    return bool(code != METHOD_NOT_FOUND)


if TYPE_CHECKING:
    from fastmcp.client import Client
    from fastmcp.client.transports import ClientTransport

INHERITED = ("LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
"""What a server inherits of our environment, beside its user, home, shell and search path.

Everything else stays here: our environment holds the keys of providers and platforms.
"""


def make_client(
    server: McpServer, errors: TextIO, on_change: Callable[[], None]
) -> "Client[ClientTransport]":
    """Make the client of a server, which is not connected yet.

    Its standard error goes to `errors`; `on_change` is called when it has other tools.
    """
    from fastmcp.client import Client
    from mcp.types import Implementation, ToolListChangedNotification

    async def listen(message: Any) -> None:
        if isinstance(getattr(message, "root", message), ToolListChangedNotification):
            on_change()

    _quieten("fastmcp", "mcp.client")
    return Client(
        _make_transport(server, errors),
        message_handler=listen,
        client_info=Implementation(name="threadline", version="0"),
    )


def _make_transport(server: McpServer, errors: TextIO) -> "ClientTransport":
    from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport

    if server.url is None:
        program, *arguments = server.command
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        return StdioTransport(
            program,
            arguments,
            env={**inherited, **server.environment},
            cwd=server.folder,
            keep_alive=False,
            log_file=errors,
        )
    if server.speaks_sse:
        return SSETransport(server.url, headers=dict(server.headers))
    from threadline.agents.model.mcp_transports import make_http_client

    return StreamableHttpTransport(
        server.url, headers=dict(server.headers), httpx_client_factory=make_http_client
    )


def _quieten(*names: str) -> None:
    """Let these packages be silent: one writes to the terminal, the other whatever it received.

    What matters of it is told by the link.
    """
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.CRITICAL)
