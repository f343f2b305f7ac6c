"""Reapply: what had been forgotten, and came back with an older backup."""

from collections.abc import Set as AbstractSet

from msgspec import Struct

from threadline.core.deletion import DeletionKind, ForgettingId, Seal
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp
from threadline.store.deletion import tasks

PAGE = 5_000


class _MarkedSession(Struct, frozen=True, kw_only=True):
    """A session that may have been forgotten."""

    key: int
    id: SessionId


class _MarkedSender(Struct, frozen=True, kw_only=True):
    """A sender who may have been forgotten."""

    key: int
    platform: str
    id: str


def list_marks(tx: Transaction, after: str) -> list[str]:
    """List a page of all tombstones, in their own order."""
    return tx.all("list_all_tombstones", str, after=after, most=PAGE)


def find_new_tombstones(tx: Transaction, marks: AbstractSet[str]) -> frozenset[str]:
    """Tell which tombstones are new here.

    What has an older one came back by itself since: somebody spoke again, and may stay.
    """
    return frozenset(mark for mark in marks if not tx.exists("find_tombstone", hash=mark))


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
    page = tx.all("list_session_marks", _MarkedSession, after=after, most=PAGE)
    found = [one.id for one in page if seal.mark("session", one.id) in marks]
    return found, page[-1].key if len(page) == PAGE else None


def find_people(
    tx: Transaction, marks: AbstractSet[str], after: int, *, seal: Seal
) -> tuple[list[Identity], int | None]:
    """Find the senders of a page that have one of these tombstones; and where the next begins."""
    page = tx.all("list_sender_marks", _MarkedSender, after=after, most=PAGE)
    found = [
        Identity(platform=one.platform, id=one.id)
        for one in page
        if seal.mark("sender", one.platform, one.id) in marks
    ]
    return found, page[-1].key if len(page) == PAGE else None
