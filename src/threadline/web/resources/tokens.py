"""Tokens: with what programs use the API in somebody's name."""

from datetime import timedelta
from typing import Annotated, Self

from fastapi import Response
from msgspec import Meta
from msgspec.structs import asdict, replace

from threadline.core.account import NAME_LIMIT, ApiToken, TokenKey, TokenScope
from threadline.core.errors import Refused
from threadline.web.authentication import TOKEN_PREFIX, hash_secret, new_secret
from threadline.web.bodies import Body, Time, View
from threadline.web.resources.auth_deps import Managing, Reading, require_proof
from threadline.web.resources.deps import StoreDep, path_key
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.pagination import Page
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router


class TokenRequest(Body, frozen=True, kw_only=True):
    """A token that somebody wants."""

    name: Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT, examples=["backup script"])]
    scopes: Annotated[list[TokenScope], Meta(min_length=1, max_length=len(TokenScope))]
    """What it may do, and nothing else."""
    days: Annotated[int, Meta(ge=1, le=3650)] | None = None
    """For how long it is worth something; null: always, or as long as the token that creates it."""


class TokenView(View, frozen=True, kw_only=True):
    """A token with which programs use the API."""

    key: int
    name: str
    scopes: list[TokenScope]
    made_at: Time
    used_at: Time | None
    expires_at: Time | None

    @classmethod
    def from_token(cls, token: ApiToken) -> "TokenView":
        """Return the view of a token, without its secret."""
        return cls(
            key=token.key,
            name=token.name,
            scopes=sorted(token.scopes),
            made_at=token.made_at,
            used_at=token.used_at,
            expires_at=token.expires_at,
        )


class NewTokenView(TokenView, frozen=True, kw_only=True):
    """A token that was just made."""

    token: Annotated[str, Meta(examples=["tl_…"])] | None
    """Keep it: it is shown once. Null: the same request was answered before."""

    def without_secret(self) -> Self:
        """Tell the same to whoever asks again."""
        return replace(self, token=None)


router = Router(prefix="/tokens", tags=["tokens"])

Key = Annotated[int, path_key("The key of a token.")]


@router.get("")
async def list_tokens(visitor: Reading, store: StoreDep) -> Page[TokenView]:
    """List your tokens, newest first. Their values are not shown again."""
    found = await store.tokens(visitor.account.key)
    return Page(items=[TokenView.from_token(one) for one in found])


@router.post("", status_code=201, response_model=NewTokenView, responses=problem_responses(409))
async def make_token(
    wish: TokenRequest, visitor: Managing, store: StoreDep, once: OnceDep
) -> Response:
    """Create a token for a program. Only the first answer shows it.

    A browser needs a login or a proof within the last ten minutes. What a token creates has no
    more scopes, ends no later, and is revoked together with it.
    """
    require_proof(visitor, store.now())
    scopes = frozenset(wish.scopes)
    if any(not visitor.may(scope) for scope in scopes):
        raise Refused(
            "A token cannot do more than whoever creates it",
            hint="Leave out the scopes that you do not have",
        )
    account = visitor.account

    async def make() -> NewTokenView:
        secret = new_secret(TOKEN_PREFIX)
        until = None if wish.days is None else store.now() + timedelta(days=wish.days)
        made = await store.make_token(
            account.key, wish.name, scopes, hash_secret(secret), until, by=visitor.actor
        )
        return NewTokenView(token=secret, **asdict(TokenView.from_token(made)))

    return await once.answer_slowly(account, make, kept=NewTokenView.without_secret)


@router.delete("/{key}", status_code=204)
async def end_token(key: Key, visitor: Managing, store: StoreDep) -> Response:
    """Revoke a token, and the tokens that were created with it."""
    await store.end_token(TokenKey(key), visitor.account.key, by=visitor.actor)
    return Response(status_code=204)
