"""Logins: the browsers in which somebody is logged in."""

from typing import Annotated

from fastapi import APIRouter, Request, Response

from threadline.core.account import LoginKey
from threadline.web.api.asking import Managing, Reading
from threadline.web.api.deps import StoreDep, path_key
from threadline.web.api.paging import Page
from threadline.web.api.shapes.accounts import LoginsEnded, LoginShape
from threadline.web.login.cookies import forget_login

router = APIRouter(prefix="/logins", tags=["logins"])

Key = Annotated[int, path_key("The key of a login.")]


@router.get("")
async def list_logins(visitor: Reading, store: StoreDep) -> Page[LoginShape]:
    """List the browsers in which you are logged in, the last seen first."""
    found = await store.logins(visitor.account.key)
    return Page(items=[LoginShape.from_login(one, visitor.login) for one in found])


@router.delete("")
async def end_other_logins(visitor: Managing, store: StoreDep) -> LoginsEnded:
    """Log out all your other browsers."""
    own = visitor.login.key if visitor.login else None
    ended = await store.end_logins(visitor.account.key, own, by=visitor.account.actor)
    return LoginsEnded(ended=ended)


@router.delete("/{key}", status_code=204)
async def end_login(key: Key, request: Request, visitor: Managing, store: StoreDep) -> Response:
    """Log out one of your browsers."""
    await store.end_login(LoginKey(key), visitor.account.key, by=visitor.account.actor)
    response = Response(status_code=204)
    if visitor.login is not None and visitor.login.key == key:
        forget_login(response, request)
    return response
