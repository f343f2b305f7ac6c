"""Approvals: what a model wants to do, as a question to a person, and what became of it."""

import json
from collections.abc import Sequence

from threadline.agents.model.history import Line
from threadline.core.agent import Question
from threadline.core.approval import (
    QUESTION_LIMIT,
    Approval,
    read_answer,
    reveal,
    reveal_arguments,
    reveal_lines,
)
from threadline.core.markdown_export import fence_code
from threadline.core.message import NewMessage, Role, ToolCall, ToolResult
from threadline.core.turn import TurnId

MOST_CALLS = 32
"""Calls that a person is asked about at once."""

_WORDS_LIMIT = 20_000
_ESCAPED = 6
"""Characters of JSON that may stand for one."""


def fitting(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls, from the first on, that fit into one question.

    A call is shown whole or not at all, so a person never approves what they were not shown.
    """
    left, chosen = QUESTION_LIMIT, []
    for call in calls[:MOST_CALLS]:
        if len(call.arguments) > _ESCAPED * QUESTION_LIMIT:
            break  # It takes seconds to show what would be too long anyway.
        left -= len(_show_call(call))
        if left < 0:
            break
        chosen.append(call)
    return chosen


def ask_about(calls: Sequence[ToolCall], *, reads_only: bool = False) -> Question:
    """Ask a person for leave to call these tools; `reads_only`: they change nothing."""
    what = "May I use this tool?" if len(calls) == 1 else f"May I use these {len(calls)} tools?"
    names = tuple(dict.fromkeys(call.name for call in calls))
    return Question(
        text="\n\n".join([what, *map(_show_call, calls)]), tools=names, reads_only=reads_only
    )


def pending_calls(lines: Sequence[Line], turn_id: TurnId) -> list[ToolCall]:
    """Find the calls of a turn that wait for leave, and have no result yet.

    Where the turn was cut off after them there are none: what had already begun then is not
    begun twice, though somebody had said yes to it.
    """
    answered: set[str] = set()
    # The last answer of the model is more than one line if it has very many parts.
    last: list[Line] = []
    for line in reversed(lines):
        is_own = isinstance(line, NewMessage) or line.turn_id == turn_id
        if not is_own:
            continue
        if line.role is Role.ASSISTANT:
            last.append(line)
        elif last or line.role is Role.SYSTEM:
            break
        answered |= {part.call_id for part in line.parts if isinstance(part, ToolResult)}
    parts = (part for line in reversed(last) for part in line.parts)
    return [call for call in parts if isinstance(call, ToolCall) and call.id not in answered]


def read_approval(answer: str) -> tuple[bool, str]:
    """Read whether a person gave leave, and what they said; free words are no leave."""
    approval, words = read_answer(answer)
    return approval is Approval.APPROVED, words.strip()[:_WORDS_LIMIT]


def refuse_call(call: ToolCall, words: str) -> NewMessage:
    """Tell the model that it may not do what it wanted to do, and what was said to it."""
    said = f" They said: {words}" if words else ""
    text = f"A person was asked, and did not allow this.{said}"
    return NewMessage(role=Role.TOOL, parts=(ToolResult(call_id=call.id, text=text),))


def ask_again(call: ToolCall) -> NewMessage:
    """Tell the model that a call was not made, as it is not the one that a person was shown."""
    text = "This is not what a person approved, so it was not done. Make the call again."
    return NewMessage(
        role=Role.TOOL, parts=(ToolResult(call_id=call.id, text=text, is_error=True),)
    )


def put_off(call: ToolCall) -> NewMessage:
    """Tell the model that nobody was asked about a call, because the question was too long."""
    text = (
        "No person was asked about this: there are too many calls at once, or the arguments are too"
        " long to be shown. Make the call again with fewer others, or in smaller parts."
    )
    return NewMessage(
        role=Role.TOOL, parts=(ToolResult(call_id=call.id, text=text, is_error=True),)
    )


def _show_call(call: ToolCall) -> str:
    arguments = _read(call.arguments)
    written = reveal_lines(call.arguments)
    given = written if arguments is None else reveal_arguments(arguments)
    if arguments is not None and not _is_plain(call.arguments):
        # A tool may read it in another way: the text is shown as the model wrote it, too.
        given = f"{given}\nas it was written: {written}"
    lines = [] if arguments == {} or not call.arguments.strip() else given.split("\n")
    name = " ".join(reveal(call.name).split())
    # As code, so that Markdown in it neither hides nor styles anything.
    return fence_code("\n".join([name, *(f"  {line}" for line in lines)])).rstrip("\n")


def _read(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


def _is_plain(arguments: str) -> bool:
    """Return whether JSON has one reading: no key twice, and no number that loses digits."""
    is_plain = True

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal is_plain
        is_plain = is_plain and len(dict(found)) == len(found)
        return dict(found)

    def number(text: str) -> float:
        nonlocal is_plain
        is_plain = is_plain and repr(float(text)) == text
        return float(text)

    def constant(text: str) -> str:
        nonlocal is_plain
        is_plain = False
        return text

    json.loads(arguments, object_pairs_hook=pairs, parse_float=number, parse_constant=constant)
    return is_plain
