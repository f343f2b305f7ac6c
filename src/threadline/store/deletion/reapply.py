"""Reapply: what had been forgotten, and came back with an older backup."""

from collections.abc import Set as AbstractSet

from threadline.core.deletion import DeletionKind, ForgettingId, Seal
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.deletion import tasks

PAGE = 5_000


def list_marks(tx: Transaction, after: str) -> list[str]:
    """List a page of all tombstones, in their own order."""
    return [row.text("hash") for row in tx.all("list_all_tombstones", after=after, most=PAGE)]


def find_new_tombstones(tx: Transaction, marks: AbstractSet[str]) -> frozenset[str]:
    """Tell which tombstones are new here.

    What has an older one came back by itself since: somebody spoke again, and may stay.
    """
    return frozenset(mark for mark in marks if tx.one("find_tombstone", hash=mark) is None)


def keep_marks(
    tx: Transaction, marks: AbstractSet[str], under: ForgettingId | None
) -> ForgettingId:
    """Take over tombstones from another store."""
    id = tasks.record_deletion(tx, DeletionKind.SESSION, ()) if under is None else under
    for mark in sorted(marks):
        tx.run("add_tombstone", hash=mark, forgetting_id=id, now=stamp(tx.now))
    return id


def find_sessions(
    tx: Transaction, marks: AbstractSet[str], after: int, *, seal: Seal
) -> tuple[list[SessionId], int | None]:
    """Find the sessions of a page that have one of these tombstones; and where the next begins."""
    rows = tx.all("list_session_marks", after=after, most=PAGE)
    ids = [row.text("id") for row in rows]
    found = [SessionId(id) for id in ids if seal.mark("session", id) in marks]
    return found, rows[-1].number("key") if len(rows) == PAGE else None


def find_people(
    tx: Transaction, marks: AbstractSet[str], after: int, *, seal: Seal
) -> tuple[list[Identity], int | None]:
    """Find the senders of a page that have one of these tombstones; and where the next begins."""
    rows = tx.all("list_sender_marks", after=after, most=PAGE)
    names = [(row.text("platform"), row.text("id")) for row in rows]
    found = [
        Identity(platform=platform, id=id)
        for platform, id in names
        if seal.mark("sender", platform, id) in marks
    ]
    return found, rows[-1].number("key") if len(rows) == PAGE else None
