"""Entering: what the routes of the login share within one application."""

from typing import Annotated, cast

from fastapi import Depends, Request, Response

from threadline.core.account import AccountRole, TokenScope
from threadline.web.api.deps import ConfigDep, StoreDep
from threadline.web.api.shapes.accounts import AccountShape, Me
from threadline.web.login.ceremony import Ceremony
from threadline.web.login.cookies import set_login
from threadline.web.login.entrance import Entered, Entrance
from threadline.web.login.passkeys import Challenges
from threadline.web.origins import check_origin
from threadline.web.visiting import (
    MEMBER_SCOPES,
    Visitor,
    csrf_of,
    login_secret,
)


async def _entrance(request: Request, store: StoreDep) -> Entrance:
    state = request.app.state
    if not hasattr(state, "entrance"):
        state.entrance = Entrance(store)
    return cast("Entrance", state.entrance)


async def _ceremony(request: Request, store: StoreDep, config: ConfigDep) -> Ceremony:
    state = request.app.state
    if not hasattr(state, "challenges"):
        state.challenges = Challenges()
    return Ceremony(store, cast("Challenges", state.challenges), request, config.server)


async def _own_page(request: Request, config: ConfigDep) -> None:
    check_origin(request, config.server)


EntranceDep = Annotated[Entrance, Depends(_entrance)]
"""Lets browsers in."""
CeremonyDep = Annotated[Ceremony, Depends(_ceremony)]
"""Asks devices for passkeys."""
OwnPage = Depends(_own_page)
"""No page of a stranger may log anybody in: they would speak under a name that is not theirs."""


def tell_visitor(request: Request, visitor: Visitor) -> Me:
    """Say who asks, and what they may do."""
    secret = login_secret(request) if visitor.login is not None else None
    return Me(
        account=AccountShape.from_account(visitor.account),
        sender_id=visitor.account.sender.id,
        scopes=sorted(scope for scope in visitor.scopes if visitor.may(scope)),
        login=None if visitor.login is None else visitor.login.key,
        csrf=None if secret is None else csrf_of(secret),
    )


def tell_entered(request: Request, response: Response, entered: Entered) -> Me:
    """Let a browser keep its login, and say who it is."""
    set_login(response, request, entered.secret)
    account = entered.login.account
    is_owner = account.role is AccountRole.OWNER
    return Me(
        account=AccountShape.from_account(account),
        sender_id=account.sender.id,
        scopes=sorted(TokenScope if is_owner else MEMBER_SCOPES),
        login=entered.login.key,
        csrf=csrf_of(entered.secret),
    )
