"""Allowances: tools that an agent may use without asking, because somebody gave leave before."""

from collections.abc import Iterable
from datetime import datetime

from threadline.core.account import Actor
from threadline.core.approval import Allowance, AllowanceKey
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.sessions.audit import note_audit
from threadline.sessions.chronicle import NO_SESSION, chronicle_of, tell_apart
from threadline.storage.database import Row, Transaction
from threadline.storage.moments import stamp


def allow(
    tx: Transaction,
    tools: Iterable[str],
    *,
    profile: str,
    session_key: int | None,
    sender_key: int | None,
    now: datetime,
) -> None:
    """Give leave for tools in one session or, without one, in every session of a profile.

    What was given before stays with whoever gave it.
    """
    # In one order, so that of two who give leave at once neither waits for the other.
    for tool in sorted(set(tools)):
        tx.run(
            "add_allowance",
            profile=profile,
            session_key=session_key,
            tool=tool,
            sender_key=sender_key,
            now=stamp(now),
        )
    _tell(tx, session_key, now)


def _tell(tx: Transaction, session_key: int | None, now: datetime) -> None:
    """Add to the feed that something else is allowed, in one session or in all of them."""
    if session_key is None:
        tell_apart(tx, EventKind.ALLOWANCE_CHANGED, None, now)
        return
    with chronicle_of(tx, session_key, now) as chronicle:
        chronicle.tell(EventKind.SESSION_CHANGED)


def list_allowed(tx: Transaction, id: SessionId) -> frozenset[str]:
    """Name the tools for which nobody is asked in a session."""
    return frozenset(row.text("tool") for row in tx.all("list_allowed", session_id=id))


def list_allowances(
    tx: Transaction, profile: str | None = None, session_key: int | None = None
) -> list[Allowance]:
    """List what was allowed, of one profile or of one session or all: for always first."""
    rows = tx.all(
        "list_allowances",
        profile=profile,
        session_key=NO_SESSION if session_key is None else session_key,
        every=int(session_key is None),
    )
    return [_allowance_from(row) for row in rows]


def read_allowance(tx: Transaction, key: AllowanceKey) -> Allowance:
    """Read leave that was given."""
    return _allowance_from(_row(tx, key))


def revoke_allowance(
    tx: Transaction, key: AllowanceKey, *, by: Actor | None = None, now: datetime
) -> Allowance:
    """Take leave back: from its next turn on the agent asks again."""
    row = _row(tx, key)
    if row["session_key"] is None:
        note_audit(tx, by, "tool.revoked", row.text("tool"), row.text("profile"), now=now)
    # The session first, which is locked before what is in it.
    _tell(tx, row.number_or_none("session_key"), now)
    tx.run("drop_allowance", key=key)
    return _allowance_from(row)


def _row(tx: Transaction, key: AllowanceKey) -> Row:
    row = tx.one("read_allowance", key=key)
    if row is None:
        raise NotFound("There is no such allowance", id=str(key))
    return row


def _allowance_from(row: Row) -> Allowance:
    session_id, sender_id = row.text_or_none("session_id"), row.text_or_none("sender_id")
    return Allowance(
        key=AllowanceKey(row.number("key")),
        profile=row.text("profile"),
        session_id=None if session_id is None else SessionId(session_id),
        tool=row.text("tool"),
        allowed_at=row.moment("allowed_at"),
        by=None if sender_id is None else Identity(platform=row.text("platform"), id=sender_id),
        by_name=row.text_or_none("sender_name"),
    )
