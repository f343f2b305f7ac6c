"""A session writer: everything one transaction does to one session, told in order."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from threadline.core.errors import Conflict, NotFound, ReadOnly
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, NewMessage, Part, Role, pack, quotes_of
from threadline.core.session import Origin, SessionId
from threadline.core.turn import TurnId
from threadline.core.validation import checked_type
from threadline.database.port import Row, SqlValue, Transaction, expect
from threadline.database.timestamps import stamp

NO_SESSION = 0


class SessionWriter:
    """Hands out sequence numbers and revisions while it is open, and writes them down at its end.

    The session is locked for the transaction before its writer begins, so that numbers have no
    gaps; and every change gets its event, because a revision comes only with one.
    """

    def __init__(self, tx: Transaction, row: Row) -> None:
        """Go on where the session stands."""
        self.tx = tx
        self.row = row
        self.at = stamp(tx.now)
        self.key = row.number("key")
        self.id = SessionId(row.text("id"))
        self.last_seq = row.number("last_seq")
        self.last_activity_at = row.number("last_activity_at")
        self.interruptions = row.number("interruptions")
        self.user_messages = 0
        """How many more of a person's messages are in sight than before."""
        self._revision = row.number("revision")
        self._events: list[tuple[EventKind, int | None]] = []

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Write down how far the session has come, unless the verb failed."""
        if error is None and self._events:
            self._write()

    def _write(self) -> None:
        state: dict[str, SqlValue] = {
            "key": self.key,
            "revision": self._revision + len(self._events),
            "last_seq": self.last_seq,
            "interruptions": self.interruptions,
            "user_messages": self.user_messages,
        }
        # Apart, as a new activity costs a change in every index by which lists are sorted.
        if self.last_activity_at == self.row["last_activity_at"]:
            self.tx.run("close_writer", **state)
        else:
            state["last_activity_at"] = self.last_activity_at
            self.tx.run("close_active_writer", **state)
        for first in range(0, len(self._events), 2):
            self._add_events(first)

    def _add_events(self, first: int) -> None:
        """Add one event or two at once: each trip to a server counts."""
        kind, subject = self._events[first]
        event: dict[str, SqlValue] = {
            "kind": kind,
            "subject": subject,
            "session_key": self.key,
            "revision": self._revision + first + 1,
            "at": self.at,
        }
        if first + 1 == len(self._events):
            self.tx.run("add_event", **event)
        else:
            event["next_kind"], event["next_subject"] = self._events[first + 1]
            self.tx.run("add_two_events", **event)

    @property
    def next_revision(self) -> int:
        """The revision that the next event gets."""
        return self._revision + len(self._events) + 1

    def tell(self, kind: EventKind, subject: int | None = None) -> None:
        """Add a fact to the feed, with the session's next revision."""
        self._events.append((kind, subject))

    def touch(self) -> None:
        """Remember that something happened just now; a clock that went back changes nothing."""
        self.last_activity_at = max(self.last_activity_at, self.at)

    def add(self, messages: Sequence[NewMessage], turn_id: TurnId | None) -> None:
        """Put messages at the end of the transcript."""
        for message in messages:
            checked_type(message, "message", NewMessage)
            self.last_seq += 1
            self.user_messages += message.role is Role.USER
            text, parts = pack(message.parts)
            values: dict[str, SqlValue] = {
                "session_key": self.key,
                "seq": self.last_seq,
                "turn_id": turn_id,
                "role": message.role,
                "text": text,
                "parts": parts,
                "at": self.at,
            }
            if parts is None:
                self.tx.run("add_placed_message", **values)
            else:
                row = expect(
                    self.tx,
                    "add_message",
                    sender_key=None,
                    arrived_at=None,
                    platform_id=None,
                    reply_to=None,
                    **values,
                )
                use_parts(self.tx, message.parts, row.number("key"))
        if messages:
            self.tell(EventKind.MESSAGE_ADDED, self.last_seq)

    def keep(
        self,
        message: NewMessage,
        turn_id: TurnId | None,
        sender_key: int | None = None,
        *,
        inbound: Inbound | None = None,
        is_said_here: bool = True,
    ) -> int:
        """Store a message without a place until its turn begins; return its key.

        `inbound` is what brought it: the time of writing, and, if it was said in the session's own
        chat, the platform's ids of it and of the message that it replies to.
        """
        text, parts = pack(message.parts)
        is_late = inbound is not None and bool(inbound.lateness(self.tx.now))
        known = inbound if is_said_here else None
        row = expect(
            self.tx,
            "add_message",
            session_key=self.key,
            seq=None,
            turn_id=turn_id,
            role=message.role,
            sender_key=sender_key,
            text=text,
            parts=parts,
            at=self.at if inbound is None else stamp(min(inbound.at, self.tx.now)),
            arrived_at=self.at if is_late else None,
            platform_id=None if known is None else known.message_id,
            reply_to=None if known is None else known.reply_to,
        )
        use_parts(self.tx, message.parts, row.number("key"))
        return row.number("key")

    def queue_turn(
        self,
        address_key: int,
        steers: int | None = None,
        *,
        inbound: Inbound | None = None,
        asked_by: int | None = None,
    ) -> TurnId:
        """Queue a turn. If `inbound`, which asks for it, arrives late, it is as old as that.

        `asked_by` is the sender who pays for a turn that gets no message of its own.
        """
        is_late = inbound is not None and bool(inbound.lateness(self.tx.now))
        row = expect(
            self.tx,
            "queue_turn",
            session_key=self.key,
            address_key=address_key,
            steers=steers,
            written_at=stamp(inbound.at) if inbound is not None and is_late else None,
            asked_by=asked_by,
            now=self.at,
        )
        turn_id = TurnId(row.number("id"))
        self.touch()
        self.tell(EventKind.TURN_QUEUED, turn_id)
        return turn_id


