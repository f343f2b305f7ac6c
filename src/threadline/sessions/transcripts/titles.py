"""Titles that were made of what was said first: they never tell what cannot be seen any more."""

from collections.abc import Iterator
from itertools import islice

from threadline.core.event import EventKind
from threadline.core.message import Role
from threadline.core.session import TitleSource
from threadline.core.text import first_words
from threadline.sessions.chronicle import Chronicle
from threadline.sessions.transcripts.layout import layout_of
from threadline.sessions.transcripts.lines import forwards
from threadline.storage.database import expect

_LOOKED_AT = 200
"""Lines among which a title's words are looked for."""


def follow_first_words(chronicle: Chronicle) -> bool:
    """Take another title where the words of the present one are out of sight; tell whether so."""
    row = expect(chronicle.tx, "read_titled_by", key=chronicle.key)
    if row["titled_by"] not in {None, TitleSource.FIRST_WORDS}:
        return False
    title, new = row.text_or_none("title"), None
    for words in _candidates(chronicle):
        if words == title:
            return False
        new = new or words
    if new == title:
        return False
    source = None if new is None else TitleSource.FIRST_WORDS
    chronicle.tx.run("set_title", key=chronicle.key, title=new, titled_by=source)
    chronicle.tell(EventKind.SESSION_CHANGED)
    return True


def _candidates(chronicle: Chronicle) -> Iterator[str]:
    """Answer the first words of what people said: in sight, or waiting for its turn."""
    layout = layout_of(chronicle.tx, chronicle.id)
    lines = forwards(chronicle.tx, layout, layout.hidden())
    for line in islice(lines, _LOOKED_AT):
        if line.role is Role.USER and line.deleted_at is None and (words := first_words(line.text)):
            yield words
    for row in chronicle.tx.all("list_waiting_messages", session_key=chronicle.key):
        if words := first_words(row.text("text")):
            yield words
