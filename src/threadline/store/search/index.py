"""The index: which words stand in which lines and titles. It follows behind what is said.

A line is in it if its place is not above its session's `indexed_seq`, and then exactly with the
text it has now: whoever changes or deletes such a line says so here first. Both happen under the
lock of the session, and so does the indexing, so that nothing is passed by.
"""

from collections.abc import Sequence

from threadline.database.port import Row, Transaction, expect
from threadline.store.search.terms import grams_entry, owner_of, title_entry, words_entry

SLICE_LINES = 64
SLICE_SESSIONS = 16
"""So many sessions are held at a time while they are indexed; who speaks there waits for that."""
SLICE_CHARACTERS = 65_536
"""Lines longer than this are indexed one by one."""


def index_some(tx: Transaction, *, most: int = SLICE_LINES) -> tuple[int, bool]:
    """Index a slice of what the index does not know yet; answer how much, and whether more waits.

    On PostgreSQL sessions that somebody is just writing to are left for later.
    """
    done, characters = 0, 0
    sessions = tx.all("list_unindexed", most=min(most, SLICE_SESSIONS))
    is_more = len(sessions) == min(most, SLICE_SESSIONS)
    for session in sessions:
        if done >= most or characters >= SLICE_CHARACTERS:
            return done, True
        lines = _some_lines(tx, session, most - done)
        _index_lines(tx, lines, owner_of(session))
        _index_title(tx, session)
        reached = lines[-1].number("seq") if lines else session.number("last_seq")
        tx.run("set_indexed", key=session["key"], indexed_seq=reached, title=session["title"])
        is_more = is_more or reached < session.number("last_seq")
        done += len(lines) or 1
        characters += sum(len(line.text("text")) for line in lines)
    return done, is_more


def _some_lines(tx: Transaction, session: Row, most: int) -> list[Row]:
    rows = tx.all(
        "read_unindexed_lines",
        session_key=session["key"],
        after=session["indexed_seq"],
        most=most,
    )
    characters = 0
    for number, row in enumerate(rows):
        characters += len(row.text("text"))
        if characters > SLICE_CHARACTERS:
            return rows[: max(number, 1)]
    return rows


def _index_lines(tx: Transaction, lines: Sequence[Row], owner: str) -> None:
    texts = [(line.number("key"), line.text("text")) for line in lines]
    tx.run_many("add_words", [words_entry(key, text, owner) for key, text in texts])
    grams = [grams_entry(key, text, owner) for key, text in texts]
    tx.run_many("add_grams", [entry for entry in grams if entry is not None])


def _index_title(tx: Transaction, session: Row) -> None:
    title, known = session.text_or_none("title"), session.text_or_none("indexed_title")
    if title == known:
        return
    key, owner = session.number("key"), owner_of(session)
    if known is not None:
        tx.run("drop_title_words", **title_entry(key, known, owner))
    if title is not None:
        tx.run("add_title_words", **title_entry(key, title, owner))


def reindex(tx: Transaction, message_key: int, new_text: str) -> None:
    """Let the index know a line by its new text. Call it before the line is changed."""
    line = unindex(tx, message_key)
    if line is not None:
        owner = owner_of(line)
        tx.run("add_words", **words_entry(message_key, new_text, owner))
        grams = grams_entry(message_key, new_text, owner)
        if grams is not None:
            tx.run("add_grams", **grams)


def index_line(tx: Transaction, message_key: int) -> None:
    """Let the index know a line that was put where it has been already; if it was not, it will."""
    line = tx.one("read_indexed_line", key=message_key)
    if line is not None:
        _index_lines(tx, [line], owner_of(line))


def unindex(tx: Transaction, message_key: int) -> Row | None:
    """Take a line out of the index; None, if it is not there. Call it before the line is deleted.

    The session is locked by whoever calls this, and the line must not stay without its words.
    """
    line = tx.one("read_indexed_line", key=message_key)
    if line is not None:
        text, owner = line.text("text"), owner_of(line)
        tx.run("drop_words", **words_entry(message_key, text, owner))
        grams = grams_entry(message_key, text, owner)
        if grams is not None:
            tx.run("drop_grams", **grams)
    return line


def unindex_title(tx: Transaction, session_key: int) -> None:
    """Take a title out of the index. Call it before the session is deleted, under its lock."""
    session = expect(tx, "read_indexed_title", key=session_key)
    known = session.text_or_none("indexed_title")
    if known is not None:
        tx.run("drop_title_words", **title_entry(session_key, known, owner_of(session)))
        tx.run("set_indexed", key=session_key, indexed_seq=session["indexed_seq"], title=None)


def count_waiting(tx: Transaction) -> int:
    """Tell how much is still to be indexed; what is more than a slice may be told as less."""
    waiting = expect(tx, "count_unindexed", most=SLICE_LINES + 1)
    return max(waiting.number("lines"), waiting.number("sessions"))
