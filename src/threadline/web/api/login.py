"""Login: by password or passkey, and out again. The login by a link is a page of its own."""

from fastapi import APIRouter, Request, Response

from threadline.web.api.asking import Visiting
from threadline.web.api.deps import StoreDep
from threadline.web.api.entering import CeremonyDep, EntranceDep, OwnPage, tell_entered
from threadline.web.api.problems import told
from threadline.web.api.shapes.accounts import Me, PasskeyAnswer, PasskeyQuestion, PasswordLogin
from threadline.web.login.cookies import forget_login

router = APIRouter(prefix="/login", tags=["login"])


@router.post("/password", dependencies=[OwnPage])
async def log_in_by_password(
    wish: PasswordLogin, request: Request, response: Response, entrance: EntranceDep
) -> Me:
    """Log in with a name and password.

    The answer sets a cookie. It is the same for an unknown name and for a wrong password; after
    too many wrong attempts you have to wait.
    """
    entered = await entrance.by_password(request, wish.name, wish.password)
    return tell_entered(request, response, entered)


@router.post("/passkey/question", dependencies=[OwnPage], responses=told(409))
async def ask_passkey(
    request: Request, entrance: EntranceDep, ceremony: CeremonyDep
) -> PasskeyQuestion:
    """Get what a browser needs to sign with a passkey."""
    challenge, options = ceremony.ask_anybody(await entrance.count(request))
    return PasskeyQuestion(challenge=challenge, options=options)


@router.post("/passkey", dependencies=[OwnPage], responses=told(409))
async def log_in_by_passkey(
    wish: PasskeyAnswer,
    request: Request,
    response: Response,
    entrance: EntranceDep,
    ceremony: CeremonyDep,
) -> Me:
    """Log in with a passkey that signed the question. The answer sets a cookie."""
    account, tried = await ceremony.recognise(wish.challenge, wish.credential)
    entered = await entrance.admit(request, account, "passkey", tried)
    return tell_entered(request, response, entered)


@router.delete("", status_code=204)
async def log_out(request: Request, visitor: Visiting, store: StoreDep) -> Response:
    """Log this browser out."""
    if visitor.login is not None:
        account = visitor.account
        await store.end_login(visitor.login.key, account.key, by=account.actor)
    response = Response(status_code=204)
    forget_login(response, request)
    return response
