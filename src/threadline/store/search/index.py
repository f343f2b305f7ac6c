"""The index: which words stand in which lines and titles. It follows behind what is said.

A line is in it if its place is not above its session's `indexed_seq`, and then exactly with the
text it has now: whoever changes or deletes such a line says so here first. Both happen under the
lock of the session, and so does the indexing, so that nothing is passed by.
"""

from collections.abc import Sequence

from msgspec import Struct

from threadline.database.port import Transaction, expect
from threadline.store.search.terms import grams_entry, owner_word, title_entry, words_entry

SLICE_LINES = 64
SLICE_SESSIONS = 16
"""So many sessions are held at a time while they are indexed; who speaks there waits for that."""
SLICE_CHARACTERS = 65_536
"""Lines longer than this are indexed one by one."""


class Owned(Struct, frozen=True, kw_only=True):
    """What belongs to a sender, or to everybody at an address."""

    key: int
    sender_key: int | None
    address_key: int

    @property
    def owner(self) -> str:
        """The word by which the index knows whose it is."""
        return owner_word(sender_key=self.sender_key, address_key=self.address_key)


class IndexedLine(Owned, frozen=True, kw_only=True):
    """A line that the index knows, or should know."""

    text: str


class _BehindSession(Owned, frozen=True, kw_only=True):
    """A session with lines or a title that the index does not know yet."""

    indexed_seq: int
    last_seq: int
    title: str | None
    indexed_title: str | None


class _TitledSession(Owned, frozen=True, kw_only=True):
    """What the index knows of the title of a session."""

    indexed_seq: int
    indexed_title: str | None


class _NewLine(Struct, frozen=True, kw_only=True):
    """A line that the index does not know yet."""

    key: int
    seq: int
    text: str


class _Backlog(Struct, frozen=True, kw_only=True):
    """How much the index does not know yet."""

    sessions: int
    lines: int


def index_some(tx: Transaction, *, most: int = SLICE_LINES) -> tuple[int, bool]:
    """Index a slice of what the index does not know yet; answer how much, and whether more waits.

    On PostgreSQL sessions that somebody is just writing to are left for later.
    """
    done, characters = 0, 0
    sessions = tx.all("list_unindexed", _BehindSession, most=min(most, SLICE_SESSIONS))
    is_more = len(sessions) == min(most, SLICE_SESSIONS)
    for session in sessions:
        if done >= most or characters >= SLICE_CHARACTERS:
            return done, True
        lines = _some_lines(tx, session, most - done)
        _index_lines(tx, [(line.key, line.text) for line in lines], session.owner)
        _index_title(tx, session)
        reached = lines[-1].seq if lines else session.last_seq
        tx.run("set_indexed", key=session.key, indexed_seq=reached, title=session.title)
        is_more = is_more or reached < session.last_seq
        done += len(lines) or 1
        characters += sum(len(line.text) for line in lines)
    return done, is_more


def _some_lines(tx: Transaction, session: _BehindSession, most: int) -> list[_NewLine]:
    lines = tx.all(
        "read_unindexed_lines",
        _NewLine,
        session_key=session.key,
        after=session.indexed_seq,
        most=most,
    )
    characters = 0
    for number, line in enumerate(lines):
        characters += len(line.text)
        if characters > SLICE_CHARACTERS:
            return lines[: max(number, 1)]
    return lines


def _index_lines(tx: Transaction, texts: Sequence[tuple[int, str]], owner: str) -> None:
    tx.run_many("add_words", [words_entry(key, text, owner) for key, text in texts])
    grams = [grams_entry(key, text, owner) for key, text in texts]
    tx.run_many("add_grams", [entry for entry in grams if entry is not None])


def _index_title(tx: Transaction, session: _BehindSession) -> None:
    title, known = session.title, session.indexed_title
    if title == known:
        return
    if known is not None:
        tx.run("drop_title_words", **title_entry(session.key, known, session.owner))
    if title is not None:
        tx.run("add_title_words", **title_entry(session.key, title, session.owner))


def reindex(tx: Transaction, message_key: int, new_text: str) -> None:
    """Let the index know a line by its new text. Call it before the line is changed."""
    line = unindex(tx, message_key)
    if line is not None:
        tx.run("add_words", **words_entry(message_key, new_text, line.owner))
        grams = grams_entry(message_key, new_text, line.owner)
        if grams is not None:
            tx.run("add_grams", **grams)


def index_line(tx: Transaction, message_key: int) -> None:
    """Let the index know a line that was put where it has been already; if it was not, it will."""
    line = tx.one("read_indexed_line", IndexedLine, key=message_key)
    if line is not None:
        _index_lines(tx, [(line.key, line.text)], line.owner)


def unindex(tx: Transaction, message_key: int) -> IndexedLine | None:
    """Take a line out of the index; None, if it is not there. Call it before the line is deleted.

    The session is locked by whoever calls this, and the line must not stay without its words.
    """
    line = tx.one("read_indexed_line", IndexedLine, key=message_key)
    if line is not None:
        tx.run("drop_words", **words_entry(message_key, line.text, line.owner))
        grams = grams_entry(message_key, line.text, line.owner)
        if grams is not None:
            tx.run("drop_grams", **grams)
    return line


def unindex_title(tx: Transaction, session_key: int) -> None:
    """Take a title out of the index. Call it before the session is deleted, under its lock."""
    session = expect(tx, "read_indexed_title", _TitledSession, key=session_key)
    if session.indexed_title is not None:
        entry = title_entry(session_key, session.indexed_title, session.owner)
        tx.run("drop_title_words", **entry)
        tx.run("set_indexed", key=session_key, indexed_seq=session.indexed_seq, title=None)


def count_waiting(tx: Transaction) -> int:
    """Tell how much is still to be indexed; what is more than a slice may be told as less."""
    waiting = expect(tx, "count_unindexed", _Backlog, most=SLICE_LINES + 1)
    return max(waiting.lines, waiting.sessions)
