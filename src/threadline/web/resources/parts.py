"""Parts of messages, as answers show them."""

from typing import Annotated, Literal, TypeAlias

import msgspec
from pydantic import BeforeValidator, Field

from threadline.core.message import MarkerKind, MediaKind, NoteKind
from threadline.web.bodies import ResponseBody


class TextPart(ResponseBody):
    """Words."""

    type: Literal["text"] = "text"
    text: str


class AttachmentPart(ResponseBody):
    """An image, a file or a sound; its bytes are found below `/attachments`."""

    type: Literal["attachment"] = "attachment"
    kind: MediaKind
    blob: str = Field(description="The hash of its content.")
    media_type: str
    size: int
    name: str | None = None


class ToolCallPart(ResponseBody):
    """The agent asks for a tool."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: str = Field(description="JSON, as the model wrote it.")


class ToolResultPart(ResponseBody):
    """What a tool answered."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str
    text: str
    is_error: bool = False


class ReasoningPart(ResponseBody):
    """The model's thoughts."""

    type: Literal["reasoning"] = "reasoning"
    text: str = ""


class MarkerPart(ResponseBody):
    """A trace of something that went wrong, and why."""

    type: Literal["marker"] = "marker"
    kind: MarkerKind
    text: str


class NotePart(ResponseBody):
    """A note for the agent that quotes messages, or says what happened to one."""

    type: Literal["note"] = "note"
    kind: NoteKind
    text: str


def _plain(part: object) -> object:
    return msgspec.to_builtins(part) if isinstance(part, msgspec.Struct) else part


PartView: TypeAlias = Annotated[
    TextPart
    | AttachmentPart
    | ToolCallPart
    | ToolResultPart
    | ReasoningPart
    | MarkerPart
    | NotePart,
    Field(discriminator="type"),
    BeforeValidator(_plain),
]
"""A part. What a provider said verbatim is for its replay, and is not told."""
