"""Queued messages: changed or taken back by people, for as long as nobody answers them."""

from datetime import datetime

from threadline.core.command import without_command
from threadline.core.delivery import LOCAL
from threadline.core.errors import Conflict, NotFound, Refused
from threadline.core.message import Message, MessageKey, Part
from threadline.core.revision import Seen, require_seen
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.sessions.arrivals.changes import go_on_waiting, rewrite
from threadline.sessions.chronicle import Chronicle, open_chronicle
from threadline.sessions.records import message_from
from threadline.sessions.turns import pause
from threadline.storage.database import Row, Transaction, expect


def change_queued(
    tx: Transaction,
    id: SessionId,
    key: MessageKey,
    parts: tuple[Part, ...],
    *,
    sender_id: str,
    seen: Seen | None = None,
    now: datetime,
) -> Message:
    """Let a message that waits read differently, if its turn has not begun meanwhile.

    Nobody puts words into somebody else's mouth: whoever asks must have said it, here.
    """
    with open_chronicle(tx, id, now) as chronicle:
        waiting = _queued(chronicle, key)
        if not _is_own(waiting, sender_id):
            raise Refused("Only whoever said it here can change it", id=str(key))
        require_seen(message_from(waiting, id).revision, seen, str(key))
        message = expect(tx, "read_message", key=key)
        rewrite(chronicle, message, without_command(parts))
        go_on_waiting(chronicle, message, is_gone=False)
        return message_from(_queued(chronicle, key), id)


def take_back(
    tx: Transaction, id: SessionId, key: MessageKey, *, sender_id: str, now: datetime
) -> TurnId | None:
    """Let a message that waits never be answered, if its turn has not begun meanwhile.

    One's own words go. What others said stays, and the turn that would answer it is stopped.
    Answers the turn that never runs; None: others said something, too, that it answers.
    """
    with open_chronicle(tx, id, now) as chronicle:
        is_own = _is_own(_queued(chronicle, key), sender_id)
        message = expect(tx, "read_message", key=key)
        turn_id = TurnId(message.number("turn_id"))
        if is_own:
            rewrite(chronicle, message, None)
            go_on_waiting(chronicle, message, is_gone=True)
    if not is_own:
        pause.stop(tx, turn_id, now=now)
    stopped = expect(tx, "read_turn", id=turn_id)["state"] == TurnState.STOPPED
    return turn_id if stopped else None


def _queued(chronicle: Chronicle, key: MessageKey) -> Row:
    """Find a message that nobody has begun to answer, and cannot while its session is locked."""
    for row in chronicle.tx.all("list_waiting_messages", session_key=chronicle.key):
        if row["key"] == key:
            return row
    known = chronicle.tx.one("read_message", key=key)
    if known is None or known["session_key"] != chronicle.key or known["deleted_at"] is not None:
        raise NotFound("No such message is waiting here", id=str(key))
    hint = "Send a correction, or stop the turn"
    raise Conflict("This message is no longer waiting", id=str(key), hint=hint)


def _is_own(message: Row, sender_id: str) -> bool:
    """Tell whether somebody said a message here, and not on a platform."""
    is_theirs = message["sender_platform"] == LOCAL and message["sender_id"] == sender_id
    return is_theirs and message["platform_id"] is not None
