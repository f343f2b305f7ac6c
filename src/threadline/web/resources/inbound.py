"""Inbound: what a request says in a conversation, and what came of it."""

from typing import Annotated

from pydantic import Field

from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import Part, Text
from threadline.core.validation import TEXT_LIMIT
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival, InboundOutcome
from threadline.web.authentication import Caller
from threadline.web.bodies import RequestBody, ResponseBody
from threadline.web.upload_tokens import TICKET_LIMIT, read_ticket

ATTACHED_MOST = 20
"""How much may be attached to one message."""

Ticket = Annotated[str, Field(min_length=1, max_length=TICKET_LIMIT)]


class Words(RequestBody):
    """What somebody says, and what they attach."""

    text: str = Field(default="", max_length=TEXT_LIMIT, examples=["What is on today?"])
    attachments: list[Ticket] = Field(
        default=[], max_length=ATTACHED_MOST, description="The tickets of what was uploaded."
    )


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


async def parts_of(store: Store, visitor: Caller, words: Words) -> tuple[Part, ...]:
    """Make parts of words, and of what their speaker uploaded for them."""
    said: list[Part] = [Text(text=words.text)] if words.text.strip() else []
    if words.attachments:
        seal, account, now = await store.seal(), visitor.account.key, store.now()
        said += [read_ticket(seal, ticket, account, now) for ticket in words.attachments]
    if not said:
        raise Invalid("The message is empty", hint="Write something, or attach a file")
    return tuple(said)


async def make_inbound(
    store: Store,
    visitor: Caller,
    words: Words,
    name: str,
    *,
    profile: str,
    thread: str | None = None,
) -> Inbound:
    """Make of words what a store takes in, known again by a name."""
    return Inbound(
        address=visitor.account.place(thread),
        sender=visitor.account.sender,
        parts=await parts_of(store, visitor, words),
        at=store.now(),
        message_id=name,
        profile=profile,
        token=visitor.actor.token,
    )
