"""Tokens: with what programs use the API in somebody's name."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Response

from threadline.core.account import TokenKey
from threadline.core.errors import Refused
from threadline.web.api.asking import Managing, Reading
from threadline.web.api.deps import StoreDep, path_key
from threadline.web.api.idempotency import OnceDep
from threadline.web.api.paging import Page
from threadline.web.api.problems import told
from threadline.web.api.shapes.accounts import NewToken, TokenShape, TokenWish
from threadline.web.visiting import TOKEN_PREFIX, hash_secret, new_secret

router = APIRouter(prefix="/tokens", tags=["tokens"])

Key = Annotated[int, path_key("The key of a token.")]


@router.get("")
async def list_tokens(visitor: Reading, store: StoreDep) -> Page[TokenShape]:
    """List your tokens, newest first. Their values are not shown again."""
    found = await store.tokens(visitor.account.key)
    return Page(items=[TokenShape.from_token(one) for one in found])


@router.post("", status_code=201, response_model=NewToken, responses=told(409))
async def make_token(
    wish: TokenWish, visitor: Managing, store: StoreDep, once: OnceDep
) -> Response:
    """Create a token for a program. Only the first answer shows it."""
    scopes = frozenset(wish.scopes)
    if any(not visitor.may(scope) for scope in scopes):
        raise Refused(
            "A token cannot do more than whoever creates it",
            hint="Leave out the scopes that you do not have",
        )
    account = visitor.account

    async def make() -> NewToken:
        secret = new_secret(TOKEN_PREFIX)
        until = None if wish.days is None else store.now() + timedelta(days=wish.days)
        made = await store.make_token(
            account.key, wish.name, scopes, hash_secret(secret), until, by=account.actor
        )
        return NewToken(token=secret, **TokenShape.from_token(made).model_dump())

    return await once.answer_slowly(account, make, kept=NewToken.without_secret)


@router.delete("/{key}", status_code=204)
async def end_token(key: Key, visitor: Managing, store: StoreDep) -> Response:
    """Revoke a token."""
    await store.end_token(TokenKey(key), visitor.account.key, by=visitor.account.actor)
    return Response(status_code=204)
