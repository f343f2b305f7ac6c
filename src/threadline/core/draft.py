"""A draft: what somebody has begun to write on one device and not sent."""

from datetime import datetime

from msgspec import Struct

from threadline.core.session import SessionId
from threadline.core.validation import checked_text, unfit

DRAFT_LIMIT = 64 * 1024
"""Bytes in UTF-8."""


class Draft(Struct, frozen=True, kw_only=True):
    """Unsent words, in a session or in the one that is not there yet."""

    session_id: SessionId | None
    text: str
    changed_at: datetime


def checked_draft(text: object) -> str:
    """Take what may be kept as a draft."""
    taken = checked_text(text, "draft", DRAFT_LIMIT)
    if len(taken.encode()) > DRAFT_LIMIT:
        raise unfit(taken, "draft", f"text of at most {DRAFT_LIMIT:,} bytes")
    return taken
