"""The audit log: the administrative acts that are written down."""

from datetime import timedelta

from threadline.core.account import AccountKey, Actor, AuditEntry
from threadline.core.event import EventKind
from threadline.core.validation import clean_title
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.session_writer import add_global_event

SUBJECT_LIMIT = 500
"""Characters."""
FAILURES_WITHIN = timedelta(minutes=15)
"""Failed logins of the same kind within this time are counted in one entry."""
FAILED = "login.failed"
_ENDLESS = 2**62


def note_audit(
    tx: Transaction, by: Actor | None, act: str, subject: str, detail: str = "", *, times: int = 1
) -> None:
    """Write an administrative act down, in the transaction that does it; None: it is no such act.

    What a member does to their own conversation in a chat, or a library for its user, is none.
    """
    if by is None:
        return
    id = expect(
        tx,
        "add_audit_entry",
        int,
        account_key=by.account,
        token_key=by.token,
        act=act,
        subject=clean_title(subject, SUBJECT_LIMIT),
        detail=clean_title(detail, SUBJECT_LIMIT),
        times=times,
        now=stamp(tx.now),
    )
    add_global_event(tx, EventKind.AUDIT_NOTED, id)


def note_failed_login(tx: Transaction, subject: str, how: str, times: int = 1) -> None:
    """Record failed attempts to log in: one entry for each account and way within a period.

    `subject` names an account or a token that exists, or is empty, so that guesses of names add
    no entries, and a password typed into the wrong field is not stored.
    """
    is_counted = tx.exists(
        "count_failed_login",
        subject=clean_title(subject, SUBJECT_LIMIT),
        detail=how,
        times=times,
        since=stamp(tx.now - FAILURES_WITHIN),
    )
    if not is_counted:
        note_audit(tx, Actor(), FAILED, subject, how, times=times)


def forget_subject(tx: Transaction, name: str) -> None:
    """Take somebody who is forgotten out of the acts about them."""
    tx.run("hush_audit_about", subject=clean_title(name, SUBJECT_LIMIT))


def forget_acts(tx: Transaction, account: AccountKey) -> None:
    """Leave of what an account did, and of what was done to it, only that it was."""
    tx.run("hush_audit_of_account", account_key=account, pattern=f"{account} %")


def list_audit(tx: Transaction, before: int | None, most: int) -> list[AuditEntry]:
    """Read administrative acts, the latest first."""
    last = _ENDLESS if before is None else before
    return tx.all("list_audit", AuditEntry, before=last, most=most)
