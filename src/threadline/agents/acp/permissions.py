"""Permissions: the question to a person, and the reply."""

import difflib
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from acp.schema import (
    AllowedOutcome,
    ContentToolCallContent,
    DeniedOutcome,
    FileEditToolCallContent,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallProgress,
    ToolCallStart,
    ToolCallUpdate,
)

from threadline.core.agent import Question
from threadline.core.approval import Approval, read_answer, reveal, reveal_arguments
from threadline.core.markdown_export import fence_code

UNNAMED = "other"
_READING = frozenset({"read", "search", "think"})
"""Kinds of calls that change nothing."""
_SHOWN = ("title", "kind", "locations", "raw_input", "content")
CallUpdate: TypeAlias = ToolCallStart | ToolCallProgress | ToolCallUpdate
_YES = ("allow_once", "allow_always")
_NO = ("reject_once", "reject_always")


def tool_of(call: ToolCallUpdate) -> str:
    """Return the kind of action that is requested: read, edit, execute, fetch and so on."""
    return str(call.kind or UNNAMED)


def question_of(call: ToolCallUpdate) -> Question:
    """Ask a person for permission, and show everything that the agent sent with its request."""
    # As code, so that Markdown in it neither hides nor styles anything.
    details = "\n\n".join(fence_code(one).rstrip("\n") for one in _details(call))
    tool = tool_of(call)
    return Question(
        text=f"May the agent do this?\n\n{details}", tools=(tool,), reads_only=tool in _READING
    )


def merge(known: ToolCallUpdate | None, told: CallUpdate) -> ToolCallUpdate:
    """Return all that an agent has said of a call: an update repeats only what has changed."""
    before = known or ToolCallUpdate(tool_call_id=told.tool_call_id)
    news = {name: value for name in _SHOWN if (value := getattr(told, name)) is not None}
    return before.model_copy(update=news)


def is_changed(shown: ToolCallUpdate, told: CallUpdate) -> bool:
    """Return whether an update makes another call of one that a person is asked about."""
    now = merge(shown, told)
    return any(getattr(now, name) != getattr(shown, name) for name in _SHOWN)


def _details(call: ToolCallUpdate) -> Iterator[str]:
    yield reveal(f"{call.title or tool_of(call)} ({tool_of(call)})")
    if call.locations:
        yield reveal(
            "\n".join(
                one.path if one.line is None else f"{one.path}:{one.line}" for one in call.locations
            )
        )
    if call.raw_input not in (None, {}, ""):
        yield reveal_arguments(call.raw_input)
    if not (call.locations or call.raw_input or call.content):
        yield "The agent sent no details of what it will do."
    for content in call.content or ():
        match content:
            case FileEditToolCallContent():
                yield reveal(write_diff(content))
            case ContentToolCallContent(content=TextContentBlock(text=text)) if text:
                yield reveal(text)
            case _:
                yield reveal(content.model_dump_json(exclude_none=True, by_alias=True))


def write_diff(edit: FileEditToolCallContent) -> str:
    """Write a change of a file as a unified diff. Only a line feed ends a line in it."""
    before, after = (edit.old_text or "").split("\n"), edit.new_text.split("\n")
    lines = difflib.unified_diff(before, after, edit.path, edit.path, lineterm="")
    return "\n".join("" if line == " " else line for line in lines) or f"{edit.path}: no change"


def is_approved(answer: str) -> bool:
    """Return whether a person approved; every other answer is a refusal."""
    return read_answer(answer)[0] is Approval.APPROVED


def choose_option(
    options: Sequence[PermissionOption], *, approved: bool
) -> RequestPermissionResponse:
    """Choose the option of the agent that says what was decided.

    It is always the one for this call alone: Threadline itself stores longer permissions.
    """
    for kind in _YES if approved else _NO:
        for option in options:
            if option.kind == kind:
                chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
                return RequestPermissionResponse(outcome=chosen)
    return withdraw()


def withdraw() -> RequestPermissionResponse:
    """Return the reply to a request that is no longer waited for."""
    return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
