"""Auth deps: what a request must show before anything is done for it."""

import hmac
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, cast

from fastapi import Depends, Request

from threadline.config import Config
from threadline.core.account import PROOF_LASTS, TokenScope
from threadline.core.errors import NotFound, Refused
from threadline.core.session import Session, checked_session_id
from threadline.store import Store
from threadline.web.auth.throttle import WrongTokens
from threadline.web.authentication import (
    CSRF_HEADER,
    LOGIN_HINT,
    Caller,
    NotLoggedIn,
    authority_of,
    bearer_secret,
    csrf_of,
    find_visitor,
    login_secret,
)
from threadline.web.csrf_origin import check_origin
from threadline.web.problems import ProofNeeded

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""
SCOPE_HINT = "Make a token that has it: Settings, Your account"
"""For somebody whose token may do less than they may themselves."""


async def visit(request: Request) -> Caller:
    """Find out who asks, and that no other page asks in their name."""
    state = request.app.state
    visitor = await find_visitor(cast("Store", state.store), request)
    if visitor is None:
        await _note_wrong_token(request)
        raise NotLoggedIn(hint=LOGIN_HINT)
    if visitor.login is not None and request.method not in SAFE_METHODS:
        check_origin(request, cast("Config", state.config).server)
        check_csrf(request)
    if (credential := visitor.login or visitor.token) is not None:
        authority_of(request).rely_on(credential)
    return visitor


async def _note_wrong_token(request: Request) -> None:
    state = request.app.state
    if shown := bearer_secret(request):
        if not hasattr(state, "wrong_tokens"):
            state.wrong_tokens = WrongTokens(state.store)
        await cast("WrongTokens", state.wrong_tokens).note(shown)


Visiting = Annotated[Caller, Depends(visit)]


def check_csrf(request: Request) -> None:
    """Refuse a change that does not bring the word which only our own pages can read."""
    secret, shown = login_secret(request) or "", request.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(csrf_of(secret).encode(), shown.encode("utf-8", "replace")):
        raise Refused(
            f"The header {CSRF_HEADER} is missing or does not belong to this login",
            hint="GET /api/me returns it as `csrf`",
        )


def _needing(*scopes: TokenScope) -> Callable[[Request], Awaitable[Caller]]:
    # It calls `visit` itself: a dependency of a dependency takes as long as to find the visitor.
    async def allowed(request: Request) -> Caller:
        visitor = await visit(request)
        for scope in scopes:
            if not visitor.may(scope):
                is_stranger = scope is TokenScope.ADMIN and not visitor.is_owner
                hint = "Only an owner may administer" if is_stranger else SCOPE_HINT
                raise Refused(f"This needs the scope {scope}", hint=hint)
        return visitor

    return allowed


Reading = Annotated[Caller, Depends(_needing(TokenScope.READ))]
"""Somebody who may read."""
Writing = Annotated[Caller, Depends(_needing(TokenScope.WRITE))]
"""Somebody who may speak, and change conversations; they are told nothing that was said."""
Exchanging = Annotated[Caller, Depends(_needing(TokenScope.WRITE, TokenScope.READ))]
"""Somebody who may do both: the answer to what they change holds words of a conversation."""
Administering = Annotated[Caller, Depends(_needing(TokenScope.ADMIN))]
"""An owner who may do everything."""


def require_home(visitor: Caller) -> Caller:
    """Refuse what a token may not do, whatever it may."""
    if visitor.login is None:
        raise Refused("A token may not do this", hint="Log in with a browser")
    return visitor


def require_proof(visitor: Caller, now: datetime) -> None:
    """Refuse a browser whose user has not shown lately who they are.

    Otherwise a browser that is left open could be used to create a login that lasts. A token is
    a proof in itself; what it creates is bound to it.
    """
    login = visitor.login
    if login is not None and abs(now - login.proven_at) > PROOF_LASTS:
        raise ProofNeeded(hint="POST /api/me/proof with your password, use a passkey, or log in")


async def _at_home(visitor: Visiting) -> Caller:
    return require_home(visitor)


async def _managing(visitor: Visiting) -> Caller:
    if visitor.login is None and not visitor.may(TokenScope.ADMIN):
        raise Refused("This token may not do this", hint="Log in, or use one with the scope admin")
    return visitor


AtHome = Annotated[Caller, Depends(_at_home)]
"""Somebody in a browser that is logged in: no token changes how its account logs in."""
Managing = Annotated[Caller, Depends(_managing)]
"""Somebody who may care for their own logins and tokens: a token with less may not make more."""


async def visible(
    store: Store, visitor: Caller, session_id: str, *, refusal: NotFound | None = None
) -> Session:
    """Read a session that a visitor may see; of any other it is not told that it exists.

    Each later transaction of the request asks again whether they may. `refusal` is what they are
    told if they may not, where they did not name the session itself.
    """
    id = checked_session_id(session_id)
    store.require_session(visitor.account, id, refusal)
    return await store.session(id)
