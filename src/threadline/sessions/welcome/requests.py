"""Requests: what came of those that make something, and the acts that are written down."""

import json
import re
from datetime import datetime

from threadline.core.account import (
    OUTCOME_PATIENCE,
    OUTCOMES_LAST,
    AccountKey,
    AuditEntry,
    RequestOutcome,
)
from threadline.core.text import clean_title
from threadline.storage.database import Transaction
from threadline.storage.moments import stamp

SUBJECT_LIMIT = 500
"""Characters."""
_ENDLESS = 2**62
_WILD = re.compile(r"[!%_]")
"""What means more than itself in a pattern."""


def claim_outcome(
    tx: Transaction, account: AccountKey, key: str, request_hash: str, *, now: datetime
) -> RequestOutcome | None:
    """Begin a request; None: do it. Else it was begun before, and this is what came of it."""
    sweep_outcomes(tx, now=now)
    begun = tx.one(
        "claim_outcome",
        account_key=account,
        idempotency_key=key,
        request_hash=request_hash,
        now=stamp(now),
        kept_since=stamp(now - OUTCOMES_LAST),
        begun_since=stamp(now - OUTCOME_PATIENCE),
    )
    return None if begun is not None else find_outcome(tx, account, key, now=now)


def find_outcome(
    tx: Transaction, account: AccountKey, key: str, *, now: datetime
) -> RequestOutcome | None:
    """Read what came of a request, if that is still kept."""
    row = tx.one(
        "find_outcome",
        account_key=account,
        idempotency_key=key,
        kept_since=stamp(now - OUTCOMES_LAST),
    )
    if row is None:
        return None
    return RequestOutcome(
        request_hash=row.text("request_hash"),
        status=row.number("status"),
        answer=row.text("answer"),
        at=row.moment("at"),
    )


def keep_outcome(
    tx: Transaction,
    account: AccountKey,
    key: str,
    *,
    request_hash: str,
    status: int,
    answer: str,
    now: datetime,
) -> None:
    """Keep what came of a request; what is kept already stays."""
    tx.run(
        "keep_outcome",
        account_key=account,
        idempotency_key=key,
        request_hash=request_hash,
        status=status,
        answer=answer,
        now=stamp(now),
        kept_since=stamp(now - OUTCOMES_LAST),
    )


def drop_outcome(tx: Transaction, account: AccountKey, key: str) -> None:
    """Forget a request that was begun and came to nothing, so that it can be tried again."""
    tx.run("drop_outcome", account_key=account, idempotency_key=key)


def sweep_outcomes(tx: Transaction, *, now: datetime) -> None:
    """Forget what came of requests long ago."""
    tx.run("sweep_outcomes", before=stamp(now - OUTCOMES_LAST))


def note_audit(
    tx: Transaction,
    account: AccountKey | None,
    act: str,
    subject: str,
    detail: str,
    *,
    now: datetime,
) -> None:
    """Write an administrative act down."""
    tx.run(
        "add_audit_entry",
        account_key=account,
        act=act,
        subject=clean_title(subject, SUBJECT_LIMIT),
        detail=clean_title(detail, SUBJECT_LIMIT),
        now=stamp(now),
    )


def forget_subject(tx: Transaction, name: str) -> None:
    """Take somebody who is forgotten out of the acts about them, and of answers that are kept."""
    tx.run("hush_audit_about", subject=clean_title(name, SUBJECT_LIMIT))
    written = _WILD.sub(r"!\g<0>", json.dumps(name, ensure_ascii=False)[1:-1])
    tx.run("drop_outcomes_about", pattern=f"%{written}%")


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
