"""Permission requests of an ACP agent: the question to a person, and the reply."""

import difflib
from collections.abc import Iterator, Sequence

from acp.schema import (
    AllowedOutcome,
    ContentToolCallContent,
    DeniedOutcome,
    FileEditToolCallContent,
    PermissionOption,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
)

from threadline.core.agent import Question
from threadline.core.approval import Approval, read_answer, reveal, reveal_arguments
from threadline.core.markdown import fence

UNNAMED = "other"
_YES = ("allow_once", "allow_always")
_NO = ("reject_once", "reject_always")


def tool_of(call: ToolCallUpdate) -> str:
    """Return the kind of action that is requested: read, edit, execute, fetch and so on."""
    return str(call.kind or UNNAMED)


def question_of(call: ToolCallUpdate) -> Question:
    """Ask a person for permission, and show everything that the agent sent with its request."""
    # As code, so that Markdown in it neither hides nor styles anything.
    details = "\n\n".join(fence(one).rstrip("\n") for one in _details(call))
    return Question(text=f"May the agent do this?\n\n{details}", tools=(tool_of(call),))


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
    for content in call.content or ():
        match content:
            case FileEditToolCallContent():
                yield reveal(write_diff(content))
            case ContentToolCallContent(content=TextContentBlock(text=text)) if text:
                yield reveal(text)
            case _:
                yield reveal(content.model_dump_json(exclude_none=True, by_alias=True))


def write_diff(edit: FileEditToolCallContent) -> str:
    """Write a change of a file as a unified diff."""
    before, after = (edit.old_text or "").splitlines(), edit.new_text.splitlines()
    lines = difflib.unified_diff(before, after, edit.path, edit.path, lineterm="")
    same_words = f"{edit.path}: only line endings change"
    return "\n".join(lines) or (
        f"{edit.path}: no change" if edit.old_text == edit.new_text else same_words
    )


def is_approved(answer: str) -> bool:
    """Return whether a person approved; every other answer is a refusal."""
    return read_answer(answer)[0] is Approval.APPROVED


def reply(options: Sequence[PermissionOption], *, approved: bool) -> RequestPermissionResponse:
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
