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
_DIFF_LINES = 4_000
"""Lines that are compared one by one; of longer files everything between is shown as changed."""
_CONTEXT = 3
_YES = ("allow_once", "allow_always")
_EMPTY: tuple[object, ...] = (None, "", [], {})
_NO = ("reject_once", "reject_always")


def tool_of(call: ToolCallUpdate) -> str:
    """Return the kind of action that is requested: read, edit, execute, fetch and so on."""
    return str(call.kind or UNNAMED)


def question_of(call: ToolCallUpdate, options: Sequence[PermissionOption] = ()) -> Question:
    """Ask a person for permission, and show everything that the agent sent with its request."""
    # As code, so that Markdown in it neither hides nor styles anything.
    details = "\n\n".join(fence_code(one).rstrip("\n") for one in _details(call))
    text = f"May the agent do this?\n\n{details}"
    chosen = _first_of(_YES, options)
    if chosen is not None and chosen.kind != _YES[0]:
        named = fence_code(reveal(chosen.name))
        text = f"{text}\n\nThe agent offers no permission for this call alone, but:\n\n{named}"
    tool = tool_of(call)
    reads_only = tool in _READING and not _edits_of(call)
    return Question(text=text, tools=(tool,), reads_only=reads_only)


def merge(known: ToolCallUpdate | None, told: CallUpdate) -> ToolCallUpdate:
    """Return all that an agent has said of a call: an update repeats only what has changed.

    What is empty takes nothing back, and neither do words take back an edit that came before them.
    A permission request of OpenCode lacks the working directory of a call, which the updates before
    and after it have: what the request leaves out is as it was announced.
    """
    before = known or ToolCallUpdate(tool_call_id=told.tool_call_id)
    news = {name: value for name in _SHOWN if (value := getattr(told, name)) not in _EMPTY}
    if "content" in news and not _edits_of(told):
        news["content"] = [*_edits_of(before), *news["content"]]
    was, now = before.raw_input, told.raw_input
    is_request = not isinstance(told, ToolCallStart | ToolCallProgress)
    if is_request and isinstance(was, dict) and isinstance(now, dict):
        news["raw_input"] = {**was, **now}
    return before.model_copy(update=news)


def _edits_of(call: CallUpdate) -> list[FileEditToolCallContent]:
    return [one for one in call.content or () if isinstance(one, FileEditToolCallContent)]


def is_changed(shown: ToolCallUpdate, told: CallUpdate) -> bool:
    """Return whether an update makes another call of one that a person is asked about.

    Arguments that were all shown are no change, also if others were shown with them.
    """
    now, arguments = merge(shown, told), told.raw_input
    if isinstance(arguments, dict) and isinstance(shown.raw_input, dict):
        known = shown.raw_input.items()
        now.raw_input = shown.raw_input if arguments.items() <= known else arguments
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
    is_short = len(before) + len(after) <= _DIFF_LINES
    lines = (
        difflib.unified_diff(before, after, edit.path, edit.path, lineterm="")
        if is_short
        else _write_long_diff(before, after, edit.path)
    )
    return "\n".join("" if line == " " else line for line in lines) or f"{edit.path}: no change"


def _write_long_diff(before: list[str], after: list[str], path: str) -> Iterator[str]:
    """Write what is between the lines that both have at their beginning and at their end.

    To find the smallest difference takes time that grows with the cube of the lines.
    """
    if before == after:
        return
    pairs = list(zip(before, after, strict=False))
    begin = next((n for n, (old, new) in enumerate(pairs) if old != new), len(pairs))
    rest = len(pairs) - begin
    ends = zip(reversed(before), reversed(after), strict=False)
    end = next((n for n, (old, new) in enumerate(ends) if old != new), rest)
    end = min(end, rest)
    top, bottom = min(begin, _CONTEXT), min(end, _CONTEXT)
    old, new = before[begin : len(before) - end], after[begin : len(after) - end]
    at, around = begin - top + 1, top + bottom
    yield from (f"--- {path}", f"+++ {path}")
    yield f"@@ -{at},{len(old) + around} +{at},{len(new) + around} @@"
    yield from (f" {line}" for line in before[begin - top : begin])
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)
    yield from (f" {line}" for line in before[len(before) - end :][:bottom])


def is_approved(answer: str) -> bool:
    """Return whether a person approved; every other answer is a refusal."""
    return read_answer(answer)[0] is Approval.APPROVED


def choose_option(
    options: Sequence[PermissionOption], *, approved: bool
) -> RequestPermissionResponse:
    """Choose the option of the agent that says what was decided.

    It is the one for this call alone, as Threadline itself stores longer permissions. Of an agent
    that offers only a lasting one, the question says so.
    """
    option = _first_of(_YES if approved else _NO, options)
    if option is None:
        return withdraw()
    chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
    return RequestPermissionResponse(outcome=chosen)


def _first_of(kinds: Sequence[str], options: Sequence[PermissionOption]) -> PermissionOption | None:
    found = (option for kind in kinds for option in options if option.kind == kind)
    return next(found, None)


def withdraw() -> RequestPermissionResponse:
    """Return the reply to a request that is no longer waited for."""
    return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
