"""Marks: how far somebody has read. What stands after a mark is unread."""

from datetime import datetime

from threadline.core.event import EventKind
from threadline.core.session import SessionId
from threadline.core.text import checked_count
from threadline.sessions.arrangement import Step
from threadline.sessions.chronicle import Chronicle, open_chronicle
from threadline.storage.database import Transaction


def mark_read(
    tx: Transaction, id: SessionId, *, reader: str, seq: int | None, now: datetime
) -> int:
    """Remember that somebody has read up to a line, or all; a mark never goes back by this.

    Answers where the mark stands now: no later than the last line.
    """
    wanted = None if seq is None else checked_count(seq, "sequence number")
    with open_chronicle(tx, id, now) as chronicle:
        end = chronicle.last_seq if wanted is None else min(wanted, chronicle.last_seq)
        before = _read(chronicle, reader)
        if end <= before:
            return before
        _put(chronicle, reader, end)
        chronicle.tell(EventKind.SESSION_CHANGED)
    return end


def read_by(reader: str) -> Step:
    """Remember that somebody has read a whole session."""

    def read(chronicle: Chronicle) -> bool:
        is_new = chronicle.last_seq > _read(chronicle, reader)
        if is_new:
            _put(chronicle, reader, chronicle.last_seq)
        return is_new

    return read


def mark_unread(
    tx: Transaction, id: SessionId, *, reader: str, seq: int | None, now: datetime
) -> int:
    """Let everything from a line on be unread again, or the last line; answer the mark."""
    wanted = None if seq is None else checked_count(seq, "sequence number", 1)
    with open_chronicle(tx, id, now) as chronicle:
        first = chronicle.last_seq if wanted is None else min(wanted, chronicle.last_seq)
        before, end = _read(chronicle, reader), max(first - 1, 0)
        if end >= before:
            return before
        _put(chronicle, reader, end)
        chronicle.tell(EventKind.SESSION_CHANGED)
    return end


def _read(chronicle: Chronicle, reader: str) -> int:
    row = chronicle.tx.one("read_mark", session_key=chronicle.key, reader=reader)
    return 0 if row is None else row.number("seq")


def _put(chronicle: Chronicle, reader: str, seq: int) -> None:
    chronicle.tx.run(
        "put_mark", session_key=chronicle.key, reader=reader, seq=seq, now=chronicle.at
    )
