"""Parts of messages, as answers show them and as requests bring them."""

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from threadline.core.message import (
    Attachment,
    Marker,
    MarkerKind,
    MediaKind,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.core.text import TEXT_LIMIT
from threadline.web.api.shapes.model import Answer, Wish
from threadline.web.tickets import TICKET_LIMIT

Ticket = Annotated[str, Field(min_length=1, max_length=TICKET_LIMIT)]

ATTACHED_MOST = 20
"""How much may be attached to one message."""


class TextPart(Answer):
    """Words."""

    type: Literal["text"] = "text"
    text: str


class AttachmentPart(Answer):
    """An image, a file or a sound; its bytes are found below `/attachments`."""

    type: Literal["attachment"] = "attachment"
    kind: MediaKind
    blob: str = Field(description="The hash of its content.")
    media_type: str
    size: int
    name: str | None = None


class ToolCallPart(Answer):
    """The agent asks for a tool."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: str = Field(description="JSON, as the model wrote it.")


class ToolResultPart(Answer):
    """What a tool answered."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str
    text: str
    is_error: bool


class ReasoningPart(Answer):
    """The model's thoughts."""

    type: Literal["reasoning"] = "reasoning"
    text: str


class MarkerPart(Answer):
    """A trace of something that went wrong, and why."""

    type: Literal["marker"] = "marker"
    kind: MarkerKind
    text: str


PartView: TypeAlias = Annotated[
    TextPart | AttachmentPart | ToolCallPart | ToolResultPart | ReasoningPart | MarkerPart,
    Field(discriminator="type"),
]


def view_parts(parts: Sequence[Part]) -> list[PartView]:
    """Show parts. What a provider said verbatim is for its replay, and is not shown."""
    return [_view(part) for part in parts]


def _view(part: Part) -> PartView:
    match part:
        case Text():
            return TextPart(text=part.text)
        case Attachment():
            return AttachmentPart(
                kind=part.kind,
                blob=part.blob,
                media_type=part.media_type,
                size=part.size,
                name=part.name,
            )
        case ToolCall():
            return ToolCallPart(id=part.id, name=part.name, arguments=part.arguments)
        case ToolResult():
            return ToolResultPart(call_id=part.call_id, text=part.text, is_error=part.is_error)
        case Reasoning():
            return ReasoningPart(text=part.text)
        case Marker():
            return MarkerPart(kind=part.kind, text=part.text)


class Words(Wish):
    """What somebody says, and what they attach."""

    text: str = Field(default="", max_length=TEXT_LIMIT, examples=["What is on today?"])
    attachments: list[Ticket] = Field(
        default=[], max_length=ATTACHED_MOST, description="The tickets of what was uploaded."
    )
