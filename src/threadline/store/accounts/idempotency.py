"""Idempotency: the outcomes of requests, so that a repeated one creates nothing twice."""

from collections.abc import Callable
from typing import TypeVar

from threadline.core.account import (
    OUTCOME_PATIENCE,
    OUTCOMES_LAST,
    AccountKey,
    KnownRequest,
    RequestOutcome,
)
from threadline.core.errors import Conflict
from threadline.database.port import Transaction
from threadline.database.timestamps import stamp

T = TypeVar("T")


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
) -> T:
    """Make what a request asks for and keep the answer to it; raises MadeBefore if it is kept.

    Both are one transaction: whoever dies in between has made nothing. A mistake that is answered
    instead of raised, because it has to be counted, is no outcome, and can be tried again.
    """
    known = claim_outcome(tx, request, "")
    if known is not None:
        raise MadeBefore(known)
    made = make(tx)
    if isinstance(made, Exception):
        drop_outcome(tx, request, "")
    else:
        keep_outcome(tx, request, "", status=status, answer=answer(made))
    return made


def claim_outcome(tx: Transaction, request: KnownRequest, claim: str) -> RequestOutcome | None:
    """Begin a request; None: do it. Else it was begun before, and this is what came of it."""
    sweep_outcomes(tx)
    is_begun = tx.exists(
        "claim_outcome",
        account_key=request.account,
        idempotency_key=request.key,
        request_hash=request.request_hash,
        session_id=request.session_id,
        claim=claim,
        now=stamp(tx.now),
        kept_since=stamp(tx.now - OUTCOMES_LAST),
        begun_since=stamp(tx.now - OUTCOME_PATIENCE),
    )
    return None if is_begun else find_outcome(tx, request.account, request.key)


def find_outcome(tx: Transaction, account: AccountKey, key: str) -> RequestOutcome | None:
    """Read what came of a request, if that is still kept."""
    return tx.one(
        "find_outcome",
        RequestOutcome,
        account_key=account,
        idempotency_key=key,
        kept_since=stamp(tx.now - OUTCOMES_LAST),
    )


def keep_outcome(
    tx: Transaction, request: KnownRequest, claim: str, *, status: int, answer: str
) -> None:
    """Keep what came of a request, if it is still ours: nobody else may have begun it since."""
    tx.run(
        "keep_outcome",
        account_key=request.account,
        idempotency_key=request.key,
        claim=claim,
        status=status,
        answer=answer,
        now=stamp(tx.now),
    )


def drop_outcome(tx: Transaction, request: KnownRequest, claim: str) -> None:
    """Forget a request that was begun by us and came to nothing, so that it can be tried again."""
    tx.run("drop_outcome", account_key=request.account, idempotency_key=request.key, claim=claim)


def sweep_outcomes(tx: Transaction) -> None:
    """Forget what came of requests long ago."""
    tx.run("sweep_outcomes", before=stamp(tx.now - OUTCOMES_LAST))
