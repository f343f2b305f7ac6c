"""Drafts: unsent words, kept for the device they were begun on.

They write no events: nobody but that device shows them, and it knows what was typed there.
"""

from threadline.core.draft import Draft, checked_draft
from threadline.core.session import SessionId
from threadline.database.port import Row, SqlValue, Transaction
from threadline.database.timestamps import stamp
from threadline.store.queries import LARGEST_PAGE, session_row

_NOT_THERE_YET = 0


def put_draft(
    tx: Transaction, device: str, text: str, *, id: SessionId | None, profile: str
) -> None:
    """Replace what a device has begun to write; nothing: it was sent, or thrown away."""
    where = _where(tx, device, id, profile)
    if checked_draft(text):
        tx.run("put_draft", **where, text=text, now=stamp(tx.now))
    else:
        tx.run("drop_draft", **where)


def read_draft(tx: Transaction, device: str, *, id: SessionId | None, profile: str) -> Draft | None:
    """Read what a device has begun to write in a session, or in the one that is not there yet."""
    row = tx.one("read_draft", **_where(tx, device, id, profile))
    return None if row is None else _draft_from(row)


def list_drafts(tx: Transaction, device: str, *, profile: str) -> list[Draft]:
    """List what a device has begun to write, the latest first."""
    rows = tx.all("list_drafts", profile=profile, device=device, most=LARGEST_PAGE)
    return [_draft_from(row) for row in rows]


def _where(tx: Transaction, device: str, id: SessionId | None, profile: str) -> dict[str, SqlValue]:
    """Answer the place of a draft; that of a session is in the session's own profile."""
    if id is None:
        return {"profile": profile, "device": device, "session_key": _NOT_THERE_YET}
    row = session_row(tx, id)
    return {"profile": row.text("profile"), "device": device, "session_key": row.number("key")}


def _draft_from(row: Row) -> Draft:
    id = row.text_or_none("session_id")
    return Draft(
        session_id=None if id is None else SessionId(id),
        text=row.text("text"),
        changed_at=row.moment("changed_at"),
    )
