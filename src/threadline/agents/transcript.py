"""A transcript as text: what a scribe reads of a conversation."""

from collections.abc import Iterator, Sequence

from threadline.core.message import (
    Attachment,
    Marker,
    Message,
    Note,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.core.safe_names import neutralize_speakers, neutralize_tags

TOOL_LIMIT = 1_000
"""Characters of what a tool was given, or answered: the end of it is seldom worth remembering."""

_GOES_ON = "[…] "
_SPEAKERS = {
    Role.USER: "user",
    Role.ASSISTANT: "assistant",
    Role.TOOL: "tool",
    Role.SYSTEM: "note",
}


def render_lines(lines: Sequence[Message], limit: int) -> Iterator[str]:
    """Write each line of a conversation down, in at most so many characters and who said it."""
    for line in lines:
        if line.deleted_at is not None:
            continue
        said = "\n".join(filter(None, (_render(part, limit) for part in line.parts)))
        if said:
            yield f"{_SPEAKERS[line.role]}: {neutralize_speakers(keep_beginning(said, limit))}"


def pack_lines(lines: Sequence[str], limit: int) -> Iterator[str]:
    """Gather lines to texts of at most so many tokens, as well as one can tell."""
    gathered: list[str] = []
    weight = 0
    for piece in (piece for line in lines for piece in _split(line, limit)):
        if gathered and weight + estimate_tokens(piece) > limit:
            yield "\n".join(gathered)
            gathered, weight = [], 0
        gathered.append(piece)
        weight += estimate_tokens(piece)
    if gathered:
        yield "\n".join(gathered)


def estimate_tokens(text: str) -> int:
    """Guess how many tokens a text has, rather too many than too few, in any script."""
    return len(text.encode("utf-8", "replace")) // 3 + 1


def fence_transcript(text: str) -> str:
    """Put a text between marks, of which it cannot have any itself."""
    return f"<transcript>\n{neutralize_tags(text)}\n</transcript>"


def keep_beginning(text: str, limit: int) -> str:
    """Keep the beginning of a text, and say that more was there."""
    return text if len(text) <= limit else f"{text[:limit]} […]"


def _split(line: str, limit: int) -> Iterator[str]:
    # Three bytes are counted as a token, and a character has at most four.
    step = max(limit // 2, 1)
    if estimate_tokens(line) <= limit:
        yield line
        return
    for at in range(0, len(line), step):
        # Where a line is cut, it could go on like the words of somebody else.
        yield f"{_GOES_ON if at else ''}{line[at : at + step]}"


def _render(part: Part, limit: int) -> str:
    match part:
        case Text(text=text) | Marker(text=text) | Note(text=text):
            return text
        case ToolResult(text=text):
            return keep_beginning(text, min(limit, TOOL_LIMIT))
        case ToolCall(name=name, arguments=arguments):
            return f"[uses {name}: {keep_beginning(arguments, min(limit, TOOL_LIMIT))}]"
        case Attachment(kind=kind, name=name):
            return f"[{kind}{f': {name}' if name else ''}]"
        case Reasoning():
            return ""
