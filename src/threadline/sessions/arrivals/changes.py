"""Changes: edits and deletions of messages that arrived before, or are still to arrive."""

from dataclasses import replace
from datetime import datetime

from threadline.core.command import without_command
from threadline.core.errors import Conflict
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import MarkerKind, Part, pack, plain_text, unpack
from threadline.core.notice import deleted, edited
from threadline.core.rules import EditMode, Rules
from threadline.core.session import SessionId, TitleSource
from threadline.core.text import first_words
from threadline.core.turn import TurnId, TurnState
from threadline.sessions.arrivals import outcome
from threadline.sessions.arrivals.observations import change_observation
from threadline.sessions.arrivals.outcome import Arrival, Outcome
from threadline.sessions.chronicle import Chronicle, chronicle_of, use_blobs
from threadline.sessions.gateways import unreached
from threadline.sessions.search.index import reindex
from threadline.sessions.turns.close import close_turn
from threadline.storage.database import Row, SqlValue, Transaction, expect
from threadline.storage.moments import stamp


def change(tx: Transaction, inbound: Inbound, *, rules: Rules, now: datetime) -> Arrival:
    """Let an earlier message read differently, or be gone; keep what it said as a revision."""
    if inbound.kind is InboundKind.EDIT:
        inbound = replace(inbound, parts=without_command(inbound.parts))
    before = outcome.settled(tx, inbound, outcome.find(tx, inbound))
    if before is not None:
        return before
    original = outcome.find_message(tx, inbound)
    if original is None:
        _wait_for_message(tx, inbound)
        return _noted(tx, inbound, Outcome.EARLY)
    if original["outcome"] == Outcome.OBSERVED and original["message_key"] is None:
        if _is_outdated(tx, inbound):
            return _noted(tx, inbound, Outcome.IGNORED)
        change_observation(tx, inbound)
        return _noted(tx, inbound, Outcome.CHANGED)
    if original["message_key"] is None:
        return _noted(tx, inbound, Outcome.IGNORED)
    return _apply(tx, inbound, original.number("message_key"), rules, now)


def apply_early(tx: Transaction, message: Inbound, *, rules: Rules, now: datetime) -> None:
    """Apply the edits and deletions that came before their message."""
    rows = tx.all("take_early_changes", **outcome.message_identity(message))
    original = outcome.find_message(tx, message)
    for row in sorted(rows, key=lambda row: (row.number("version"), row.text("kind"))):
        kind = InboundKind(row.text("kind"))
        early = Inbound(
            address=message.address,
            sender=message.sender,
            kind=kind,
            message_id=message.message_id,
            version=row.number("version"),
            parts=unpack(row.text("text"), row.text_or_none("parts")),
            at=row.moment("at"),
            profile=message.profile,
        )
        if original is not None:
            _change_message(tx, early, original.number("message_key"), rules, now, is_early=True)


def _wait_for_message(tx: Transaction, inbound: Inbound) -> None:
    text, parts = pack(inbound.parts)
    values: dict[str, SqlValue] = {
        "text": text,
        "parts": parts,
        "at": stamp(inbound.at),
        "sender_id": outcome.sender_id(inbound),
    }
    tx.run("add_early_change", **outcome.identity(inbound), **values)


def _is_outdated(tx: Transaction, inbound: Inbound) -> bool:
    newest = expect(tx, "find_newest_change", **outcome.message_identity(inbound))
    version = newest.number_or_none("version")
    is_edit = inbound.kind is InboundKind.EDIT
    return is_edit and version is not None and inbound.version <= version


def _noted(tx: Transaction, inbound: Inbound, came: Outcome) -> Arrival:
    outcome.note(tx, inbound, came)
    return Arrival(outcome=came, session_id=None, turn_id=None)


def _apply(
    tx: Transaction, inbound: Inbound, message_key: int, rules: Rules, now: datetime
) -> Arrival:
    changed = _change_message(tx, inbound, message_key, rules, now)
    if changed is None:
        return _noted(tx, inbound, Outcome.IGNORED)
    chronicle, turn_id = changed
    outcome.note(
        tx,
        inbound,
        Outcome.CHANGED,
        session_key=chronicle.key,
        turn_id=turn_id,
        message_key=message_key,
    )
    return Arrival(outcome=Outcome.CHANGED, session_id=SessionId(chronicle.id), turn_id=turn_id)


