"""Asking: what a request must show before anything is done for it."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Annotated, cast

from fastapi import Depends, Request

from threadline.config import Config
from threadline.core.account import TokenScope
from threadline.core.errors import Refused
from threadline.core.session import Session, checked_session_id
from threadline.sessions.store import Store
from threadline.web.origins import check_origin
from threadline.web.visiting import (
    CSRF_HEADER,
    NotLoggedIn,
    Visitor,
    csrf_of,
    find_visitor,
    login_secret,
)

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
SCOPE_HINT = "Make a token that has it: Settings, Your account"
"""For somebody whose token may do less than they may themselves."""


async def visit(request: Request) -> Visitor:
    """Find out who asks, and that no other page asks in their name."""
    state = request.app.state
    visitor = await find_visitor(cast("Store", state.store), request)
    if visitor is None:
        raise NotLoggedIn(hint="Log in, or send a token: `Authorization: Bearer tl_…`")
    if visitor.login is not None and request.method not in SAFE_METHODS:
        check_origin(request, cast("Config", state.config).server)
        check_csrf(request)
    return visitor


Visiting = Annotated[Visitor, Depends(visit)]


def check_csrf(request: Request) -> None:
    """Refuse a change that does not bring the word which only our own pages can read."""
    secret, shown = login_secret(request) or "", request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(csrf_of(secret).encode(), shown.encode("utf-8", "replace")):
        raise Refused(
            f"The header {CSRF_HEADER} is missing or does not belong to this login",
            hint="GET /api/me returns it as `csrf`",
        )


def _needing(*scopes: TokenScope) -> Callable[[Request], Awaitable[Visitor]]:
    # It calls `visit` itself: a dependency of a dependency takes as long as to find the visitor.
    async def allowed(request: Request) -> Visitor:
        visitor = await visit(request)
        for scope in scopes:
            if not visitor.may(scope):
                is_stranger = scope is TokenScope.ADMIN and not visitor.is_owner
                hint = "Only an owner may administer" if is_stranger else SCOPE_HINT
                raise Refused(f"This needs the scope {scope}", hint=hint)
        return visitor

    return allowed


Reading = Annotated[Visitor, Depends(_needing(TokenScope.READ))]
"""Somebody who may read."""
Writing = Annotated[Visitor, Depends(_needing(TokenScope.WRITE))]
"""Somebody who may speak, and change conversations; they are told nothing that was said."""
Exchanging = Annotated[Visitor, Depends(_needing(TokenScope.WRITE, TokenScope.READ))]
"""Somebody who may do both: the answer to what they change holds words of a conversation."""
Administering = Annotated[Visitor, Depends(_needing(TokenScope.ADMIN))]
"""An owner who may do everything."""


def require_home(visitor: Visitor) -> Visitor:
    """Refuse what a token may not do, whatever it may."""
    if visitor.login is None:
        raise Refused("A token may not do this", hint="Log in with a browser")
    return visitor


async def _at_home(visitor: Visiting) -> Visitor:
    return require_home(visitor)


async def _managing(visitor: Visiting) -> Visitor:
    if visitor.login is None and not visitor.may(TokenScope.ADMIN):
        raise Refused("This token may not do this", hint="Log in, or use one with the scope admin")
    return visitor


AtHome = Annotated[Visitor, Depends(_at_home)]
"""Somebody in a browser that is logged in: no token changes how its account logs in."""
Managing = Annotated[Visitor, Depends(_managing)]
"""Somebody who may care for their own logins and tokens: a token with less may not make more."""


async def visible(store: Store, visitor: Visitor, session_id: str) -> Session:
    """Read a session that a visitor may see; of any other it is not told that it exists."""
    return await store.session(checked_session_id(session_id), viewer=visitor.account)
