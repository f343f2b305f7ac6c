"""History: the lines of a transcript, as the messages that a model is sent.

The same lines become the same messages, byte for byte, in every turn and in every process: the
providers keep what they have read once, and recognise their own thoughts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    ThinkingPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
    repair_messages,
)
from pydantic_ai.models import Model

from threadline.agents.model.attachments import Content, name_attachment
from threadline.agents.model.response_parts import response_of
from threadline.core.context import Trigger, render_trigger
from threadline.core.message import (
    Attachment,
    BlobHash,
    Message,
    NewMessage,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.core.safe_names import neutralize_notes

Line: TypeAlias = Message | NewMessage

NOTES_ARE_NOTES = (
    "Text between <note> and </note> comes from the program through which you speak, not from a"
    " person. The line in brackets before a message says which message it is, and when it was"
    " sent; your answers have no such line."
)
GO_ON = "Please go on."
"""What a model is told when nobody said anything after it."""


def render_history(
    lines: Sequence[Line], model: Model, attached: Mapping[BlobHash, Content]
) -> list[ModelMessage]:
    """Write the lines of a transcript as the messages that a model is sent.

    A tool call that was cut off gets a result that says so, and a result without a call is left
    out: no provider takes them.
    """
    messages: list[ModelMessage] = []
    names: dict[str, str] = {}
    waiting: list[ModelRequestPart] = []
    for line in lines:
        if line.role is Role.ASSISTANT:
            names |= {part.id: part.name for part in line.parts if isinstance(part, ToolCall)}
            answer = response_of(line.parts)
            if answer is not None and (kept := _understood(answer, model)) is not None:
                messages += (*_request(waiting), kept)
                waiting = []
        else:
            waiting += _request_parts(line, names, attached)
    messages += _request(waiting)
    # Asked before the repair: what a call that was cut off is answered with is no question.
    if not messages or isinstance(messages[-1], ModelResponse):
        messages.append(ModelRequest(parts=[UserPromptPart(content=as_note(GO_ON))]))
    return repair_messages(messages)


def _request(parts: list[ModelRequestPart]) -> Iterator[ModelRequest]:
    """Make one request of what stands between two answers, results of tools first.

    The repair would do so too, but in a time that grows with the square of the lines.
    """
    if parts:
        parts.sort(key=lambda part: not isinstance(part, ToolReturnPart))
        yield ModelRequest(parts=parts)


def as_note(text: str) -> str:
    """Write a note to the model, which nobody else can write."""
    return f"<note>{harmless(text)}</note>"


def harmless(text: str) -> str:
    """Take from a text what would make it, or a part of it, look like a note."""
    return neutralize_notes(text)


def _request_parts(
    line: Line, names: Mapping[str, str], attached: Mapping[BlobHash, Content]
) -> Iterator[ModelRequestPart]:
    if line.role is Role.TOOL:
        yield from (
            _return_of(part, names[part.call_id])
            for part in line.parts
            if isinstance(part, ToolResult) and part.call_id in names
        )
    elif line.role is Role.SYSTEM:
        text = _words(line)
        if text:
            yield UserPromptPart(content=as_note(text))
    elif content := _said(line, attached):
        yield UserPromptPart(content=content)


def _return_of(result: ToolResult, tool: str) -> ToolReturnPart:
    return ToolReturnPart(
        tool_name=tool,
        content=harmless(result.text),
        tool_call_id=result.call_id,
        outcome="failed" if result.is_error else "success",
    )


def _said(line: Line, attached: Mapping[BlobHash, Content]) -> str | list[UserContent]:
    """Write what a person said, with what is known of the message before it."""
    said: list[UserContent] = []
    words = [_trigger(line)]
    for part in line.parts:
        match part:
            case Text():
                words.append(harmless(part.text))
            case Attachment():
                content = attached.get(part.blob) or name_attachment(part, "you cannot open it")
                if isinstance(content, BinaryContent):
                    said += [_joined(words), content]
                    words = []
                else:
                    words.append(harmless(content))
            case _:
                pass
    said.append(_joined(words))
    filled = [item for item in said if item]
    text = "\n".join(item for item in filled if isinstance(item, str))
    return text if all(isinstance(item, str) for item in filled) else filled


def _trigger(line: Line) -> str:
    if not isinstance(line, Message):
        return ""
    return render_trigger(Trigger.of(line))


def _joined(words: Sequence[str]) -> str:
    return "\n".join(filter(None, words))


def _words(line: Line) -> str:
    texts = (getattr(part, "text", "") for part in line.parts)
    return "\n".join(filter(None, texts))


def _understood(answer: ModelResponse, model: Model) -> ModelResponse | None:
    """Leave out what another provider alone understands: its thoughts, and its own tools."""
    kept = [
        part
        for part in answer.parts
        if not isinstance(part, ThinkingPart | NativeToolCallPart | NativeToolReturnPart)
        or (part.provider_name or answer.provider_name or model.system) == model.system
        or model.accepts_stateless_artifacts(answer, part)
    ]
    if not kept:
        return None
    if len(kept) != len(answer.parts):
        answer.parts = kept
    return answer
