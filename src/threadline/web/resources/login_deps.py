"""Login deps: what the routes of the login share within one application."""

from typing import Annotated, Any, cast

from fastapi import Depends, Request, Response
from msgspec import Meta

from threadline.core.account import AccountRole, TokenScope
from threadline.web.auth.cookies import set_login
from threadline.web.auth.login_service import LoginService, NewLogin
from threadline.web.auth.passkeys import Challenges
from threadline.web.auth.webauthn import WebAuthnExchange
from threadline.web.authentication import MEMBER_SCOPES, Caller, csrf_of, login_secret
from threadline.web.bodies import Body, View
from threadline.web.csrf_origin import check_origin
from threadline.web.resources.accounts import AccountView
from threadline.web.resources.deps import ConfigDep


class MeView(View, frozen=True, kw_only=True):
    """Who asks, and what they may do."""

    account: AccountView
    sender_id: str
    """As whom they speak: the `sender_id` of their messages."""
    scopes: list[TokenScope]
    login: int | None
    """The key of this login; null: a token asks."""
    csrf: str | None
    """Send this as `X-CSRF-Token` with everything that changes something; null: a token asks, which
    needs none.
    """


class PasskeyQuestionView(View, frozen=True, kw_only=True):
    """What a browser needs to make a passkey, or to sign with one."""

    challenge: str
    """Send it back with the answer."""
    options: dict[str, Any]
    """For `navigator.credentials`, binary values in base64url."""


class PasskeyAnswerRequest(Body, frozen=True, kw_only=True):
    """What a browser made of it."""

    challenge: Annotated[str, Meta(max_length=200)]
    credential: dict[str, Any]
    """What `navigator.credentials` gave, as its `toJSON()` writes it."""


async def _entrance(request: Request) -> LoginService:
    state = request.app.state
    if not hasattr(state, "entrance"):
        # On the store itself: whoever logs in has nothing yet that a request could be checked by.
        state.entrance = LoginService(state.store)
    return cast("LoginService", state.entrance)


async def _ceremony(request: Request, config: ConfigDep) -> WebAuthnExchange:
    state = request.app.state
    if not hasattr(state, "challenges"):
        state.challenges = Challenges()
    return WebAuthnExchange(
        state.store, cast("Challenges", state.challenges), request, config.server
    )


async def _own_page(request: Request, config: ConfigDep) -> None:
    check_origin(request, config.server)


EntranceDep = Annotated[LoginService, Depends(_entrance)]
"""Lets browsers in."""
CeremonyDep = Annotated[WebAuthnExchange, Depends(_ceremony)]
"""Asks devices for passkeys."""
OwnPage = Depends(_own_page)
"""No page of a stranger may log anybody in: they would speak under a name that is not theirs."""


def tell_visitor(request: Request, visitor: Caller) -> MeView:
    """Say who asks, and what they may do."""
    secret = login_secret(request) if visitor.login is not None else None
    return MeView(
        account=AccountView.of(visitor.account),
        sender_id=visitor.account.sender.id or "",
        scopes=sorted(scope for scope in visitor.scopes if visitor.may(scope)),
        login=None if visitor.login is None else visitor.login.key,
        csrf=None if secret is None else csrf_of(secret),
    )


def tell_entered(request: Request, response: Response, entered: NewLogin) -> MeView:
    """Let a browser keep its login, and say who it is."""
    set_login(response, request, entered.secret)
    account = entered.login.account
    is_owner = account.role is AccountRole.OWNER
    return MeView(
        account=AccountView.of(account),
        sender_id=account.sender.id or "",
        scopes=sorted(TokenScope if is_owner else MEMBER_SCOPES),
        login=entered.login.key,
        csrf=csrf_of(entered.secret),
    )
