"""A session writer: everything one transaction does to one session, told in order."""

from collections.abc import Sequence
from datetime import datetime
from types import TracebackType
from typing import Self

from msgspec import Struct

from threadline.core.address import Kind
from threadline.core.errors import Conflict, NotFound, ReadOnly
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.message import Attachment, NewMessage, Part, Role, pack, quotes_of
from threadline.core.session import BusyMode, Cause, EndReason, Origin, SessionId, TitleSource
from threadline.core.turn import TurnId
from threadline.core.validation import checked_type
from threadline.database.port import SqlValue, Transaction, expect
from threadline.database.timestamps import stamp

NO_SESSION = 0


class SessionState(Struct, frozen=True, kw_only=True):
    """A session as it is when a verb begins."""

    key: int
    id: SessionId
    profile: str
    platform: str
    kind: Kind
    address_key: int
    sender_key: int | None
    root_key: int
    revision: int
    last_seq: int
    last_activity_at: datetime
    interruptions: int
    ended_at: datetime | None
    end_reason: EndReason | None
    suspended_at: datetime | None
    notice: Cause | None
    """Why it is new, if its people have to be told."""
    told_at: datetime | None
    taken_at: datetime | None
    origin: Origin
    title: str | None
    titled_by: TitleSource | None
    busy_mode: BusyMode | None
    summary: str | None

    @property
    def is_read_only(self) -> bool:
        """Whether it was imported, so that its transcript stays as it is."""
        return self.origin is Origin.IMPORT

    @property
    def is_open(self) -> bool:
        """Whether it goes on with the next message, unless its time is over."""
        return self.ended_at is None and self.suspended_at is None


class SessionWriter:
    """Hands out sequence numbers and revisions while it is open, and writes them down at its end.

    The session is locked for the transaction before its writer begins, so that numbers have no
    gaps; and every change gets its event, because a revision comes only with one.
    """

    def __init__(self, tx: Transaction, session: SessionState) -> None:
        """Go on where the session stands."""
        self.tx = tx
        self.session = session
        self.at = stamp(tx.now)
        self.key = session.key
        self.id = session.id
        self.last_seq = session.last_seq
        self.last_activity_at = session.last_activity_at
        self.interruptions = session.interruptions
        self.user_messages = 0
        """How many more of a person's messages are in sight than before."""
        self._revision = session.revision
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
        if self.last_activity_at == self.session.last_activity_at:
            self.tx.run("close_writer", **state)
        else:
            state["last_activity_at"] = stamp(self.last_activity_at)
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
        self.last_activity_at = max(self.last_activity_at, self.tx.now)

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
                key = expect(
                    self.tx,
                    "add_message",
                    int,
                    sender_key=None,
                    arrived_at=None,
                    platform_id=None,
                    reply_to=None,
                    **values,
                )
                use_parts(self.tx, message.parts, key)
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
        key = expect(
            self.tx,
            "add_message",
            int,
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
        use_parts(self.tx, message.parts, key)
        return key

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
        turn_id = expect(
            self.tx,
            "queue_turn",
            TurnId,
            session_key=self.key,
            address_key=address_key,
            steers=steers,
            written_at=stamp(inbound.at) if inbound is not None and is_late else None,
            asked_by=asked_by,
            now=self.at,
        )
        self.touch()
        self.tell(EventKind.TURN_QUEUED, turn_id)
        return turn_id


def write_session(tx: Transaction, id: SessionId) -> SessionWriter:
    """Lock a session and begin its writer."""
    session = tx.one("lock_session", SessionState, id=id)
    if session is None:
        raise NotFound("There is no such session", id=id)
    return SessionWriter(tx, session)


def write_session_by_key(tx: Transaction, key: int) -> SessionWriter:
    """Lock a session, of which another row told the key, and begin its writer."""
    session = tx.one("lock_session_by_key", SessionState, key=key)
    if session is None:
        raise NotFound("The session is gone", id=str(key))
    return SessionWriter(tx, session)


def is_being_deleted(tx: Transaction, key: int) -> bool:
    """Return whether a session is being forgotten. The caller holds the session's lock.

    A condition of the locking query itself would not do: PostgreSQL evaluates it on the state
    before it waited for the lock.
    """
    return tx.exists("find_doomed", subject=str(key))


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
    if writer.session.ended_at is not None:
        raise Conflict("The session has ended", id=writer.id, hint="Resume it first")
    return writer


def require_writable(writer: SessionWriter) -> SessionWriter:
    """Return a writer whose transcript may change; raise ReadOnly for an imported session."""
    if writer.session.is_read_only:
        raise ReadOnly(id=writer.id, hint="Branch it (/branch), and go on in the branch")
    return writer


def use_parts(tx: Transaction, parts: Sequence[Part], message_key: int) -> None:
    """Store what a message quotes and which blobs it needs; a blob must have been stored before."""
    for quote in quotes_of(parts):
        tx.run("add_quote", message_key=message_key, session_id=quote.session_id, seq=quote.seq)
    for part in parts:
        if isinstance(part, Attachment):
            if not tx.exists("find_blob", hash=part.blob):
                raise NotFound("An attachment was never stored", id=part.blob)
            tx.run("use_blob", hash=part.blob, message_key=message_key)
