"""Choices that belong to a session: its title, its summary, its model, its manners when busy."""

from datetime import datetime

from threadline.core.errors import Invalid
from threadline.core.event import EventKind
from threadline.core.session import ModelChoice, SessionId, TitleSource
from threadline.core.text import checked_text, checked_type, clean_title
from threadline.core.turn import BusyMode
from threadline.sessions.chronicle import open_chronicle
from threadline.storage.database import Transaction, expect

_RANK = {source: rank for rank, source in enumerate(TitleSource)}


def set_title(
    tx: Transaction, id: SessionId, title: str, *, source: TitleSource, now: datetime
) -> str:
    """Give a session a title; one that a person gave stays until a person gives another.

    Answers the title that the session has now.
    """
    cleaned = clean_title(checked_text(title, "title"))
    if not cleaned:
        raise Invalid("A title needs at least one visible character", id=id)
    with open_chronicle(tx, id, now) as chronicle:
        row = expect(tx, "read_titled_by", key=chronicle.key)
        given_by = row.text_or_none("titled_by")
        if given_by is not None and _RANK[TitleSource(given_by)] > _RANK[source]:
            return row.text("title")
        tx.run("set_title", key=chronicle.key, title=cleaned, titled_by=source)
        chronicle.tell(EventKind.SESSION_CHANGED)
    return cleaned


def set_summary(tx: Transaction, id: SessionId, summary: str, *, now: datetime) -> None:
    """Keep what a session was about, so that the one after it can be told."""
    checked_text(summary, "summary")
    with open_chronicle(tx, id, now) as chronicle:
        tx.run("set_summary", key=chronicle.key, summary=summary)
        chronicle.tell(EventKind.SESSION_CHANGED)


def choose_model(
    tx: Transaction, id: SessionId, choice: ModelChoice | None, *, now: datetime
) -> None:
    """Choose the model of a session; None leaves it to the configuration again."""
    if choice is not None:
        checked_type(choice, "model choice", ModelChoice)
    with open_chronicle(tx, id, now) as chronicle:
        tx.run(
            "set_model",
            key=chronicle.key,
            model=None if choice is None else choice.model,
            provider=None if choice is None else choice.provider,
            base_url=None if choice is None else choice.base_url,
        )
        chronicle.tell(EventKind.SESSION_CHANGED)


def set_busy_mode(tx: Transaction, id: SessionId, mode: BusyMode | None, *, now: datetime) -> None:
    """Choose what becomes of messages that arrive while a turn of this session runs."""
    with open_chronicle(tx, id, now) as chronicle:
        tx.run("set_busy_mode", key=chronicle.key, busy_mode=mode)
        chronicle.tell(EventKind.SESSION_CHANGED)
