"""Markdown export: a session as a document that reads well also as plain text.

What people and models wrote is text, not markup: it is escaped, except that a block of code stays
one. So it looks as it was written, and cannot become a heading, a link or HTML.
"""

import html
import re
from bisect import bisect_right

from threadline.core.document import (
    PageLine,
    attachment_of,
    divider_of,
    facts_of,
    marker_of,
    remarks_of,
    time_of,
    title_of,
    visible_text,
)
from threadline.core.hidden_range import HiddenRange
from threadline.core.message import (
    Attachment,
    Marker,
    Note,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from threadline.core.session import Session

_OPENING = re.compile(r"(`{3,6})([\w+#.-]{0,30})[ \t]*")
_CLOSING = re.compile(r"(`{3,})[ \t]*")
_SPECIAL = re.compile(r"([\\`*_\[\]<>&|~!$])")
_AT_START = re.compile(r"^([-+=#]|\d{1,9}(?=[.)]))", re.MULTILINE)
_BLANKS = re.compile(r"^[ \t]+", re.MULTILINE)
_TICKS = re.compile(r"`+")


class MarkdownPage:
    """Writes a session as Markdown."""

    def begin(self, session: Session) -> str:
        """Write the title, and where and when it was."""
        facts = "\n".join(f"- {escape(fact)}" for fact in facts_of(session))
        return f"# {escape(title_of(session))}\n\n{facts}\n"

    def line(self, line: PageLine) -> str:
        """Write one line: who, when, and every part."""
        message = line.message
        remarks = "".join(f" · *{escape(remark)}*" for remark in remarks_of(line))
        head = (
            f"\n---\n\n**{escape(visible_text(line.speaker))}** · {time_of(message.at)}{remarks}\n"
        )
        parts = "" if message.deleted_at else "".join(map(_part, message.parts))
        return head + parts

    def divide(self, cut: HiddenRange) -> str:
        """Write a divider with what the model is shown instead."""
        summary = escape(visible_text(cut.summary or ""))
        return f"\n---\n\n*{escape(divider_of(cut))}:*\n\n{_quoted(summary)}\n"

    def end(self) -> str:
        """Write nothing more."""
        return ""


def escape(text: str) -> str:
    """Write a text so that Markdown shows it as it is, line by line."""
    escaped = _SPECIAL.sub(r"\\\1", text)
    escaped = _AT_START.sub(_at_start, escaped)
    escaped = _BLANKS.sub(lambda found: "&nbsp;" * len(found.group().expandtabs(4)), escaped)
    lines = escaped.rstrip("\n").split("\n")
    # A line that ends in a backslash is followed by a break; a blank line is break enough.
    return "\n".join(
        f"{line}\\" if line and n + 1 < len(lines) and lines[n + 1] else line
        for n, line in enumerate(lines)
    )


def _at_start(found: re.Match[str]) -> str:
    mark = found.group()
    # A number is escaped behind its digits, as a digit cannot be.
    return f"{mark}\\" if mark.isdigit() else f"\\{mark}"


def fence_code(text: str, language: str = "") -> str:
    """Put a text into a block of code that it cannot end."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    body = text if text.endswith("\n") or not text else f"{text}\n"
    return f"{ticks}{language}\n{body}{ticks}\n"


def _part(part: Part) -> str:
    match part:
        case Text() | Note():
            return f"\n{_text(visible_text(part.text))}"
        case Attachment():
            return f"\n*{escape(attachment_of(part))}*\n"
        case ToolCall():
            return _folded(
                f"{part.name} is called", fence_code(visible_text(part.arguments), "json")
            )
        case ToolResult():
            what = "The tool failed" if part.is_error else "The tool answered"
            return _folded(what, fence_code(visible_text(part.text)))
        case Reasoning():
            return _folded("Reasoning", fence_code(visible_text(part.text))) if part.text else ""
        case Marker():
            return f"\n*{escape(marker_of(part))}*\n"


def _text(text: str) -> str:
    """Write what somebody said; what they put into a block of code stays there."""
    lines = text.split("\n")
    ends = _closings(lines)
    pieces: list[str] = []
    plain: list[str] = []
    at = 0
    while at < len(lines):
        opening = _OPENING.fullmatch(lines[at])
        end = None if opening is None else _next(ends[len(opening[1])], at)
        if opening is None or end is None:
            plain.append(lines[at])
            at += 1
            continue
        pieces += [_paragraphs(plain), fence_code("\n".join(lines[at + 1 : end]), opening[2])]
        plain = []
        at = end + 1
    pieces.append(_paragraphs(plain))
    return "\n".join(piece for piece in pieces if piece)


def _closings(lines: list[str]) -> dict[int, list[int]]:
    """Find the lines that can end a block of code, by how many ticks began it."""
    ends: dict[int, list[int]] = {ticks: [] for ticks in range(3, 7)}
    for n, line in enumerate(lines):
        closing = _CLOSING.fullmatch(line)
        if closing is not None:
            for ticks in range(3, min(len(closing[1]), 6) + 1):
                ends[ticks].append(n)
    return ends


def _next(ends: list[int], at: int) -> int | None:
    n = bisect_right(ends, at)
    return ends[n] if n < len(ends) else None


def _paragraphs(lines: list[str]) -> str:
    text = "\n".join(lines)
    return f"{escape(text)}\n" if text.strip() else ""


def _folded(summary: str, body: str) -> str:
    label = html.escape(" ".join(visible_text(summary).split()))
    return f"\n<details>\n<summary>{label}</summary>\n\n{body}\n</details>\n"


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))
