"""A takeover: a person answers the people of a session, and the agent is silent meanwhile."""

from datetime import datetime

from threadline.core.account import Actor
from threadline.core.address import Sender
from threadline.core.delivery import LOCAL, is_carried_out
from threadline.core.errors import Conflict, Invalid
from threadline.core.event import EventKind
from threadline.core.message import MarkerKind
from threadline.core.session import Session, SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.sessions.arrivals.places import add_sender
from threadline.sessions.audit import note_audit
from threadline.sessions.chronicle import Chronicle, open_chronicle, require_open, require_writable
from threadline.sessions.turns.close import close_turn
from threadline.sessions.views import read_session
from threadline.storage.database import Transaction

_WHY = "Not answered by the agent: a person took over."


def take_over(
    tx: Transaction, id: SessionId, sender: Sender, *, by: Actor | None, now: datetime
) -> Session:
    """Let a person answer in a session instead of the agent, until it is given back or ends.

    A turn under way comes to its end, as somebody may be reading its answer already. What waits
    behind it is left to the person. Where somebody has taken over before, it stays with them.
    """
    if sender.id is None:
        raise Invalid("Only somebody who is known can take over", id=id)
    # Before the session is locked, as senders come before sessions everywhere.
    known = tx.one("find_sender", platform=LOCAL, id=sender.id)
    key = add_sender(tx, LOCAL, sender.id, sender.name) if known is None else known.number("key")
    with require_writable(require_open(open_chronicle(tx, id, now))) as chronicle:
        if not is_carried_out(chronicle.row.text("platform")):
            hint = "Here nobody else speaks with the agent"
            raise Conflict("Only a conversation on a platform is taken over", id=id, hint=hint)
        taken = tx.one("take_over", key=chronicle.key, sender_key=key, now=chronicle.at)
        if taken is not None:
            _leave_to_person(chronicle)
            chronicle.tell(EventKind.SESSION_CHANGED)
            note_audit(tx, by, "session.taken", id, now=now)
    return read_session(tx, id)


def hand_back(tx: Transaction, id: SessionId, *, by: Actor | None, now: datetime) -> Session:
    """Let the agent answer the next message again; what was said meanwhile it reads with that."""
    with open_chronicle(tx, id, now) as chronicle:
        if tx.one("hand_back", key=chronicle.key) is not None:
            chronicle.tell(EventKind.SESSION_CHANGED)
            note_audit(tx, by, "session.handed_back", id, now=now)
    return read_session(tx, id)


def _leave_to_person(chronicle: Chronicle) -> None:
    """Let no turn begin any more; its words stand in the transcript, for the person to answer."""
    for row in chronicle.tx.all("list_unfinished", session_key=chronicle.key):
        if row["state"] == TurnState.QUEUED:
            turn_id = TurnId(row.number("id"))
            close_turn(chronicle, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, _WHY)
