"""Inbound: what a request says in a conversation, and what came of it."""

from typing import Annotated

from msgspec import Meta

from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import Part, Text
from threadline.core.validation import TEXT_LIMIT
from threadline.store import Store
from threadline.store.inbound.deduplication import InboundOutcome
from threadline.web.authentication import Caller
from threadline.web.bodies import Body, View
from threadline.web.upload_tokens import TICKET_LIMIT, read_ticket

ATTACHED_MOST = 20
"""How much may be attached to one message."""

Ticket = Annotated[str, Meta(min_length=1, max_length=TICKET_LIMIT)]


class Words(Body, frozen=True, kw_only=True):
    """What somebody says, and what they attach."""

    text: Annotated[str, Meta(max_length=TEXT_LIMIT, examples=["What is on today?"])] = ""
    attachments: Annotated[tuple[Ticket, ...], Meta(max_length=ATTACHED_MOST)] = ()
    """The tickets of what was uploaded."""


class SentView(View, frozen=True, kw_only=True):
    """What came of words that were said."""

    outcome: InboundOutcome
    session_id: str | None
    turn_id: int | None
    """The turn that answers them, if one does."""
    is_repeated: bool
    """They had been said before, and nothing new was done."""


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
