"""Tool results: what a tool of an MCP server answered, as text that a transcript can keep."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.types import BlobResourceContents, CallToolResult, ContentBlock, TextResourceContents

RESULT_LIMIT = 100_000
"""Characters of a result that a model is given to read."""
_NOTHING = "(The tool answered nothing.)"


def render_result(result: "CallToolResult", limit: int = RESULT_LIMIT) -> str:
    """Write down what a tool answered; what is no text is named, and what is too long is cut."""
    text = "\n".join(filter(None, map(_render, result.content)))
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return cut(storable(text), limit) or _NOTHING


def cut(text: str, limit: int) -> str:
    """Keep the beginning of a text, with a line that says how much is missing."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[… cut off here: {len(text) - limit:,} more characters]"


def storable(text: str) -> str:
    """Make a text from outside fit to be stored: no NUL, no half characters."""
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _render(block: "ContentBlock") -> str:
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return f"[{block.mime_type} {block.type}, {_weight(block.data)}: not shown here]"
        case "resource":
            return "".join(_read(block.resource))
        case "resource_link":
            return f"[{block.name}: {block.uri}]"


def _read(resource: "TextResourceContents | BlobResourceContents") -> Iterator[str]:
    text = getattr(resource, "text", None)
    if isinstance(text, str):
        yield text
        return
    blob = getattr(resource, "blob", "")
    kind = resource.mime_type or "file"
    yield f"[{kind} {resource.uri}, {_weight(blob)}: not shown here]"


def _weight(base64: str) -> str:
    return f"{len(base64) * 3 // 4:,} bytes"
