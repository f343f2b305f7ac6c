"""Idempotency: a request that makes something makes it once, however often it is sent."""

import hashlib
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Request, Response
from msgspec import Struct

from threadline.core.account import Account, KnownRequest, RequestOutcome
from threadline.core.errors import Conflict, StorageError
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.accounts.idempotency import MadeBefore
from threadline.web.bodies import encode
from threadline.web.resources.deps import StoreDep

log = logging.getLogger("threadline.web")

T = TypeVar("T")
Shape = TypeVar("Shape", bound=Struct)

KEY_LIMIT = 200
"""Characters."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=KEY_LIMIT,
        pattern="^[!-~]+$",
        description="Any text of your own. For a day the same request with the same key is "
        "answered as the first one was, and makes nothing new.",
        examples=["7f3c0a52-note-1"],
    ),
]
"""By what a caller knows their request again."""


class IdempotentRequest:
    """One request that makes something."""

    def __init__(self, store: Store, key: str | None, asked: str) -> None:
        """Know what is asked by a hash of it."""
        self._store = store
        self.key = key
        """The key that was sent; None: whatever is made is made anew."""
        self._asked = asked
        again = hashlib.sha256(f"{key}\n{asked}".encode()).hexdigest()[:32]
        self.name = secrets.token_hex(16) if key is None else again
        """A name for what is made; the same request with the same key gives the same one."""

    async def answer(
        self,
        account: Account,
        make: Callable[[Store], Awaitable[T]],
        shape: Callable[[T], Struct],
        status: int = 201,
        *,
        about: SessionId | None = None,
    ) -> Response:
        """Make it, or answer what was answered when it was made.

        `make` is given a store for one change, and answers what that answers; it is made and its
        answer is kept in one transaction, so that whoever dies in between has made nothing.
        `about` is the conversation of which alone the answer tells: it is kept until that is
        forgotten. One that may tell of others is kept only until any is.
        """
        if self.key is None:
            return _write(_text(shape(await make(self._store))), status)

        def write(made: T) -> str:
            return _text(shape(made))

        once = self._store.answering(self._request(account, self.key, about), status, write)
        try:
            return _write(write(await make(once)), status)
        except MadeBefore as before:
            return self._answer_again(before.outcome)

    async def answer_slowly(
        self,
        account: Account,
        make: Callable[[], Awaitable[Shape]],
        status: int = 201,
        *,
        about: SessionId | None = None,
        kept: Callable[[Shape], Struct] = lambda made: made,
    ) -> Response:
        """Do the same for what takes longer than one transaction may; nobody begins it meanwhile.

        `kept` says what is answered later: a secret is told once, and written down nowhere.
        """
        if self.key is None:
            return _write(_text(await make()), status)
        request, claim = self._request(account, self.key, about), secrets.token_hex(16)
        known = await self._store.claim_outcome(request, claim)
        if known is not None:
            return self._answer_again(known)
        try:
            made = await make()
        except Exception:
            # Not if it was cancelled: then nobody knows how far it came, and it is not begun again
            # before it must be over.
            await self._store.drop_outcome(request, claim)
            raise
        await self._keep(request, claim, status, _text(kept(made)))
        return _write(_text(made), status)

    async def _keep(self, request: KnownRequest, claim: str, status: int, text: str) -> None:
        try:
            await self._store.keep_outcome(request, claim, status, text)
        except StorageError as error:
            # It was done: to say that it failed would have it done again.
            log.warning("The answer to a request could not be kept: %s", error)

    def _request(self, account: Account, key: str, about: SessionId | None) -> KnownRequest:
        return KnownRequest(
            account=account.key, key=key, request_hash=self._asked, session_id=about
        )

    def _answer_again(self, known: RequestOutcome) -> Response:
        if known.is_forgotten:
            raise Conflict(
                "A request with this idempotency key was carried out, and its answer is gone",
                hint="Check the current state; for something new use a new key",
            )
        if known.request_hash not in {self._asked, ""}:
            raise Conflict("This idempotency key was used for something else", hint="Use a new one")
        if known.is_under_way:
            raise Conflict("The same request is under way", hint="Try again in a moment")
        return _write(known.answer, known.status, {"Idempotent-Replay": "true"})


async def _once(
    request: Request, store: StoreDep, sent: IdempotencyKey = None
) -> IdempotentRequest:
    # It is not called `key`: paths have one of their own.
    # Starlette remembers the body for the route, which reads it, too.
    body = b"" if sent is None else await request.body()
    line = f"{request.method} {request.url.path}?{request.url.query}\n"
    return IdempotentRequest(store, sent, hashlib.sha256(line.encode() + body).hexdigest())


OnceDep = Annotated[IdempotentRequest, Depends(_once)]
"""What a route is given that makes something: `return await once.answer(account, make, shape)`."""


def _text(made: Struct) -> str:
    return encode(made).decode()


def _write(text: str, status: int, headers: dict[str, str] | None = None) -> Response:
    return Response(text, status_code=status, media_type="application/json", headers=headers)
