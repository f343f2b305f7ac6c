"""Idempotency: a request that makes something makes it once, however often it is sent."""

import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated

from fastapi import Depends, Header, Request, Response
from pydantic import BaseModel

from threadline.core.account import Account
from threadline.core.errors import Conflict
from threadline.sessions.store import Store
from threadline.web.api.deps import StoreDep

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


class Once:
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
        make: Callable[[], Awaitable[BaseModel]],
        status: int = 201,
        headers: Mapping[str, str] | None = None,
        *,
        kept: Callable[[BaseModel], BaseModel] = lambda made: made,
    ) -> Response:
        """Make it, or answer what was answered when it was made.

        `kept` says what is answered then: a secret is told once, and written down nowhere.
        """
        if self.key is None:
            return _write(_text(await make()), status, headers)
        known = await self._store.claim_outcome(account.key, self.key, self._asked)
        if known is None:
            made = await self._make(account, self.key, make, status, kept)
            return _write(_text(made), status, headers)
        if known.request_hash != self._asked:
            raise Conflict(
                "This idempotency key was used for something else", hint="Take a new one"
            )
        if known.is_under_way:
            raise Conflict("The same request is under way", hint="Ask again in a moment")
        return _write(known.answer, known.status, {"Idempotent-Replay": "true"})

    async def _make(
        self,
        account: Account,
        key: str,
        make: Callable[[], Awaitable[BaseModel]],
        status: int,
        kept: Callable[[BaseModel], BaseModel],
    ) -> BaseModel:
        try:
            made = await make()
            text = _text(kept(made))
        except BaseException:
            await self._store.drop_outcome(account.key, key)
            raise
        await self._store.keep_outcome(account.key, key, self._asked, status, text)
        return made


async def _once(request: Request, store: StoreDep, key: IdempotencyKey = None) -> Once:
    # FastAPI has read the body already where it is JSON; Starlette remembers it.
    body = b"" if key is None else await request.body()
    line = f"{request.method} {request.url.path}?{request.url.query}\n"
    return Once(store, key, hashlib.sha256(line.encode() + body).hexdigest())


OnceDep = Annotated[Once, Depends(_once)]
"""What a route is given that makes something: `return await once.answer(account, make)`."""


def _text(made: BaseModel) -> str:
    return made.model_dump_json()


def _write(text: str, status: int, headers: Mapping[str, str] | None) -> Response:
    return Response(
        text, status_code=status, media_type="application/json", headers=dict(headers or {})
    )
