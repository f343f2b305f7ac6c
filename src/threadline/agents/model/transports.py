"""Transports: how an MCP server is run or reached, and what it gets to know of us."""

import logging
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from threadline.agents.settings import McpServer

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
    kind = SSETransport if server.speaks_sse else StreamableHttpTransport
    return kind(server.url, headers=dict(server.headers))


def _quieten(*names: str) -> None:
    """Let these packages be silent: one writes to the terminal, the other whatever it received.

    What matters of it is told by the link.
    """
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        logger.setLevel(logging.CRITICAL)
