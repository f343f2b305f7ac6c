"""Titles that were made of what was said first: they never tell what cannot be seen any more."""

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from threadline.core.event import EventKind
from threadline.core.message import Message, Role
from threadline.core.session import TitleSource
from threadline.core.validation import first_words
from threadline.database.port import expect
from threadline.store.session_writer import SessionWriter
from threadline.store.transcripts.history import forwards
from threadline.store.transcripts.segments import layout_of

_LOOKED_AT = 200
"""Lines among which a title's words are looked for."""


class GivenTitle(Struct, frozen=True, kw_only=True):
    """The title of a session, and who gave it."""

    title: str | None
    titled_by: TitleSource | None


def follow_first_words(writer: SessionWriter) -> bool:
    """Take another title where the words of the present one are out of sight; tell whether so."""
    given = expect(writer.tx, "read_titled_by", GivenTitle, key=writer.key)
    if given.titled_by not in {None, TitleSource.FIRST_WORDS}:
        return False
    title, new = given.title, None
    for words in _candidates(writer):
        if words == title:
            return False
        new = new or words
    if new == title:
        return False
    source = None if new is None else TitleSource.FIRST_WORDS
    writer.tx.run("set_title", key=writer.key, title=new, titled_by=source)
    writer.tell(EventKind.SESSION_CHANGED)
    return True


def _candidates(writer: SessionWriter) -> Iterator[str]:
    """Answer the first words of what people said: in sight, or waiting for its turn."""
    layout = layout_of(writer.tx, writer.id)
    lines = forwards(writer.tx, layout, layout.hidden())
    for line in islice(lines, _LOOKED_AT):
        if line.role is Role.USER and line.deleted_at is None and (words := first_words(line.text)):
            yield words
    waiting = writer.tx.all(
        "list_waiting_messages", Message, session_key=writer.key, session_id=writer.id
    )
    for line in waiting:
        if words := first_words(line.text):
            yield words
