"""Notes for the agent that quote something: found by what they quote, never by their words."""

from collections.abc import Mapping, Sequence

from threadline.core.event import EventKind
from threadline.core.message import pack, unpack, with_sessions
from threadline.core.session import SessionId
from threadline.database.port import Row, Transaction
from threadline.store.search.index import reindex, unindex
from threadline.store.session_writer import SessionWriter, use_parts

WHOLE = 0
"""In the place of a sequence number: the session as a whole, as a summary quotes it."""
_ALL = 2**31


def list_notes(
    tx: Transaction,
    session_id: SessionId,
    seq: int | None = None,
    *,
    within: int | None = None,
    most: int = _ALL,
) -> list[Row]:
    """List the notes that quote a session, or one message of it; `within` is a session's key."""
    return tx.all("list_notes", session_id=session_id, seq=seq, within=within, most=most)


def empty_notes(writer: SessionWriter, notes: Sequence[Row]) -> None:
    """Leave of these notes of a session only their places; one that has none yet is deleted."""
    for note in notes:
        key = note.number("key")
        if note["seq"] is None:
            drop_note(writer, key)
            continue
        reindex(writer.tx, key, "")
        writer.tx.run("drop_quotes", message_key=key)
        writer.tx.run("drop_revisions", message_key=key)
        writer.tx.run("empty_message", key=key, now=writer.at)
        writer.tell(EventKind.MESSAGE_CHANGED, note.number("seq"))


def rename_quoted(tx: Transaction, key: int, ids: Mapping[SessionId, SessionId]) -> None:
    """Let the notes of a session refer to sessions by their new ids, where these have one."""
    for row in tx.all("list_quoted_sessions", session_key=key):
        old = SessionId(row.text("session_id"))
        if ids.get(old, old) == old:
            continue
        for note in list_notes(tx, old, within=key):
            parts = with_sessions(unpack(note.text("text"), note.text_or_none("parts")), ids)
            tx.run("drop_quotes", message_key=note.number("key"))
            tx.run("set_parts", key=note.number("key"), parts=pack(parts)[1])
            use_parts(tx, parts, note.number("key"))


def drop_waiting_notes(writer: SessionWriter, from_seq: int) -> None:
    """Delete the notes about lines from a place on that the agent was not given yet."""
    tx, own = writer.tx, writer.id
    for note in tx.all(
        "list_waiting_notes", session_id=own, session_key=writer.key, from_seq=from_seq
    ):
        drop_note(writer, note.number("key"))


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
    tx.all("drop_covering_summaries", session_key=key, spoken_in=spoken_in, reach=reach)
