"""Read marks: how far somebody has read. What stands after a mark is unread."""

from threadline.core.event import EventKind
from threadline.core.session import SessionId
from threadline.core.validation import checked_count
from threadline.database.port import Transaction
from threadline.store.session_writer import SessionWriter, write_session
from threadline.store.sessions.pins import Step


def mark_read(tx: Transaction, id: SessionId, *, reader: str, seq: int | None) -> int:
    """Remember that somebody has read up to a line, or all; a mark never goes back by this.

    Answers where the mark stands now: no later than the last line.
    """
    wanted = None if seq is None else checked_count(seq, "sequence number")
    with write_session(tx, id) as writer:
        end = writer.last_seq if wanted is None else min(wanted, writer.last_seq)
        before = _read(writer, reader)
        if end <= before:
            return before
        _put(writer, reader, end)
        writer.tell(EventKind.SESSION_CHANGED)
    return end


def read_by(reader: str) -> Step:
    """Remember that somebody has read a whole session."""

    def read(writer: SessionWriter) -> bool:
        is_new = writer.last_seq > _read(writer, reader)
        if is_new:
            _put(writer, reader, writer.last_seq)
        return is_new

    return read


def mark_unread(tx: Transaction, id: SessionId, *, reader: str, seq: int | None) -> int:
    """Let everything from a line on be unread again, or the last line; answer the mark."""
    wanted = None if seq is None else checked_count(seq, "sequence number", 1)
    with write_session(tx, id) as writer:
        first = writer.last_seq if wanted is None else min(wanted, writer.last_seq)
        before, end = _read(writer, reader), max(first - 1, 0)
        if end >= before:
            return before
        _put(writer, reader, end)
        writer.tell(EventKind.SESSION_CHANGED)
    return end


def _read(writer: SessionWriter, reader: str) -> int:
    return writer.tx.one("read_mark", int, session_key=writer.key, reader=reader) or 0


def _put(writer: SessionWriter, reader: str, seq: int) -> None:
    writer.tx.run("put_mark", session_key=writer.key, reader=reader, seq=seq, now=writer.at)
