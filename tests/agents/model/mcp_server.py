"""An MCP server for the tests: tools that work, and tools that misbehave."""

import asyncio
import base64
import os
import sys
import time
from pathlib import Path

from mcp.server.mcpserver import Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import EmbeddedResource, TextResourceContents

server = MCPServer("crooked")


@server.tool()
def echo(text: str) -> str:
    """Say a text back."""
    return text


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Raise."""
    raise ToolError("I cannot do that")


@server.tool()
def crash() -> str:
    """End the process in the middle of a call."""
    os._exit(3)


@server.tool()
async def slow(seconds: float) -> str:
    """Take a while, and leave others alone meanwhile."""
    await asyncio.sleep(seconds)
    return "at last"


@server.tool(name="hang.up")
async def hang(seconds: float) -> str:
    """Stop listening to anybody."""
    time.sleep(seconds)
    return "at last"


@server.tool()
def big(size: int) -> str:
    """Answer with many characters."""
    return "x" * size


@server.tool(structured_output=False)
def picture() -> list[object]:
    """Answer with words, an image and a document."""
    document = TextResourceContents(uri="memo://notes", text="the notes")
    image = Image(data=base64.b64decode("iVBORw0KGgo="), format="png")
    return ["see:", image, EmbeddedResource(type="resource", resource=document)]


@server.tool()
def environment() -> list[str]:
    """Name the variables that the server was given."""
    return sorted(os.environ)


@server.tool()
def complain(text: str) -> str:
    """Write to standard error."""
    print(text, file=sys.stderr, flush=True)
    return "done"


@server.tool()
def pid() -> int:
    """Tell the id of the process."""
    return os.getpid()


if __name__ == "__main__":
    for path in sys.argv[1:]:
        if not path.startswith("--"):
            with Path(path).open("a") as file:
                file.write(f"{os.getpid()}\n")
    ports = [int(one.removeprefix("--sse=")) for one in sys.argv if one.startswith("--sse=")]
    if ports:
        server.run("sse", host="127.0.0.1", port=ports[0])
    else:
        server.run()
