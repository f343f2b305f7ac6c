"""Tool permissions: tools that an agent may use without asking, as permitted before."""

from collections.abc import Iterable

from threadline.core.account import Actor
from threadline.core.approval import AllowanceKey, ToolPermission
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.database.port import Row, Transaction
from threadline.database.timestamps import stamp
from threadline.store.audit import note_audit
from threadline.store.session_writer import NO_SESSION, add_global_event, write_session_by_key


def permit_tools(
    tx: Transaction,
    tools: Iterable[str],
    *,
    profile: str,
    session_key: int | None,
    sender_key: int | None,
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
            now=stamp(tx.now),
        )
    _tell(tx, session_key)


def _tell(tx: Transaction, session_key: int | None) -> None:
    """Add to the feed that something else is allowed, in one session or in all of them."""
    if session_key is None:
        add_global_event(tx, EventKind.ALLOWANCE_CHANGED, None)
        return
    with write_session_by_key(tx, session_key) as writer:
        writer.tell(EventKind.SESSION_CHANGED)


def list_allowed(tx: Transaction, id: SessionId) -> frozenset[str]:
    """Name the tools for which nobody is asked in a session."""
    return frozenset(row.text("tool") for row in tx.all("list_allowed", session_id=id))


def list_allowances(
    tx: Transaction, profile: str | None = None, session_key: int | None = None
) -> list[ToolPermission]:
    """List what was allowed, of one profile or of one session or all: for always first."""
    rows = tx.all(
        "list_allowances",
        profile=profile,
        session_key=NO_SESSION if session_key is None else session_key,
        every=int(session_key is None),
    )
    return [_allowance_from(row) for row in rows]


def read_allowance(tx: Transaction, key: AllowanceKey) -> ToolPermission:
    """Read leave that was given."""
    return _allowance_from(_row(tx, key))


def revoke_allowance(
    tx: Transaction, key: AllowanceKey, *, by: Actor | None = None
) -> ToolPermission:
    """Take leave back: from its next turn on the agent asks again."""
    row = _row(tx, key)
    if row["session_key"] is None:
        note_audit(tx, by, "tool.revoked", row.text("tool"), row.text("profile"))
    # The session first, which is locked before what is in it.
    _tell(tx, row.number_or_none("session_key"))
    tx.run("drop_allowance", key=key)
    return _allowance_from(row)


def _row(tx: Transaction, key: AllowanceKey) -> Row:
    row = tx.one("read_allowance", key=key)
    if row is None:
        raise NotFound("There is no such allowance", id=str(key))
    return row


def _allowance_from(row: Row) -> ToolPermission:
    session_id, sender_id = row.text_or_none("session_id"), row.text_or_none("sender_id")
    return ToolPermission(
        key=AllowanceKey(row.number("key")),
        profile=row.text("profile"),
        session_id=None if session_id is None else SessionId(session_id),
        tool=row.text("tool"),
        allowed_at=row.moment("allowed_at"),
        by=None if sender_id is None else Identity(platform=row.text("platform"), id=sender_id),
        by_name=row.text_or_none("sender_name"),
    )
