"""Idempotency: made once however often they come, and written down."""

from collections.abc import Callable
from copy import copy
from typing import ParamSpec, Self, TypeVar

from threadline.core.account import (
    Account,
    Actor,
    AuditEntry,
    KnownRequest,
    RequestOutcome,
)
from threadline.core.errors import NotFound, StorageError
from threadline.core.session import SessionId
from threadline.core.turn import TurnId
from threadline.core.validation import checked_count, checked_id, checked_text, checked_type
from threadline.database.port import Transaction
from threadline.store import audit
from threadline.store.accounts import idempotency
from threadline.store.authorisation import (
    AnsweringDatabase,
    AuthorisedDatabase,
    Authority,
    Condition,
    session_shown,
    turn_shown,
)
from threadline.store.facade.connection import StoreConnection

AUDIT_PAGE = 500
"""Entries that may be read at once."""

P = ParamSpec("P")
T = TypeVar("T")


class IdempotencyMethods(StoreConnection):
    """Idempotency, and the audit log."""

    def authorised(self, authority: Authority) -> Self:
        """Return this store for one request: each transaction begins with the authority's check."""
        own = copy(self)
        own._db = AuthorisedDatabase(self._unchecked, authority.check)  # noqa: SLF001
        own._authority = authority  # noqa: SLF001
        return own

    def require_session(
        self, viewer: Account, id: SessionId, refusal: NotFound | None = None
    ) -> None:
        """Let each later transaction of the request raise if its user may not see a session."""
        unseen = refusal or NotFound("There is no such session", id=id)
        self._require(session_shown(checked_type(viewer, "viewer", Account), id, unseen))

    def require_turn(self, viewer: Account, id: TurnId) -> None:
        """Let each later transaction of the request raise if its user may not see a turn."""
        self._require(turn_shown(checked_type(viewer, "viewer", Account), id))

    def _require(self, condition: Condition) -> None:
        if self._authority is None:
            raise StorageError("This store serves no request")
        self._authority.require(condition)

    async def check_access(self) -> None:
        """Raise if the user of the request may not go on, before something outside of the store.

        What the store does itself is checked in the transaction that does it.
        """
        await self._db.read(_nothing)

    def answering(self, request: KnownRequest, status: int, answer: Callable[[T], str]) -> Self:
        """Answer this store for one change, which is made once: it comes with its answer or not.

        `answer` writes what is kept of what the change answers. Whoever asks for the same again is
        told by MadeBefore what came of it.
        """
        once = copy(self)
        kept = checked_type(request, "request", KnownRequest)
        once._db = AnsweringDatabase(  # noqa: SLF001
            self._db, kept, checked_count(status, "status", 1), answer
        )
        return once

    async def note_audit(self, by: Actor, act: str, subject: str, detail: str = "") -> None:
        """Write an administrative act down that is not done in the store itself."""
        await self._unchecked.write(
            audit.note_audit,
            checked_type(by, "actor", Actor),
            checked_id(act, "act"),
            checked_text(subject, "subject"),
            checked_text(detail, "detail"),
        )

    async def audit(self, before: int | None = None, most: int = 50) -> list[AuditEntry]:
        """Read administrative acts, the latest first, from before the entry of a number."""
        return await self._db.read(
            audit.list_audit,
            None if before is None else checked_count(before, "entry"),
            min(checked_count(most, "number of entries", 1), AUDIT_PAGE),
        )

    async def claim_outcome(self, request: KnownRequest, claim: str) -> RequestOutcome | None:
        """Begin a request that takes longer than one transaction; None: go on, keep its outcome.

        Of two that begin at once one gets None, and the other what is known: the outcome, or that
        it is under way. A request that was begun by somebody who died can be begun again soon;
        a `claim` tells theirs from ours.
        """
        return await self._db.write(
            idempotency.claim_outcome,
            checked_type(request, "request", KnownRequest),
            checked_id(claim, "claim"),
        )

    async def keep_outcome(
        self, request: KnownRequest, claim: str, status: int, answer: str
    ) -> None:
        """Keep what came of a request for a day, unless somebody else has begun it since."""
        await self._unchecked.write(
            idempotency.keep_outcome,
            checked_type(request, "request", KnownRequest),
            checked_id(claim, "claim"),
            status=checked_count(status, "status", 1),
            answer=checked_text(answer, "answer"),
        )

    async def drop_outcome(self, request: KnownRequest, claim: str) -> None:
        """Forget a request that was begun and failed, so that it can be tried again."""
        await self._unchecked.write(
            idempotency.drop_outcome,
            checked_type(request, "request", KnownRequest),
            checked_id(claim, "claim"),
        )


def _nothing(_: Transaction) -> None:
    """Read nothing: only the check of a request is wanted."""
