"""Notes for the agent that quote something: found by what they quote, never by their words."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from threadline.core.event import EventKind
from threadline.core.message import Part, pack, with_sessions
from threadline.core.session import SessionId
from threadline.database.port import Transaction
from threadline.store.search.index import reindex, unindex
from threadline.store.session_writer import SessionWriter, use_parts

WHOLE = 0
"""In the place of a sequence number: the session as a whole, as a summary quotes it."""
_ALL = 2**31


class QuotingNote(Struct, frozen=True, kw_only=True):
    """A note that quotes something, as a row."""

    key: int
    session_key: int
    seq: int | None
    """None: it was not given to the agent yet."""
    parts: tuple[Part, ...]


def list_notes(
    tx: Transaction,
    session_id: SessionId,
    seq: int | None = None,
    *,
    within: int | None = None,
    most: int = _ALL,
) -> list[QuotingNote]:
    """List the notes that quote a session, or one message of it; `within` is a session's key."""
    return tx.all(
        "list_notes", QuotingNote, session_id=session_id, seq=seq, within=within, most=most
    )


def empty_notes(writer: SessionWriter, notes: Sequence[QuotingNote]) -> None:
    """Leave of these notes of a session only their places; one that has none yet is deleted."""
    for note in notes:
        if note.seq is None:
            drop_note(writer, note.key)
            continue
        reindex(writer.tx, note.key, "")
        writer.tx.run("drop_quotes", message_key=note.key)
        writer.tx.run("drop_revisions", message_key=note.key)
        writer.tx.run("empty_message", key=note.key, now=writer.at)
        writer.tell(EventKind.MESSAGE_CHANGED, note.seq)


def rename_quoted(tx: Transaction, key: int, ids: Mapping[SessionId, SessionId]) -> None:
    """Let the notes of a session refer to sessions by their new ids, where these have one."""
    for old in tx.all("list_quoted_sessions", SessionId, session_key=key):
        if ids.get(old, old) == old:
            continue
        for note in list_notes(tx, old, within=key):
            parts = with_sessions(note.parts, ids)
            tx.run("drop_quotes", message_key=note.key)
            tx.run("set_parts", key=note.key, parts=pack(parts)[1])
            use_parts(tx, parts, note.key)


def drop_waiting_notes(writer: SessionWriter, from_seq: int) -> None:
    """Delete the notes about lines from a place on that the agent was not given yet."""
    tx, own = writer.tx, writer.id
    for key in tx.all(
        "list_waiting_notes", int, session_id=own, session_key=writer.key, from_seq=from_seq
    ):
        drop_note(writer, key)


def drop_note(writer: SessionWriter, key: int) -> None:
    """Delete a note that has no place in the transcript yet."""
    unindex(writer.tx, key)
    writer.tx.run("drop_quotes", message_key=key)
    writer.tx.run("drop_message", key=key)


def drop_retellings(writer: SessionWriter, spoken_in: int, reach: int) -> None:
    """Delete what an agent or a summary may repeat of emptied lines, up to a place of a session."""
    tx, key = writer.tx, writer.key
    tx.run("drop_summary", key=key)
    tx.run("drop_memory", key=key)
    tx.exists("drop_covering_summaries", session_key=key, spoken_in=spoken_in, reach=reach)
