"""Login deps: what the routes of the login share within one application."""

from typing import Annotated, cast

from fastapi import Depends, Request, Response
from pydantic import Field

from threadline.core.account import AccountRole, TokenScope
from threadline.web.auth.cookies import set_login
from threadline.web.auth.login_service import LoginService, NewLogin
from threadline.web.auth.passkeys import Challenges
from threadline.web.auth.webauthn import WebAuthnExchange
from threadline.web.authentication import MEMBER_SCOPES, Caller, csrf_of, login_secret
from threadline.web.bodies import RequestBody, ResponseBody
from threadline.web.csrf_origin import check_origin
from threadline.web.resources.accounts import AccountView
from threadline.web.resources.deps import ConfigDep


class MeView(ResponseBody):
    """Who asks, and what they may do."""

    account: AccountView
    sender_id: str = Field(description="As whom they speak: the `sender_id` of their messages.")
    scopes: list[TokenScope]
    login: int | None = Field(description="The key of this login; null: a token asks.")
    csrf: str | None = Field(
        description="Send this as `X-CSRF-Token` with everything that changes something; null: a "
        "token asks, which needs none."
    )


class PasskeyQuestionView(ResponseBody):
    """What a browser needs to make a passkey, or to sign with one."""

    challenge: str = Field(description="Send it back with the answer.")
    options: dict[str, object] = Field(
        description="For `navigator.credentials`, binary values in base64url."
    )


class PasskeyAnswerRequest(RequestBody):
    """What a browser made of it."""

    challenge: str = Field(max_length=200)
    credential: dict[str, object] = Field(
        description="What `navigator.credentials` gave, as its `toJSON()` writes it."
    )


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
        account=AccountView.from_account(visitor.account),
        sender_id=visitor.account.sender.id,
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
        account=AccountView.from_account(account),
        sender_id=account.sender.id,
        scopes=sorted(TokenScope if is_owner else MEMBER_SCOPES),
        login=entered.login.key,
        csrf=csrf_of(entered.secret),
    )
