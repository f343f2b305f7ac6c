"""Edits: edits and deletions of messages that arrived before, or are still to arrive."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.command import without_command
from threadline.core.delivery import LOCAL
from threadline.core.errors import Conflict, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import (
    MarkerKind,
    Message,
    MessageKey,
    Part,
    Quote,
    pack,
    plain_text,
)
from threadline.core.revision import Seen, require_seen
from threadline.core.session import SessionId, TitleSource
from threadline.core.settings import EditMode
from threadline.core.system_notes import deleted, edited
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import first_words
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.gateways import unreachable_time
from threadline.store.inbound import deduplication
from threadline.store.inbound.deduplication import Arrival, InboundOutcome, KnownArrival
from threadline.store.inbound.observations import change_observation
from threadline.store.people.aliases import ids_like
from threadline.store.search.index import reindex
from threadline.store.session_writer import (
    SessionWriter,
    use_parts,
    write_session,
    write_session_by_key,
)
from threadline.store.transcripts.notes import QuotingNote, drop_note, list_notes
from threadline.store.transcripts.titles import GivenTitle
from threadline.store.turns import stop_and_wait
from threadline.store.turns.terminate import close_turn


class StoredMessage(Struct, frozen=True, kw_only=True):
    """A message as it is stored, and what an edit must know of its turn."""

    key: MessageKey
    session_key: int
    seq: int | None
    turn_id: TurnId | None
    text: str
    parts: str | None
    deleted_at: datetime | None
    state: TurnState | None
    """That of its turn."""
    first_seq: int | None
    sender_key: int | None
    versions: int
    last_turn_id: TurnId | None
    """The last turn of its session."""
    companions: int
    """How many messages wait for the same turn, itself included."""


class _NotePlace(Struct, frozen=True, kw_only=True):
    """A session with notes that quote a message, and how they name it."""

    session_id: SessionId
    seq: int
    session_key: int


def apply_edit(tx: Transaction, inbound: Inbound) -> Arrival:
    """Let an earlier message read differently, or be gone; keep what it said as a revision."""
    if inbound.kind is InboundKind.EDIT:
        inbound = replace(inbound, parts=without_command(inbound.parts))
    before = deduplication.settled_outcome(tx, inbound, deduplication.find_earlier(tx, inbound))
    if before is not None:
        return before
    original = deduplication.find_message(tx, inbound)
    if original is None:
        _wait_for_message(tx, inbound)
        return _noted(tx, inbound, InboundOutcome.EARLY)
    if _is_forged(tx, inbound, original):
        return _noted(tx, inbound, InboundOutcome.IGNORED)
    if original.outcome is InboundOutcome.OBSERVED and original.message_key is None:
        if _is_outdated(tx, inbound):
            return _noted(tx, inbound, InboundOutcome.IGNORED)
        change_observation(tx, inbound)
        return _noted(tx, inbound, InboundOutcome.CHANGED)
    if original.message_key is None:
        return _noted(tx, inbound, InboundOutcome.IGNORED)
    return _apply(tx, inbound, original.message_key)


def apply_early(tx: Transaction, message: Inbound) -> None:
    """Apply the edits and deletions that came before their message."""
    original = deduplication.find_message(tx, message)
    for change in deduplication.take_early(tx, message):
        early = Inbound(
            address=message.address,
            sender=message.sender,
            kind=change.kind,
            message_id=message.message_id,
            version=change.version,
            parts=change.parts,
            at=change.at,
            profile=message.profile,
        )
        if original is not None and original.message_key is not None:
            _change_message(tx, early, original.message_key, is_early=True)


def _wait_for_message(tx: Transaction, inbound: Inbound) -> None:
    text, parts = pack(inbound.parts)
    values: dict[str, SqlValue] = {
        "text": text,
        "parts": parts,
        "at": stamp(inbound.at),
        "sender_id": deduplication.sender_id(inbound),
    }
    tx.run("add_early_change", **deduplication.inbound_identity(inbound), **values)


def _is_forged(tx: Transaction, inbound: Inbound, original: KnownArrival) -> bool:
    """Return whether a sender edits the message of another one. Deleting it may be moderation."""
    editor = deduplication.sender_id(inbound)
    if inbound.kind is not InboundKind.EDIT or editor is None:
        return False
    author = tx.one(
        "find_author",
        str,
        message_key=original.message_key,
        **deduplication.message_identity(inbound),
    )
    if author is None:
        return False
    return editor not in ids_like(tx, inbound.address.platform, [author])


def _is_outdated(tx: Transaction, inbound: Inbound) -> bool:
    version = tx.one("find_newest_change", int, **deduplication.message_identity(inbound))
    is_edit = inbound.kind is InboundKind.EDIT
    return is_edit and version is not None and inbound.version <= version


def _noted(tx: Transaction, inbound: Inbound, came: InboundOutcome) -> Arrival:
    deduplication.record_outcome(tx, inbound, came)
    return Arrival(outcome=came, session_id=None, turn_id=None)


def _apply(tx: Transaction, inbound: Inbound, message_key: int) -> Arrival:
    changed = _change_message(tx, inbound, message_key)
    if changed is None:
        return _noted(tx, inbound, InboundOutcome.IGNORED)
    writer, turn_id = changed
    deduplication.record_outcome(
        tx,
        inbound,
        InboundOutcome.CHANGED,
        session_key=writer.key,
        turn_id=turn_id,
        message_key=message_key,
    )
    return Arrival(outcome=InboundOutcome.CHANGED, session_id=SessionId(writer.id), turn_id=turn_id)


def _change_message(
    tx: Transaction, inbound: Inbound, message_key: int, *, is_early: bool = False
) -> tuple[SessionWriter, TurnId | None] | None:
    """Change a message under the lock of its session; None if it is gone, or was changed since."""
    before = tx.one("read_message", StoredMessage, key=message_key)
    if before is None:
        return None  # It is being forgotten.
    session_key = before.session_key
    is_deletion = inbound.kind is InboundKind.DELETION
    quoting = _lock_quoting(tx, message_key, session_key) if is_deletion else ()
    with write_session_by_key(tx, session_key) as writer:
        message = tx.one("read_message", StoredMessage, key=message_key)
        if message is None:
            return None
        if message.session_key != session_key:
            raise Conflict("The message just moved to another session", hint="Try again")
        if message.deleted_at is not None or (not is_early and _is_outdated(tx, inbound)):
            return None
        parts = None if is_deletion else inbound.parts
        rewrite(writer, message, parts)
        for key in quoting:
            _delete_quoting(writer, message, key)
        if message.seq is None:
            return writer, go_on_waiting(writer, message, is_gone=parts is None)
        return writer, _tell_agent(writer, message, message.seq, inbound)


def _lock_quoting(tx: Transaction, message_key: int, session_key: int) -> list[int]:
    """Lock a message's session and those with notes that quote it, in the order of their keys."""
    notes = tx.all("list_notes_on", _NotePlace, message_key=message_key)
    quoting = {note.session_key for note in notes}
    for key in sorted({session_key, *quoting}) if quoting else ():
        tx.exists("lock_session_by_key", key=key)
    return sorted(quoting)


