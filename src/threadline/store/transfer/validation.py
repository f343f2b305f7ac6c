"""Validation: the lines of a file that is imported, each against all that stood before it."""

import hashlib
from collections.abc import AsyncIterable, AsyncIterator

from threadline.core.errors import Invalid
from threadline.core.export_format.codec import LINE_LIMIT, Record, decode
from threadline.core.export_format.file_records import (
    PIECE_BYTES,
    AttachmentChunk,
    Footer,
    Header,
    PortableProject,
    PortableSender,
    SenderReference,
)
from threadline.core.export_format.session_records import (
    PortableMessage,
    PortableSession,
    PortableTurn,
    PortableUsage,
)
from threadline.core.message import BlobHash
from threadline.core.session import SessionId
from threadline.store.blobs import BLOB_LIMIT

_ORDER = (PortableSender, PortableTurn, PortableMessage, PortableUsage)


async def split_lines(chunks: AsyncIterable[bytes]) -> AsyncIterator[tuple[int, bytes | None]]:
    """Number the lines of a file; None stands for one that is too long to be read."""
    rest, n, is_lost = b"", 0, False
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            n += 1
            is_fine = not is_lost and len(line) <= LINE_LIMIT
            yield n, line + b"\n" if is_fine else None
            is_lost = False
        if len(rest) > LINE_LIMIT:
            rest, is_lost = b"", True
    if rest or is_lost:
        yield n + 1, None if is_lost else rest


class UnitCheck:
    """Checks what belongs to one session."""

    def __init__(self, session: PortableSession) -> None:
        """Begin with the session itself."""
        self.session = session
        self.joints: list[tuple[int, int | None, int | None]] = []
        """Turns that steered or were answered by others: their number, and those of the others."""
        self._senders: set[SenderReference] = set()
        self._turns = 0
        self._seq = 0 if session.base is None else session.base.seq
        self._has_notes = False
        self._rank = 0

    def take(self, record: Record) -> None:
        """Check one record, or say what is wrong with it."""
        rank = _ORDER.index(type(record))
        if rank < self._rank:
            raise Invalid("The senders, turns, messages and usage of a session stand in this order")
        self._rank = rank
        match record:
            case PortableSender():
                self._take_sender(record)
            case PortableTurn():
                self._take_turn(record)
            case PortableMessage():
                self._take_message(record)
            case PortableUsage():
                self._require(record.turn, record.sender)
            case _:
                pass

    def _take_sender(self, sender: PortableSender) -> None:
        who = SenderReference(platform=sender.platform, id=sender.id)
        if who in self._senders:
            raise Invalid("This sender was named before")
        self._senders.add(who)

    def _take_turn(self, turn: PortableTurn) -> None:
        if turn.n != self._turns + 1:
            raise Invalid(f"turn.n is {turn.n}, and must be {self._turns + 1}")
        self._turns += 1
        if (turn.first_seq or 0) > self.session.last_seq:
            raise Invalid("turn.first_seq is after the last line of the session")
        if turn.steers is not None or turn.answered_by is not None:
            self.joints.append((turn.n, turn.steers, turn.answered_by))

    def _take_message(self, message: PortableMessage) -> None:
        self._require(message.turn, message.sender)
        if message.seq is None:
            self._has_notes = True
            return
        if self._has_notes or not self._seq < message.seq <= self.session.last_seq:
            raise Invalid(
                f"message.seq is {message.seq}, and must be above {self._seq}",
                hint=f"The last line of the session is {self.session.last_seq}",
            )
        self._seq = message.seq

    def _require(self, turn: int | None, sender: SenderReference | None) -> None:
        if turn is not None and not 1 <= turn <= self._turns:
            raise Invalid(f"Turn {turn} is not in this session")
        if sender is not None and sender not in self._senders:
            raise Invalid("The sender was not named after the session")

    def end(self) -> None:
        """Check what can be known only when everything was read."""
        if self.session.owner is not None and self.session.owner not in self._senders:
            raise Invalid("The owner was not named after the session", id=self.session.id)
        for n, *others in self.joints:
            if any(other is not None and not 1 <= other <= self._turns for other in others):
                raise Invalid(f"Turn {n} refers to one that is not there", id=self.session.id)


