"""Permissions: what an agent asks leave for, and what it is answered."""

import json
from collections.abc import Sequence

from acp.schema import (
    AllowedOutcome,
    DeniedOutcome,
    PermissionOption,
    RequestPermissionResponse,
    ToolCallUpdate,
)

from threadline.core.agent import Question
from threadline.core.approval import Approval, read_answer
from threadline.core.markdown import fence
from threadline.core.rendering import shown
from threadline.core.text import clean_title

UNNAMED = "other"
_SHOWN = 1_500
_YES = ("allow_once", "allow_always")
_NO = ("reject_once", "reject_always")


def tool_of(call: ToolCallUpdate) -> str:
    """Name the kind of thing that is to be done: read, edit, execute, fetch and so on."""
    return str(call.kind or UNNAMED)


def question_of(call: ToolCallUpdate) -> Question:
    """Ask a person what the agent asks."""
    lines = [f"{clean_title(call.title or tool_of(call), _SHOWN)} ({tool_of(call)})"]
    if call.raw_input not in (None, {}, ""):
        given = json.dumps(call.raw_input, ensure_ascii=False, default=str, indent=2)
        lines.append(_short(given))
    # As code, of which nothing is hidden or styled where Markdown is shown.
    what = fence("\n".join(lines)).rstrip("\n")
    return Question(text=f"May the agent do this?\n\n{what}", tools=(tool_of(call),))


def _short(text: str) -> str:
    hidden, text = len(text) - _SHOWN, shown(text[:_SHOWN])
    return text if hidden <= 0 else f"{text}… ({hidden:,} more characters)"


def is_approved(answer: str) -> bool:
    """Tell whether a person said yes; whatever else they said is a no."""
    return read_answer(answer)[0] is Approval.APPROVED


def reply(options: Sequence[PermissionOption], *, approved: bool) -> RequestPermissionResponse:
    """Choose what was decided among what the agent offers.

    It is always for this once: for how long leave is given, we remember ourselves.
    """
    for kind in _YES if approved else _NO:
        for option in options:
            if option.kind == kind:
                chosen = AllowedOutcome(outcome="selected", option_id=option.option_id)
                return RequestPermissionResponse(outcome=chosen)
    return withdraw()


def withdraw() -> RequestPermissionResponse:
    """Answer a question that nobody will answer any more."""
    return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
