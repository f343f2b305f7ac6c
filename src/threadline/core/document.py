"""Document: what a page for people shows of a session, whatever the page is written in."""

import re
from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct

from threadline.core.hidden_range import HiddenRange
from threadline.core.message import Attachment, Marker, Message, Role
from threadline.core.session import Session

EMBED_LIMIT = 1024 * 1024
"""Bytes of an image that stands inside a page; a larger one is only named."""
EMBEDDED_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Kinds of images that cannot carry a script."""

# Nothing that would steer a terminal, or turn the direction of what stands around it.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_SPEAKERS = {
    Role.USER: "User",
    Role.ASSISTANT: "Assistant",
    Role.TOOL: "Tool",
    Role.SYSTEM: "System",
}


class PageLine(Struct, frozen=True, kw_only=True):
    """One line of a transcript on its page."""

    message: Message
    speaker: str
    hidden: str | None = None
    """Why nobody sees it elsewhere: it was undone or retried."""
    images: tuple[tuple[str, bytes], ...] = ()
    """The images that can be shown in it, by their content hash."""


class DocumentWriter(Protocol):
    """Writes a session as text for people. Nothing that is shown can become part of the page."""

    def begin(self, session: Session) -> str:
        """Write what stands before the first line."""
        ...

    def line(self, line: PageLine) -> str:
        """Write one line."""
        ...

    def divide(self, cut: HiddenRange) -> str:
        """Write what stands behind lines that were compacted."""
        ...

    def end(self) -> str:
        """Write what stands after the last line."""
        ...


def visible_text(text: str) -> str:
    """Take out of a text what cannot be seen and would do something."""
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def speaker_of(message: Message) -> str:
    """Name whoever speaks."""
    name = message.sender_name or message.sender_id or _SPEAKERS[message.role]
    return " ".join(visible_text(name).split()) or _SPEAKERS[message.role]


def time_of(at: datetime) -> str:
    """Write a moment for people, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def title_of(session: Session) -> str:
    """Name a session at the top of its page."""
    return " ".join(visible_text(session.title or "").split()) or "An untitled conversation"


def facts_of(session: Session) -> list[str]:
    """Say where and when a session was."""
    facts = [
        f"{session.platform} {session.kind}, session {session.id}",
        f"begun {time_of(session.opened_at)}",
    ]
    if session.ended_at is not None:
        facts.append(f"ended {time_of(session.ended_at)} ({session.end_reason})")
    if session.base_id is not None:
        facts.append(f"shares its first {session.base_seq} lines with {session.base_id}")
    return facts


def attachment_of(part: Attachment) -> str:
    """Name an attachment, its kind and its size."""
    name = " ".join(visible_text(part.name or "").split())
    named = f"{part.kind} “{name}”" if name else f"{part.kind}"
    return f"{named} ({visible_text(part.media_type)}, {part.size:,} bytes)"


def marker_of(part: Marker) -> str:
    """Say what a marker stands for, and why; a reason that says both stands alone."""
    kind, why = part.kind.value, visible_text(part.text)
    return why if why.lower().startswith(kind) else f"{kind.capitalize()}. {why}"


def remarks_of(line: PageLine) -> list[str]:
    """Say what else is to be known of a line."""
    message = line.message
    remarks = [] if line.hidden is None else [line.hidden]
    if message.deleted_at is not None:
        remarks.append(f"deleted {time_of(message.deleted_at)}")
    elif message.changed_at is not None:
        remarks.append(f"edited {time_of(message.changed_at)}")
    return remarks


def divider_of(cut: HiddenRange) -> str:
    """Say what a compaction has done."""
    return (
        f"Lines {cut.from_seq} to {cut.to_seq} were summarised for the model, "
        f"{time_of(cut.made_at)}"
    )