class BlobCheck:
    """Puts the pieces of an attachment together, and lets it pass only if its hash is right."""

    def __init__(self, first: AttachmentChunk) -> None:
        """Begin with the first piece."""
        if first.size > BLOB_LIMIT:
            raise Invalid(f"An attachment of {first.size:,} bytes is too large", id=first.hash)
        self.hash = first.hash
        self._size = first.size
        self._data = bytearray()
        self._n = 0

    def take(self, piece: AttachmentChunk) -> bytes | None:
        """Add a piece; answers the whole attachment after the last one."""
        if (piece.hash, piece.size, piece.n) != (self.hash, self._size, self._n):
            raise Invalid("The pieces of an attachment stand together, in order", id=piece.hash)
        self._n += 1
        self._data += piece.data
        if len(self._data) < self._size and len(piece.data) == PIECE_BYTES:
            return None
        if len(self._data) != self._size or len(piece.data) > PIECE_BYTES:
            raise Invalid("An attachment has another size than it says", id=piece.hash)
        if hashlib.sha256(self._data).hexdigest() != self.hash:
            raise Invalid("An attachment is not what its hash says", id=piece.hash)
        return bytes(self._data)


class FileCheck:
    """Checks a file from its header to its footer."""

    def __init__(self) -> None:
        """Wait for the header."""
        self.header: Header | None = None
        self.unit: UnitCheck | None = None
        self.has_ended = False
        self.counts = {"lines": 0, "sessions": 0, "messages": 0, "attachments": 0}
        self._blob: BlobCheck | None = None
        self._hash = hashlib.sha256()
        self._seen: set[SessionId] = set()
        # Whether lines were too long to be read, or could not be: then they cannot be counted.
        self._has_lost = self._has_unread = False

    def read(self, line: bytes | None) -> Record:
        """Read a line, whatever it means here, and count it."""
        if line is None:
            self._has_lost = self._has_unread = True
            raise Invalid(f"The line has more than {LINE_LIMIT:,} bytes")
        if self.has_ended:
            raise Invalid("Something stands after the footer")
        try:
            record = decode(line)
        except Invalid:
            self._hash.update(line)
            self._has_unread = True
            raise
        if isinstance(record, Footer):
            return record
        self._hash.update(line)
        self.counts["lines"] += 1
        self.counts["sessions"] += isinstance(record, PortableSession)
        self.counts["messages"] += isinstance(record, PortableMessage)
        self.counts["attachments"] += isinstance(record, AttachmentChunk) and record.n == 0
        return record

    def take(self, record: Record) -> bytes | None:
        """Check a record at its place; answers an attachment that is complete with it."""
        if (self.header is None) is not isinstance(record, Header):
            raise Invalid("A file begins with one header, and has no other")
        if self._blob is not None and not isinstance(record, AttachmentChunk):
            self._blob = None
            raise Invalid("The attachment before this line is not complete")
        match record:
            case Header():
                self.header = record
            case AttachmentChunk():
                return self._take_piece(record)
            case Footer():
                self._take_footer(record)
            case PortableProject():
                self.unit = None
            case PortableSession():
                self._take_session(record)
            case _:
                if self.unit is None:
                    raise Invalid("This line belongs to a session, and none stands before it")
                self.unit.take(record)
        return None

    def _take_piece(self, piece: AttachmentChunk) -> bytes | None:
        self.unit = None
        blob = self._blob or BlobCheck(piece)
        self._blob = None
        data = blob.take(piece)
        if data is None:
            self._blob = blob
        return data

    def _take_session(self, session: PortableSession) -> None:
        self.unit = None
        needed = (session.parent, None if session.base is None else session.base.session)
        for id in needed:
            if id is not None and id not in self._seen:
                raise Invalid("A session that this one refers to does not stand before it", id=id)
        if session.id in self._seen:
            raise Invalid("This session stands in the file twice", id=session.id)
        self._seen.add(session.id)
        self.unit = UnitCheck(session)

    def _take_footer(self, footer: Footer) -> None:
        self.has_ended = True
        self.unit = None
        if not self._has_lost and footer.sha256 != BlobHash(self._hash.hexdigest()):
            raise Invalid("The file is not as it was written: its hash differs")
        if not self._has_unread and any(
            getattr(footer, name) != count for name, count in self.counts.items()
        ):
            raise Invalid("The footer counts other lines than the file has")

    def end(self) -> None:
        """Refuse a file that was cut off."""
        if self.header is None:
            raise Invalid("The file is empty")
        if not self.has_ended:
            raise Invalid("The file ends before its footer", hint="It was cut off; get it again")


async def validate_file(chunks: AsyncIterable[bytes]) -> FileCheck:
    """Read a file from its beginning to its end without a store; a bad line is named."""
    check, n = FileCheck(), 0
    unit: UnitCheck | None = None
    try:
        async for n, line in split_lines(chunks):  # noqa: B007 - it is named when a line is bad
            check.take(check.read(line))
            if unit is not None and unit is not check.unit:
                unit.end()
            unit = check.unit
        check.end()
    except Invalid as error:
        raise Invalid(f"Line {n}: {error.message}", id=error.id, hint=error.hint) from error
    return check
