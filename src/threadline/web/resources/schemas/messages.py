"""Messages, as answers show them and as requests bring them."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field

from threadline.core.message import Message, Role
from threadline.core.session import BusyMode
from threadline.core.validation import TEXT_LIMIT
from threadline.store.inbound.deduplication import Arrival, InboundOutcome
from threadline.store.queries import Revision
from threadline.web.resources.schemas.bodies import (
    REVISION,
    Moment,
    RequestBody,
    ResponseBody,
    Told,
)
from threadline.web.resources.schemas.parts import PartView, Words


class MessageView(ResponseBody):
    """One line of a transcript."""

    key: int
    session_id: str = Field(
        description="Where it was written; of a branch's shared lines its base."
    )
    seq: int | None = Field(description="Its place; null while it waits for its turn.")
    role: Role
    parts: tuple[PartView, ...]
    at: Moment = Field(description="When it was written.")
    arrived_at: Moment | None = Field(description="When it arrived, if that was noticeably later.")
    turn_id: int | None
    sender_id: str | None
    sender_name: str | None
    changed_at: Moment | None
    deleted_at: Moment | None

    @classmethod
    def from_message(cls, message: Message) -> Self:
        """Show a message."""
        return cls.model_validate(message)


class QueuedView(MessageView):
    """A message that waits for its turn."""

    revision: str = REVISION


class MessagePageView(ResponseBody):
    """A stretch of a transcript, in order."""

    items: list[Annotated[Message, Told(MessageView)]]
    before: int | None = Field(description="Give this as `before` for what is earlier, if any is.")
    after: int | None = Field(description="Give this as `after` for what is later.")

    @classmethod
    def from_messages(cls, found: Sequence[Message], *, is_beginning: bool) -> "MessagePageView":
        """Show messages, and where to read on."""
        seqs = [one.seq for one in found if one.seq is not None]
        return cls(
            items=list(found),
            before=None if is_beginning or not seqs else seqs[0],
            after=seqs[-1] if seqs else None,
        )


class RevisionView(ResponseBody):
    """What a message said before it was changed."""

    version: int
    parts: tuple[PartView, ...]
    replaced_at: Moment

    @classmethod
    def from_revision(cls, revision: Revision) -> "RevisionView":
        """Show a revision."""
        return cls.model_validate(revision)


class Speech(StrEnum):
    """For whom words are meant."""

    ASK = "ask"
    """For the agent, which answers them."""
    ANSWER = "answer"
    """For whoever is on the other side: they are delivered there, and the agent is not asked."""


class MessageRequest(Words):
    """Words for a conversation."""

    speech: Speech = Field(default=Speech.ASK, description="Whether the agent is asked.")
    busy_mode: BusyMode | None = Field(
        default=None, description="What becomes of it while a turn runs; null: as everywhere."
    )


class TextRequest(RequestBody):
    """What a line reads from now on."""

    text: str = Field(min_length=1, max_length=TEXT_LIMIT, examples=["What is on tomorrow?"])


class SentView(ResponseBody):
    """What came of words that were said."""

    outcome: InboundOutcome
    session_id: str | None
    turn_id: int | None = Field(description="The turn that answers them, if one does.")
    is_repeated: bool = Field(description="They had been said before, and nothing new was done.")

    @classmethod
    def from_arrival(cls, arrival: Arrival) -> "SentView":
        """Show what came of it."""
        return cls(
            outcome=arrival.outcome,
            session_id=arrival.session_id,
            turn_id=arrival.turn_id,
            is_repeated=arrival.is_repeated,
        )