def _change_message(
    tx: Transaction,
    inbound: Inbound,
    message_key: int,
    rules: Rules,
    now: datetime,
    *,
    is_early: bool = False,
) -> tuple[Chronicle, TurnId | None] | None:
    """Change a message under the lock of its session; None if it is gone, or was changed since."""
    before = tx.one("read_message", key=message_key)
    if before is None:
        return None  # It is being forgotten.
    session_key = before.number("session_key")
    with chronicle_of(tx, session_key, now) as chronicle:
        message = tx.one("read_message", key=message_key)
        if message is None:
            return None
        if message.number("session_key") != session_key:
            raise Conflict("The message just moved to another session", hint="Try again")
        if message["deleted_at"] is not None or (not is_early and _is_outdated(tx, inbound)):
            return None
        parts = None if inbound.kind is InboundKind.DELETION else inbound.parts
        rewrite(chronicle, message, parts)
        if message["seq"] is None:
            return chronicle, go_on_waiting(chronicle, message, is_gone=parts is None)
        return chronicle, _tell_agent(chronicle, message, inbound, rules)


def rewrite(chronicle: Chronicle, message: Row, said: tuple[Part, ...] | None) -> None:
    """Let a message say something else, or, with None, nothing any more."""
    key, now = message.number("key"), chronicle.at
    text, parts = ("", None) if said is None else pack(said)
    chronicle.tx.run(
        "add_revision",
        message_key=key,
        version=message.number("versions") + 1,
        text=message["text"],
        parts=message["parts"],
        # One that still waits is shown by no branch, and may yet move to another session.
        session_revision=0 if message["seq"] is None else chronicle.next_revision,
        now=now,
    )
    reindex(chronicle.tx, key, text)
    chronicle.tx.run(
        "change_message",
        key=key,
        text=text,
        parts=parts,
        deleted_at=now if said is None else None,
        now=now,
    )
    if said is not None:
        use_blobs(chronicle.tx, said, key)
    _retitle(chronicle, message.text("text"), text)
    chronicle.tell(EventKind.MESSAGE_CHANGED, message.number_or_none("seq"))


def _retitle(chronicle: Chronicle, old: str, new: str) -> None:
    """Let a title that was made of these words follow them, so that it keeps nothing deleted."""
    row = expect(chronicle.tx, "read_titled_by", key=chronicle.key)
    if row["titled_by"] != TitleSource.FIRST_WORDS or row["title"] != first_words(old):
        return
    title = first_words(new) or None
    chronicle.tx.run(
        "set_title",
        key=chronicle.key,
        title=title,
        titled_by=None if title is None else TitleSource.FIRST_WORDS,
    )
    chronicle.tell(EventKind.SESSION_CHANGED)


def go_on_waiting(chronicle: Chronicle, message: Row, *, is_gone: bool) -> TurnId | None:
    """A message that still waits simply runs with its new text, or not at all."""
    number = message.number_or_none("turn_id")
    if number is None or message["state"] != TurnState.QUEUED:
        return None
    turn_id = TurnId(number)
    is_alone = message["first_seq"] is None and message.number("companions") <= 1
    if is_gone and is_alone:
        why = "Its message was deleted."
        close_turn(chronicle, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, why)
    else:
        chronicle.tell(EventKind.TURN_QUEUED, turn_id)
    return turn_id


def _tell_agent(
    chronicle: Chronicle, message: Row, inbound: Inbound, rules: Rules
) -> TurnId | None:
    """The agent has seen the old text: it is told at its next turn, which may begin at once."""
    hidden = chronicle.tx.one(
        "find_hiding_cut", session_key=chronicle.key, seq=message.number("seq")
    )
    if hidden is not None:
        return None  # The agent must not hear of what was taken back.
    is_deletion = inbound.kind is InboundKind.DELETION
    told = deleted() if is_deletion else edited(plain_text(inbound.parts))
    turn_id = None
    is_last = message["turn_id"] is not None and message["turn_id"] == message["last_turn_id"]
    closed = ("ended_at", "suspended_at", "taken_at")
    is_open = all(chronicle.row[moment] is None for moment in closed)
    wants_rerun = inbound.kind is InboundKind.EDIT and rules.edits is EditMode.RERUN
    is_fresh = rules.is_fresh(unreached(chronicle.tx, inbound, chronicle.now))
    if is_last and is_open and wants_rerun and is_fresh:
        turn_id = _rerun(chronicle, message)
    chronicle.keep(told, turn_id)
    return turn_id


def _rerun(chronicle: Chronicle, message: Row) -> TurnId:
    old = TurnId(message.number("turn_id"))
    why = "Stopped, because its message was edited."
    close_turn(chronicle, old, TurnState.STOPPED, MarkerKind.STOPPED, why)
    return chronicle.queue_turn(message.number("address_key"))
