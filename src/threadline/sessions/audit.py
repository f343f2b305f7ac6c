"""The audit log: the administrative acts that are written down."""

from datetime import datetime

from threadline.core.account import AccountKey, Actor, AuditEntry
from threadline.core.event import EventKind
from threadline.core.text import clean_title
from threadline.sessions.chronicle import tell_apart
from threadline.storage.database import Transaction, expect
from threadline.storage.moments import stamp

SUBJECT_LIMIT = 500
"""Characters."""
_ENDLESS = 2**62


def note_audit(
    tx: Transaction, by: Actor | None, act: str, subject: str, detail: str = "", *, now: datetime
) -> None:
    """Write an administrative act down, in the transaction that does it; None: it is no such act.

    What a member does to their own conversation in a chat, or a library for its user, is none.
    """
    if by is None:
        return
    row = expect(
        tx,
        "add_audit_entry",
        account_key=by.account,
        act=act,
        subject=clean_title(subject, SUBJECT_LIMIT),
        detail=clean_title(detail, SUBJECT_LIMIT),
        now=stamp(now),
    )
    tell_apart(tx, EventKind.AUDIT_NOTED, row.number("id"), now)


def forget_subject(tx: Transaction, name: str) -> None:
    """Take somebody who is forgotten out of the acts about them."""
    tx.run("hush_audit_about", subject=clean_title(name, SUBJECT_LIMIT))


def forget_acts(tx: Transaction, account: AccountKey) -> None:
    """Leave of what an account did, and of what was done to it, only that it was."""
    tx.run("hush_audit_of_account", account_key=account, pattern=f"{account} %")


def list_audit(tx: Transaction, before: int | None, most: int) -> list[AuditEntry]:
    """Read administrative acts, the latest first."""
    rows = tx.all("list_audit", before=_ENDLESS if before is None else before, most=most)
    return [
        AuditEntry(
            id=row.number("id"),
            at=row.moment("at"),
            account=row.text_or_none("account_name") or "",
            act=row.text("act"),
            subject=row.text("subject"),
            detail=row.text("detail"),
        )
        for row in rows
    ]
