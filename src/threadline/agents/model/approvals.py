"""Approvals: what a model wants to do, as a question to a person, and what became of it."""

import json
from collections.abc import Sequence

from threadline.agents.model.history import Line
from threadline.core.agent import Question
from threadline.core.approval import Approval, read_answer
from threadline.core.markdown import fence
from threadline.core.message import NewMessage, Role, ToolCall, ToolResult
from threadline.core.text import clean_title
from threadline.core.turn import TurnId

VALUE_LIMIT = 400
"""Characters of one argument that a person is shown."""
CALL_LIMIT = 1500
QUESTION_LIMIT = 3500
MOST_CALLS = 32
"""Calls that a person is asked about at once."""

_WORDS_LIMIT = 20_000


def fitting(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Choose those, from the first on, that a person can be shown in one question.

    Nobody gives leave for what they were not shown, so the others are not asked about.
    """
    left, chosen = QUESTION_LIMIT, []
    for call in calls[:MOST_CALLS]:
        left -= len(_show_call(call))
        if left < 0:
            break
        chosen.append(call)
    return chosen


def ask_about(calls: Sequence[ToolCall]) -> Question:
    """Ask a person for leave to call these tools."""
    what = "May I use this tool?" if len(calls) == 1 else f"May I use these {len(calls)} tools?"
    names = tuple(dict.fromkeys(call.name for call in calls))
    return Question(text="\n\n".join([what, *map(_show_call, calls)]), tools=names)


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


def decide(answer: str) -> tuple[bool, str]:
    """Read whether a person gave leave, and what they said; free words are no leave."""
    approval, words = read_answer(answer)
    return approval is Approval.APPROVED, words.strip()[:_WORDS_LIMIT]


def deny(call: ToolCall, words: str) -> NewMessage:
    """Tell the model that it may not do what it wanted to do, and what was said to it."""
    said = f" They said: {words}" if words else ""
    text = f"A person was asked, and did not allow this.{said}"
    return NewMessage(role=Role.TOOL, parts=(ToolResult(call_id=call.id, text=text),))


def put_off(call: ToolCall) -> NewMessage:
    """Tell the model that nobody was asked about a call, as there were too many at once."""
    text = "Nobody was asked about this: too many calls at once. Make it again, with fewer others."
    return NewMessage(
        role=Role.TOOL, parts=(ToolResult(call_id=call.id, text=text, is_error=True),)
    )


def _show_call(call: ToolCall) -> str:
    arguments = _read(call.arguments)
    if not isinstance(arguments, dict):
        shown = [_short(call.arguments)] if call.arguments.strip() else []
    else:
        shown = [f"{_short(name)}: {_short(_write(value))}" for name, value in arguments.items()]
    text = "\n".join([clean_title(call.name, VALUE_LIMIT), *(f"  {line}" for line in shown)])
    hidden = len(text) - CALL_LIMIT
    seen = text if hidden <= 0 else f"{text[:CALL_LIMIT]}… ({hidden:,} more characters)"
    # As code, of which nothing is hidden or styled where Markdown is shown.
    return fence(seen).rstrip("\n")


def _read(arguments: str) -> object:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return None


def _write(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    """Show a text in one line; of a long one, how much of it is not shown."""
    hidden = len(text) - VALUE_LIMIT
    # What stands in a line of its own must not look like the end of the one before.
    line = clean_title(" ⏎ ".join(text[:VALUE_LIMIT].splitlines()), VALUE_LIMIT * 4)
    return line if hidden <= 0 else f"{line}… ({hidden:,} more characters)"