def _delete_quoting(writer: SessionWriter, message: StoredMessage, key: int) -> None:
    """Delete the notes of a session that quote a message, as the message itself is deleted."""
    notes = list_notes(writer.tx, writer.id, message.seq, within=key)
    if key == writer.key:
        _delete_notes(writer, notes)
    elif notes:
        with write_session_by_key(writer.tx, key) as other:
            _delete_notes(other, notes)


def _delete_notes(writer: SessionWriter, notes: Sequence[QuotingNote]) -> None:
    """Keep what placed notes said as revisions, so that branches still show what they showed."""
    for note in notes:
        if note.seq is None:
            drop_note(writer, note.key)
        else:
            rewrite(writer, expect(writer.tx, "read_message", StoredMessage, key=note.key), None)


def rewrite(writer: SessionWriter, message: StoredMessage, said: tuple[Part, ...] | None) -> None:
    """Let a message say something else, or, with None, nothing any more."""
    key, now = message.key, writer.at
    text, parts = ("", None) if said is None else pack(said)
    writer.tx.run(
        "add_revision",
        message_key=key,
        version=message.versions + 1,
        text=message.text,
        parts=message.parts,
        # One that still waits is shown by no branch, and may yet move to another session.
        session_revision=0 if message.seq is None else writer.next_revision,
        now=now,
    )
    reindex(writer.tx, key, text)
    writer.tx.run(
        "change_message",
        key=key,
        text=text,
        parts=parts,
        deleted_at=now if said is None else None,
        now=now,
    )
    if said is not None:
        use_parts(writer.tx, said, key)
    _retitle(writer, message.text, text)
    writer.tell(EventKind.MESSAGE_CHANGED, message.seq)


def _retitle(writer: SessionWriter, old: str, new: str) -> None:
    """Let a title that was made of these words follow them, so that it keeps nothing deleted."""
    given = expect(writer.tx, "read_titled_by", GivenTitle, key=writer.key)
    if given.titled_by is not TitleSource.FIRST_WORDS or given.title != first_words(old):
        return
    title = first_words(new) or None
    writer.tx.run(
        "set_title",
        key=writer.key,
        title=title,
        titled_by=None if title is None else TitleSource.FIRST_WORDS,
    )
    writer.tell(EventKind.SESSION_CHANGED)


