"""Requests: what came of those that make something, and the acts that are written down."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from threadline.core.account import (
    OUTCOME_PATIENCE,
    OUTCOMES_LAST,
    AccountKey,
    Actor,
    AuditEntry,
    KnownRequest,
    RequestOutcome,
)
from threadline.core.errors import Conflict
from threadline.core.event import EventKind
from threadline.core.text import clean_title
from threadline.sessions.chronicle import tell_apart
from threadline.storage.database import Transaction, expect
from threadline.storage.moments import stamp

T = TypeVar("T")

SUBJECT_LIMIT = 500
"""Characters."""
_ENDLESS = 2**62
_WILD = re.compile(r"[!%_]")
"""What means more than itself in a pattern."""


class MadeBefore(Conflict):
    """The same request came before."""

    def __init__(self, outcome: RequestOutcome) -> None:
        """Bring what came of it."""
        super().__init__()
        self.outcome = outcome


def make_once(
    tx: Transaction,
    request: KnownRequest,
    make: Callable[[Transaction], T],
    answer: Callable[[T], str],
    *,
    status: int,
    now: datetime,
) -> T:
    """Make what a request asks for and keep the answer to it; raises MadeBefore if it is kept.

    Both are one transaction: whoever dies in between has made nothing. A mistake that is answered
    instead of raised, because it has to be counted, is no outcome, and can be tried again.
    """
    known = claim_outcome(tx, request, "", now=now)
    if known is not None:
        raise MadeBefore(known)
    made = make(tx)
    if isinstance(made, Exception):
        drop_outcome(tx, request, "")
    else:
        keep_outcome(tx, request, "", status=status, answer=answer(made), now=now)
    return made


def claim_outcome(
    tx: Transaction, request: KnownRequest, claim: str, *, now: datetime
) -> RequestOutcome | None:
    """Begin a request; None: do it. Else it was begun before, and this is what came of it."""
    sweep_outcomes(tx, now=now)
    begun = tx.one(
        "claim_outcome",
        account_key=request.account,
        idempotency_key=request.key,
        request_hash=request.request_hash,
        claim=claim,
        now=stamp(now),
        kept_since=stamp(now - OUTCOMES_LAST),
        begun_since=stamp(now - OUTCOME_PATIENCE),
    )
    return None if begun is not None else find_outcome(tx, request.account, request.key, now=now)


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
    request: KnownRequest,
    claim: str,
    *,
    status: int,
    answer: str,
    now: datetime,
) -> None:
    """Keep what came of a request, if it is still ours: nobody else may have begun it since."""
    tx.run(
        "keep_outcome",
        account_key=request.account,
        idempotency_key=request.key,
        claim=claim,
        status=status,
        answer=answer,
        now=stamp(now),
    )


def drop_outcome(tx: Transaction, request: KnownRequest, claim: str) -> None:
    """Forget a request that was begun by us and came to nothing, so that it can be tried again."""
    tx.run("drop_outcome", account_key=request.account, idempotency_key=request.key, claim=claim)


def sweep_outcomes(tx: Transaction, *, now: datetime) -> None:
    """Forget what came of requests long ago."""
    tx.run("sweep_outcomes", before=stamp(now - OUTCOMES_LAST))


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
