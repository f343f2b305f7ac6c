"""Words into a conversation: said by a person in the agent's place, and carried to the people."""

from datetime import datetime

from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import LOCAL, is_carried_out
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, NewMessage, Part, Role, Text, plain_text
from threadline.core.session import SessionId
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.asks import at_home, lock_to_ask, reopen
from threadline.sessions.arrivals.outcome import Arrival, Outcome
from threadline.sessions.arrivals.places import look_up, remember
from threadline.sessions.chronicle import Chronicle, require_writable
from threadline.sessions.deliveries.owe import owe_line
from threadline.sessions.turns.close import place_messages
from threadline.sessions.views import session_row
from threadline.storage.database import Transaction


def answer_into(
    tx: Transaction,
    id: SessionId,
    sender: Sender,
    parts: tuple[Part, ...],
    *,
    message_id: str | None,
    now: datetime,
) -> Arrival:
    """Keep what a person says in the agent's place, and owe it to where the session is at home.

    It stands in the transcript under the person's name. No turn begins, and one that runs goes on.
    """
    said = Inbound(
        address=Address(platform=LOCAL, kind=Kind.DM, chat=sender.id or LOCAL),
        sender=sender,
        parts=_sayable(parts),
        at=now,
        message_id=message_id,
        profile=session_row(tx, id).text("profile"),
    )
    outcome.lock(tx, said)
    known = look_up(tx, said, said.address)
    if (before := outcome.settled(tx, said, known)) is not None:
        return before
    speaker = remember(tx, said, said.address, known, now)
    row = lock_to_ask(tx, id)
    place = at_home(tx, speaker, row)
    with require_writable(Chronicle(tx, row, now)) as chronicle:
        if row["ended_at"] is not None or row["suspended_at"] is not None:
            reopen(chronicle)
        message = NewMessage(role=Role.ASSISTANT, parts=said.parts)
        message_key = chronicle.keep(message, None, place.sender_key)
        place_messages(chronicle, None)
        chronicle.touch()
        if is_carried_out(row.text("platform")):
            owe_line(chronicle, place.address_key)
        outcome.note(tx, said, Outcome.OBSERVED, session_key=chronicle.key, message_key=message_key)
    return Arrival(outcome=Outcome.OBSERVED, session_id=chronicle.id, turn_id=None)


def _sayable(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    if not all(isinstance(part, Text | Attachment) for part in parts):
        raise Invalid("Only text and files can be sent", hint="Leave out the other parts")
    if not plain_text(parts).strip() and not any(isinstance(part, Attachment) for part in parts):
        raise Invalid("The message is empty", hint="Write something, or attach a file")
    return parts