def go_on_waiting(writer: SessionWriter, message: StoredMessage, *, is_gone: bool) -> TurnId | None:
    """A message that still waits simply runs with its new text, or not at all."""
    turn_id = message.turn_id
    if turn_id is None or message.state is not TurnState.QUEUED:
        return None
    is_alone = message.first_seq is None and message.companions <= 1
    if is_gone and is_alone:
        why = "Its message was deleted."
        close_turn(writer, turn_id, TurnState.STOPPED, MarkerKind.STOPPED, why)
    else:
        writer.tell(EventKind.TURN_QUEUED, turn_id)
    return turn_id


def _tell_agent(
    writer: SessionWriter, message: StoredMessage, seq: int, inbound: Inbound
) -> TurnId | None:
    """The agent has seen the old text: it is told at its next turn, which may begin at once."""
    if writer.tx.exists("find_hiding_cut", session_key=writer.key, seq=seq):
        return None  # The agent must not hear of what was taken back.
    is_deletion = inbound.kind is InboundKind.DELETION
    quote = Quote(session_id=writer.id, seq=seq)
    told = deleted(quote) if is_deletion else edited(plain_text(inbound.parts), quote)
    turn_id = None
    answered = message.turn_id if message.turn_id == message.last_turn_id else None
    is_open = writer.session.is_open and writer.session.taken_at is None
    wants_rerun = inbound.kind is InboundKind.EDIT and writer.tx.settings.edits is EditMode.RERUN
    is_fresh = writer.tx.settings.is_fresh(unreachable_time(writer.tx, inbound))
    if answered is not None and is_open and wants_rerun and is_fresh:
        turn_id = _rerun(writer, message, answered)
    writer.keep(told, turn_id)
    return turn_id


def _rerun(writer: SessionWriter, message: StoredMessage, old: TurnId) -> TurnId:
    why = "Stopped, because its message was edited."
    close_turn(writer, old, TurnState.STOPPED, MarkerKind.STOPPED, why)
    address_key = expect(writer.tx, "read_turn_address_key", int, id=old)
    return writer.queue_turn(address_key, asked_by=message.sender_key)


def change_queued(
    tx: Transaction,
    id: SessionId,
    key: MessageKey,
    parts: tuple[Part, ...],
    *,
    sender_id: str,
    seen: Seen | None = None,
) -> Message:
    """Let a message that waits read differently, if its turn has not begun meanwhile.

    Nobody puts words into somebody else's mouth: whoever asks must have said it, here.
    """
    with write_session(tx, id) as writer:
        waiting = _queued(writer, key)
        if not _is_own(writer, key, sender_id):
            raise Refused("Only whoever said it here can change it", id=str(key))
        require_seen(waiting.revision, seen, str(key))
        message = expect(tx, "read_message", StoredMessage, key=key)
        rewrite(writer, message, without_command(parts))
        go_on_waiting(writer, message, is_gone=False)
        return _queued(writer, key)


def take_back(tx: Transaction, id: SessionId, key: MessageKey, *, sender_id: str) -> TurnId | None:
    """Let a message that waits never be answered, if its turn has not begun meanwhile.

    One's own words go. What others said stays, and the turn that would answer it is stopped.
    Answers the turn that never runs; None: others said something, too, that it answers.
    """
    with write_session(tx, id) as writer:
        turn_id = _queued(writer, key).turn_id
        is_own = _is_own(writer, key, sender_id)
        message = expect(tx, "read_message", StoredMessage, key=key)
        if is_own:
            rewrite(writer, message, None)
            go_on_waiting(writer, message, is_gone=True)
    if turn_id is None:
        return None
    if not is_own:
        stop_and_wait.stop(tx, turn_id)
    state = tx.one("read_turn_state", TurnState, id=turn_id)
    return turn_id if state is TurnState.STOPPED else None


def _queued(writer: SessionWriter, key: MessageKey) -> Message:
    """Find a message that nobody has begun to answer, and cannot while its session is locked."""
    waiting = writer.tx.all(
        "list_waiting_messages", Message, session_key=writer.key, session_id=writer.id
    )
    for message in waiting:
        if message.key == key:
            return message
    known = writer.tx.one("read_message", StoredMessage, key=key)
    if known is None or known.session_key != writer.key or known.deleted_at is not None:
        raise NotFound("No such message is waiting here", id=str(key))
    hint = "Send a correction, or stop the turn"
    raise Conflict("This message is no longer waiting", id=str(key), hint=hint)


def _is_own(writer: SessionWriter, key: MessageKey, sender_id: str) -> bool:
    """Return whether a sender wrote a waiting message here, and not on a platform."""
    return writer.tx.exists("find_own_waiting", key=key, platform=LOCAL, sender_id=sender_id)
