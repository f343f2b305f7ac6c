"""Drafts: unsent words, kept for the device they were begun on.

They write no events: nobody but that device shows them, and it knows what was typed there.
"""

from threadline.core.draft import Draft, checked_draft
from threadline.core.session import SessionId
from threadline.database.port import SqlValue, Transaction
from threadline.database.timestamps import stamp
from threadline.store.queries import LARGEST_PAGE, session_state

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
    return tx.one("read_draft", Draft, **_where(tx, device, id, profile))


def list_drafts(tx: Transaction, device: str, *, profile: str) -> list[Draft]:
    """List what a device has begun to write, the latest first."""
    return tx.all("list_drafts", Draft, profile=profile, device=device, most=LARGEST_PAGE)


def _where(tx: Transaction, device: str, id: SessionId | None, profile: str) -> dict[str, SqlValue]:
    """Answer the place of a draft; that of a session is in the session's own profile."""
    if id is None:
        return {"profile": profile, "device": device, "session_key": _NOT_THERE_YET}
    session = session_state(tx, id)
    return {"profile": session.profile, "device": device, "session_key": session.key}
