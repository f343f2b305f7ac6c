"""Login: by password or passkey, and out again. The login by a link is a page of its own."""

from typing import Annotated

from fastapi import Request, Response
from msgspec import Meta

from threadline.web.auth.cookies import forget_login
from threadline.web.auth.passwords import PASSWORD_MOST
from threadline.web.bodies import Body
from threadline.web.resources.accounts import Name
from threadline.web.resources.auth_deps import Visiting
from threadline.web.resources.deps import StoreDep
from threadline.web.resources.login_deps import (
    CeremonyDep,
    EntranceDep,
    MeView,
    OwnPage,
    PasskeyAnswerRequest,
    PasskeyQuestionView,
    tell_entered,
)
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router


class PasswordLoginRequest(Body, frozen=True, kw_only=True):
    """Who wants to log in, and how they prove it."""

    name: Name
    password: Annotated[str, Meta(max_length=PASSWORD_MOST, examples=["three words of yours"])]


router = Router(prefix="/login", tags=["login"])


@router.post("/password", dependencies=[OwnPage])
async def log_in_by_password(
    wish: PasswordLoginRequest, request: Request, response: Response, entrance: EntranceDep
) -> MeView:
    """Log in with a name and password.

    The answer sets a cookie. It is the same for an unknown name and for a wrong password; after
    too many wrong attempts you have to wait.
    """
    entered = await entrance.by_password(request, wish.name, wish.password)
    return tell_entered(request, response, entered)


@router.post("/passkey/question", dependencies=[OwnPage], responses=problem_responses(409))
async def ask_passkey(
    request: Request, entrance: EntranceDep, ceremony: CeremonyDep
) -> PasskeyQuestionView:
    """Get what a browser needs to sign with a passkey."""
    challenge, options = ceremony.ask_anybody(await entrance.count(request))
    return PasskeyQuestionView(challenge=challenge, options=options)


@router.post("/passkey", dependencies=[OwnPage], responses=problem_responses(409))
async def log_in_by_passkey(
    wish: PasskeyAnswerRequest,
    request: Request,
    response: Response,
    entrance: EntranceDep,
    ceremony: CeremonyDep,
) -> MeView:
    """Log in with a passkey that signed the question. The answer sets a cookie."""
    account, tried = await ceremony.recognise(wish.challenge, wish.credential)
    entered = await entrance.admit(request, account, "passkey", tried)
    return tell_entered(request, response, entered)


@router.delete("", status_code=204)
async def log_out(request: Request, visitor: Visiting, store: StoreDep) -> Response:
    """Log this browser out."""
    if visitor.login is not None:
        account = visitor.account
        await store.end_login(visitor.login.key, account.key, by=visitor.actor)
    response = Response(status_code=204)
    forget_login(response, request)
    return response
