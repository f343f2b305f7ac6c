"""A takeover: a person answers the people of a session, and the agent is silent meanwhile."""

from threadline.core.account import Actor
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import LOCAL, is_carried_out
from threadline.core.errors import Conflict, Invalid
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, MarkerKind, NewMessage, Part, Role, Text, plain_text
from threadline.core.session import Session, SessionId
from threadline.core.turn import TurnState
from threadline.database.port import Transaction
from threadline.store.audit import note_audit
from threadline.store.deliveries.create import create_operator_reply
from threadline.store.inbound import deduplication
from threadline.store.inbound.deduplication import Arrival, InboundOutcome
from threadline.store.inbound.web_message import at_home, lock_to_ask, reopen
from threadline.store.people.address_book import add_sender, look_up, upsert_address
from threadline.store.people.visibility import find_sender_by_id
from threadline.store.queries import read_session, session_state
from threadline.store.session_writer import (
    SessionWriter,
    require_open,
    require_writable,
    write_session,
)
from threadline.store.turns.terminate import UnfinishedTurn, close_turn, place_messages

_WHY = "Not answered by the agent: a person took over."


def take_over(tx: Transaction, id: SessionId, sender: Sender, *, by: Actor | None) -> Session:
    """Let a person answer in a session instead of the agent, until it is given back or ends.

    A turn under way comes to its end, as somebody may be reading its answer already. What waits
    behind it is left to the person. Where somebody has taken over before, it stays with them.
    """
    if sender.id is None:
        raise Invalid("Only somebody who is known can take over", id=id)
    # Before the session is locked, as senders come before sessions everywhere.
    known = find_sender_by_id(tx, LOCAL, sender.id)
    key = add_sender(tx, LOCAL, sender.id, sender.name) if known is None else known.key
    with require_writable(require_open(write_session(tx, id))) as writer:
        if not is_carried_out(writer.session.platform):
            hint = "Here nobody else speaks with the agent"
            raise Conflict("Only a conversation on a platform is taken over", id=id, hint=hint)
        if tx.exists("take_over", key=writer.key, sender_key=key, now=writer.at):
            _leave_to_person(writer)
            writer.tell(EventKind.SESSION_CHANGED)
            note_audit(tx, by, "session.taken", id)
    return read_session(tx, id)


def hand_back(tx: Transaction, id: SessionId, *, by: Actor | None) -> Session:
    """Let the agent answer the next message again; what was said meanwhile it reads with that."""
    with write_session(tx, id) as writer:
        if tx.exists("hand_back", key=writer.key):
            writer.tell(EventKind.SESSION_CHANGED)
            note_audit(tx, by, "session.handed_back", id)
    return read_session(tx, id)


def _leave_to_person(writer: SessionWriter) -> None:
    """Let no turn begin any more; its words stand in the transcript, for the person to answer."""
    for turn in writer.tx.all("list_unfinished", UnfinishedTurn, session_key=writer.key):
        if turn.state is TurnState.QUEUED:
            close_turn(writer, turn.id, TurnState.STOPPED, MarkerKind.STOPPED, _WHY)


def answer_into(
    tx: Transaction,
    id: SessionId,
    sender: Sender,
    parts: tuple[Part, ...],
    *,
    message_id: str | None,
) -> Arrival:
    """Keep what a person says in the agent's place, and owe it to where the session is at home.

    It stands in the transcript under the person's name. No turn begins, and one that runs goes on.
    """
    said = Inbound(
        address=Address(platform=LOCAL, kind=Kind.DM, chat=sender.id or LOCAL),
        sender=sender,
        parts=_sayable(parts),
        at=tx.now,
        message_id=message_id,
        profile=session_state(tx, id).profile,
    )
    deduplication.lock_message(tx, said)
    known = look_up(tx, said, said.address)
    earlier = deduplication.arrival_in(known)
    if (before := deduplication.settled_outcome(tx, said, earlier)) is not None:
        return before
    speaker = upsert_address(tx, said, said.address, known)
    session = lock_to_ask(tx, id)
    place = at_home(tx, speaker, session)
    with require_writable(SessionWriter(tx, session)) as writer:
        if not session.is_open:
            reopen(writer)
        message = NewMessage(role=Role.ASSISTANT, parts=said.parts)
        message_key = writer.keep(message, None, place.sender_key)
        place_messages(writer, None)
        writer.touch()
        if is_carried_out(session.platform):
            create_operator_reply(writer, place.address_key)
        deduplication.record_outcome(
            tx, said, InboundOutcome.OBSERVED, session_key=writer.key, message_key=message_key
        )
    return Arrival(outcome=InboundOutcome.OBSERVED, session_id=writer.id, turn_id=None)


def _sayable(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    if not all(isinstance(part, Text | Attachment) for part in parts):
        raise Invalid("Only text and files can be sent", hint="Leave out the other parts")
    if not plain_text(parts).strip() and not any(isinstance(part, Attachment) for part in parts):
        raise Invalid("The message is empty", hint="Write something, or attach a file")
    return parts
