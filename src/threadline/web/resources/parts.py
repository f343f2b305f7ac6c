"""Parts of messages, as responses show them."""

from collections.abc import Sequence
from typing import TypeAlias

from threadline.core.message import (
    Attachment,
    Marker,
    MarkerKind,
    MediaKind,
    Note,
    NoteKind,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.web.bodies import View


class TextPart(View, frozen=True, kw_only=True, tag_field="type", tag="text"):
    """Words."""

    text: str


class AttachmentPart(View, frozen=True, kw_only=True, tag_field="type", tag="attachment"):
    """An image, a file or a sound; its bytes are found below `/attachments`."""

    kind: MediaKind
    blob: str
    """The hash of its content."""
    media_type: str
    size: int
    name: str | None


class ToolCallPart(View, frozen=True, kw_only=True, tag_field="type", tag="tool_call"):
    """The agent asks for a tool."""

    id: str
    name: str
    arguments: str
    """JSON, as the model wrote it."""


class ToolResultPart(View, frozen=True, kw_only=True, tag_field="type", tag="tool_result"):
    """What a tool returned."""

    call_id: str
    text: str
    is_error: bool


class ReasoningPart(View, frozen=True, kw_only=True, tag_field="type", tag="reasoning"):
    """The model's thoughts."""

    text: str


class MarkerPart(View, frozen=True, kw_only=True, tag_field="type", tag="marker"):
    """A trace of something that went wrong, and why."""

    kind: MarkerKind
    text: str


class NotePart(View, frozen=True, kw_only=True, tag_field="type", tag="note"):
    """A note for the agent that quotes messages, or says what happened to one."""

    kind: NoteKind
    text: str


PartView: TypeAlias = (
    TextPart
    | AttachmentPart
    | ToolCallPart
    | ToolResultPart
    | ReasoningPart
    | MarkerPart
    | NotePart
)
"""A part. What a provider said verbatim is for its replay, and is not shown."""


def parts_view(parts: Sequence[Part]) -> tuple[PartView, ...]:
    """Return what responses show of the parts of a message."""
    return tuple(map(_part_view, parts))


def _part_view(part: Part) -> PartView:
    match part:
        case Text(text=text):
            return TextPart(text=text)
        case Reasoning(text=text):
            return ReasoningPart(text=text)
        case Marker(kind=kind, text=text):
            return MarkerPart(kind=kind, text=text)
        case Note(kind=kind, text=text):
            return NotePart(kind=kind, text=text)
        case ToolCall(id=id, name=name, arguments=arguments):
            return ToolCallPart(id=id, name=name, arguments=arguments)
        case ToolResult(call_id=id, text=text, is_error=is_error):
            return ToolResultPart(call_id=id, text=text, is_error=is_error)
        case Attachment():
            return AttachmentPart(
                kind=part.kind,
                blob=part.blob,
                media_type=part.media_type,
                size=part.size,
                name=part.name,
            )
