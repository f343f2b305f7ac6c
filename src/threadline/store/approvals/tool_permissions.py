"""Tool permissions: tools that an agent may use without asking, as permitted before."""

from collections.abc import Iterable

from threadline.core.account import Actor
from threadline.core.approval import AllowanceKey, ToolPermission
from threadline.core.errors import NotFound
from threadline.core.event import EventKind
from threadline.core.session import SessionId
from threadline.database.port import Transaction
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
    return frozenset(tx.all("list_allowed", str, session_id=id))


def list_allowances(
    tx: Transaction, profile: str | None = None, session_key: int | None = None
) -> list[ToolPermission]:
    """List what was allowed, of one profile or of one session or all: for always first."""
    return tx.all(
        "list_allowances",
        ToolPermission,
        profile=profile,
        session_key=NO_SESSION if session_key is None else session_key,
        every=int(session_key is None),
    )


def read_allowance(tx: Transaction, key: AllowanceKey) -> ToolPermission:
    """Read leave that was given."""
    permission = tx.one("read_allowance", ToolPermission, key=key)
    if permission is None:
        raise NotFound("There is no such allowance", id=str(key))
    return permission


def revoke_allowance(
    tx: Transaction, key: AllowanceKey, *, by: Actor | None = None
) -> ToolPermission:
    """Take leave back: from its next turn on the agent asks again."""
    permission = read_allowance(tx, key)
    session_key = tx.one("find_session_of_allowance", int, key=key)
    if session_key is None:
        note_audit(tx, by, "tool.revoked", permission.tool, permission.profile)
    # The session first, which is locked before what is in it.
    _tell(tx, session_key)
    tx.run("drop_allowance", key=key)
    return permission
