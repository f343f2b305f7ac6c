"""Logins: the browsers in which somebody is logged in."""

from typing import Annotated

from fastapi import Request, Response

from threadline.core.account import Login, LoginKey
from threadline.web.auth.cookies import forget_login
from threadline.web.bodies import Time, View
from threadline.web.resources.auth_deps import Managing, Reading
from threadline.web.resources.deps import StoreDep, path_key
from threadline.web.resources.pagination import Page
from threadline.web.resources.router import Router


class LoginView(View, frozen=True, kw_only=True):
    """A browser that is logged in."""

    key: int
    device: str
    """How it calls itself."""
    is_this: bool
    """Whether it is the one that asks."""
    made_at: Time
    seen_at: Time
    expires_at: Time

    @classmethod
    def from_login(cls, login: Login, own: Login | None) -> "LoginView":
        """Return the view of a login, as another one sees it."""
        return cls(
            key=login.key,
            device=login.device,
            is_this=own is not None and own.key == login.key,
            made_at=login.made_at,
            seen_at=login.seen_at,
            expires_at=login.expires_at,
        )


class LoginsEndedView(View, frozen=True, kw_only=True):
    """How many browsers were logged out."""

    ended: int


router = Router(prefix="/logins", tags=["logins"])

Key = Annotated[int, path_key("The key of a login.")]


@router.get("")
async def list_logins(visitor: Reading, store: StoreDep) -> Page[LoginView]:
    """List the browsers in which you are logged in, the last seen first."""
    found = await store.logins(visitor.account.key)
    return Page(items=[LoginView.from_login(one, visitor.login) for one in found])


@router.delete("")
async def end_other_logins(visitor: Managing, store: StoreDep) -> LoginsEndedView:
    """Log out all your other browsers."""
    own = visitor.login.key if visitor.login else None
    ended = await store.end_logins(visitor.account.key, own, by=visitor.actor)
    return LoginsEndedView(ended=ended)


@router.delete("/{key}", status_code=204)
async def end_login(key: Key, request: Request, visitor: Managing, store: StoreDep) -> Response:
    """Log out one of your browsers."""
    await store.end_login(LoginKey(key), visitor.account.key, by=visitor.actor)
    response = Response(status_code=204)
    if visitor.login is not None and visitor.login.key == key:
        forget_login(response, request)
    return response
