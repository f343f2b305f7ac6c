"""Tokens: with what programs use the API in somebody's name."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Response

from threadline.core.account import TokenKey
from threadline.core.errors import Refused
from threadline.web.authentication import TOKEN_PREFIX, hash_secret, new_secret
from threadline.web.resources.auth_deps import Managing, Reading, require_proof
from threadline.web.resources.deps import StoreDep, path_key
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.pagination import Page
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.schemas.accounts import NewTokenView, TokenRequest, TokenView

router = APIRouter(prefix="/tokens", tags=["tokens"])

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
        return NewTokenView(token=secret, **TokenView.from_token(made).model_dump())

    return await once.answer_slowly(account, make, kept=NewTokenView.without_secret)


@router.delete("/{key}", status_code=204)
async def end_token(key: Key, visitor: Managing, store: StoreDep) -> Response:
    """Revoke a token, and the tokens that were created with it."""
    await store.end_token(TokenKey(key), visitor.account.key, by=visitor.actor)
    return Response(status_code=204)
