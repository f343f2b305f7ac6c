"""Observations: what a group says between others, stored once and shown to whoever asks next."""

from collections.abc import Sequence
from datetime import timedelta

from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Attachment, Part, plain_text
from threadline.core.turn import TurnId
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.inbound import deduplication
from threadline.store.inbound.deduplication import Arrival, InboundOutcome
from threadline.store.people.address_book import KnownAddress
from threadline.store.session_writer import SessionWriter

SHOWN = 50
"""Messages that one turn shows at most, the latest ones."""
SHOWN_FOR = timedelta(days=1)
"""How old a message may be when it is shown for the first time."""
TEXT_LIMIT = 2_000
"""Characters of a message that are stored."""


def observe(tx: Transaction, inbound: Inbound, place: KnownAddress) -> Arrival:
    """Store a message that was not said to the agent, for the conversations of its chat.

    No session is opened: it is shown to the next conversation that asks there.
    """
    text = _text(inbound.parts)
    for change in deduplication.take_early(tx, inbound):
        text = "" if change.kind is InboundKind.DELETION else _text(change.parts)
    if text:
        tx.run(
            "add_observation",
            profile=place.profile,
            address_key=place.address_key,
            sender_key=place.sender_key,
            platform_id=inbound.message_id,
            text=text,
            at=stamp(min(inbound.at, tx.now)),
        )
    deduplication.record_outcome(tx, inbound, InboundOutcome.OBSERVED)
    return Arrival(outcome=InboundOutcome.OBSERVED, session_id=None, turn_id=None)


def change_observation(tx: Transaction, inbound: Inbound) -> None:
    """Apply an edit or a deletion to a message that was stored with `observe`."""
    known = deduplication.message_identity(inbound)
    text = "" if inbound.kind is InboundKind.DELETION else _text(inbound.parts)
    if text:
        tx.run("change_observation", text=text, **known)
    else:
        tx.run("drop_observation", **known)


def mark_observed(writer: SessionWriter, turn_id: TurnId, place: KnownAddress) -> None:
    """Let a turn show the agent what was said in its chat since the session last asked there."""
    writer.tx.run(
        "mark_observed",
        turn_id=turn_id,
        session_key=writer.key,
        profile=place.profile,
        address_key=place.address_key,
        since=stamp(writer.tx.now - SHOWN_FOR),
        most=SHOWN,
    )


def _text(parts: Sequence[Part]) -> str:
    """Return the words of a message, and which files came with it."""
    files = [
        f"({part.kind}: {part.name or part.media_type})"
        for part in parts
        if isinstance(part, Attachment)
    ]
    return "\n".join(filter(None, (plain_text(parts).strip(), *files)))[:TEXT_LIMIT]
