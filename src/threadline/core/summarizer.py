"""Summarizer: whoever writes titles and summaries of conversations."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from threadline.core.message import Message
from threadline.core.session import Session
from threadline.core.usage import Usage

TITLE_TASK = "title"
SUMMARY_TASK = "summary"
"""What the usage of a scribe is booked under."""


class SummarizerOutput(Struct, frozen=True, kw_only=True):
    """What a scribe wrote, and what that spent."""

    text: str
    usage: tuple[Usage, ...] = ()


class Summarizer(Protocol):
    """Writes about conversations, and stores nothing; what it cannot do it raises: `AgentError`."""

    def window(self, session: Session) -> int | None:
        """Tell how many tokens the model of a session can read at once; None: nobody knows."""
        ...

    async def write_title(self, session: Session, lines: Sequence[Message]) -> SummarizerOutput:
        """Name a conversation in three to seven words, by how it began."""
        ...

    async def write_summary(
        self, session: Session, lines: Sequence[Message], focus: str = ""
    ) -> SummarizerOutput:
        """Write what the agent has to know in the place of these lines; `focus` matters most."""
        ...