def write_session(tx: Transaction, id: SessionId) -> SessionWriter:
    """Lock a session and begin its writer."""
    row = tx.one("lock_session", id=id)
    if row is None:
        raise NotFound("There is no such session", id=id)
    return SessionWriter(tx, row)


def write_session_by_key(tx: Transaction, key: int) -> SessionWriter:
    """Lock a session, of which another row told the key, and begin its writer."""
    row = tx.one("lock_session_by_key", key=key)
    if row is None:
        raise NotFound("The session is gone", id=str(key))
    return SessionWriter(tx, row)


def is_being_deleted(tx: Transaction, key: int) -> bool:
    """Return whether a session is being forgotten. The caller holds the session's lock.

    A condition of the locking query itself would not do: PostgreSQL evaluates it on the state
    before it waited for the lock.
    """
    return tx.one("find_doomed", subject=str(key)) is not None


def add_global_event(tx: Transaction, kind: EventKind, subject: int | None) -> None:
    """Add a fact to the feed that belongs to no session."""
    tx.run(
        "add_event",
        kind=kind,
        session_key=NO_SESSION,
        revision=0,
        subject=subject,
        at=stamp(tx.now),
    )


def require_open(writer: SessionWriter) -> SessionWriter:
    """Refuse to go on in a session that has ended."""
    if writer.row["ended_at"] is not None:
        raise Conflict("The session has ended", id=writer.id, hint="Resume it first")
    return writer


def require_writable(writer: SessionWriter) -> SessionWriter:
    """Return a writer whose transcript may change; raise ReadOnly for an imported session."""
    if is_read_only(writer.row):
        raise ReadOnly(id=writer.id, hint="Branch it (/branch), and go on in the branch")
    return writer


def is_read_only(session: Row) -> bool:
    """Whether a session was imported, so that its transcript stays as it is."""
    return session["origin"] == Origin.IMPORT


def use_parts(tx: Transaction, parts: Sequence[Part], message_key: int) -> None:
    """Store what a message quotes and which blobs it needs; a blob must have been stored before."""
    for quote in quotes_of(parts):
        tx.run("add_quote", message_key=message_key, session_id=quote.session_id, seq=quote.seq)
    for part in parts:
        if isinstance(part, Attachment):
            if tx.one("find_blob", hash=part.blob) is None:
                raise NotFound("An attachment was never stored", id=part.blob)
            tx.run("use_blob", hash=part.blob, message_key=message_key)
