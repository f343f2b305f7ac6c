"""HTML export: a session as one HTML file that needs nothing else and runs nothing."""

import base64
import html

from threadline.core.document import (
    EMBED_LIMIT,
    EMBEDDED_TYPES,
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

_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1e; --paper: #fff; --soft: #6b6b70; --line: #ddd;
  --user: #eef4ff; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececee; --paper: #161618; --soft: #a0a0a6;
  --line: #38383c; --user: #1d2740; } }
body { margin: 2rem auto; padding: 0 1rem; max-width: 46rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.5rem; } ul, header, .mark, .divider { color: var(--soft); }
article { border-top: 1px solid var(--line); padding: 0.75rem 0; }
article.user { background: var(--user); padding: 0.75rem; border-radius: 0.5rem; }
article.hidden { opacity: 0.6; } header b { color: var(--ink); }
.text, pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.25rem 0; }
pre { font: 0.875rem/1.45 ui-monospace, monospace; } img { max-width: 100%; }
.divider { border-top: 3px double var(--line); padding: 0.75rem 0; }
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class WebPage:
    """Writes a session as HTML."""

    def begin(self, session: Session) -> str:
        """Write the head, the title, and where and when it was."""
        title = html.escape(title_of(session))
        facts = "".join(f"<li>{html.escape(visible_text(fact))}</li>" for fact in facts_of(session))
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="referrer" content="no-referrer">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
            f'<h1 dir="auto">{title}</h1>\n<ul>{facts}</ul>\n'
        )

    def line(self, line: PageLine) -> str:
        """Write one line: who, when, and every part."""
        message = line.message
        when = f'<time datetime="{message.at:%Y-%m-%dT%H:%M:%SZ}">{time_of(message.at)}</time>'
        remarks = "".join(f" · {html.escape(remark)}" for remark in remarks_of(line))
        images = dict(line.images)
        parts = "" if message.deleted_at else "".join(_part(part, images) for part in message.parts)
        hidden = " hidden" if line.hidden is not None else ""
        speaker = html.escape(visible_text(line.speaker))
        return (
            f'<article class="{message.role}{hidden}">\n<header><b>{speaker}</b>'
            f" · {when}{remarks}</header>\n"
            f"{parts}</article>\n"
        )

    def divide(self, cut: HiddenRange) -> str:
        """Write a divider with what the model is shown instead."""
        summary = html.escape(visible_text(cut.summary or ""))
        return (
            f'<section class="divider"><details><summary>{html.escape(divider_of(cut))}</summary>'
            f'<div class="text" dir="auto">{summary}</div></details></section>\n'
        )

    def end(self) -> str:
        """Close everything."""
        return "</main>\n</body>\n</html>\n"


def _part(part: Part, images: dict[str, bytes]) -> str:
    match part:
        case Text() | Note():
            return f'<div class="text" dir="auto">{html.escape(visible_text(part.text))}</div>\n'
        case Attachment():
            return _attachment(part, images.get(part.blob))
        case ToolCall():
            return _folded(f"{part.name} is called", part.arguments)
        case ToolResult():
            return _folded("The tool failed" if part.is_error else "The tool answered", part.text)
        case Reasoning():
            return _folded("Reasoning", part.text) if part.text else ""
        case Marker():
            return f'<p class="mark" dir="auto">{html.escape(marker_of(part))}</p>\n'


def _attachment(part: Attachment, data: bytes | None) -> str:
    label = html.escape(attachment_of(part))
    if data is None or part.media_type not in EMBEDDED_TYPES or len(data) > EMBED_LIMIT:
        return f'<p class="mark" dir="auto">{label}</p>\n'
    encoded = base64.b64encode(data).decode()
    return f'<p><img alt="{label}" src="data:{part.media_type};base64,{encoded}"></p>\n'


def _folded(summary: str, body: str) -> str:
    label = html.escape(" ".join(visible_text(summary).split()))
    return (
        f"<details><summary>{label}</summary>"
        f'<pre dir="auto">{html.escape(visible_text(body))}</pre></details>\n'
    )
