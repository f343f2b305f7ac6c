"""Me: whoever asks, and what they log in with."""

from typing import Annotated

from fastapi import APIRouter, Request, Response

from threadline.core.account import PasskeyKey
from threadline.core.errors import Refused
from threadline.web.api.asking import AtHome, Visiting
from threadline.web.api.deps import StoreDep, path_key
from threadline.web.api.entering import CeremonyDep, EntranceDep, tell_visitor
from threadline.web.api.paging import Page
from threadline.web.api.problems import told
from threadline.web.api.shapes.accounts import (
    Me,
    PasskeyMade,
    PasskeyQuestion,
    PasskeyShape,
    PasswordChange,
)
from threadline.web.login.cookies import set_login
from threadline.web.login.passwords import checked_password
from threadline.web.visiting import login_secret

router = APIRouter(prefix="/me", tags=["me"])

Key = Annotated[int, path_key("The key of a passkey.")]


@router.get("")
async def read_me(request: Request, response: Response, visitor: Visiting) -> Me:
    """Tell who you are, what you may do, and the CSRF token that every change needs.

    A browser that asks stays logged in for another thirty days.
    """
    if visitor.login is not None and (secret := login_secret(request)):
        set_login(response, request, secret)
    return tell_visitor(request, visitor)


@router.put("/password", status_code=204)
async def set_password(
    wish: PasswordChange,
    request: Request,
    visitor: AtHome,
    entrance: EntranceDep,
    store: StoreDep,
) -> Response:
    """Set your password. All other browsers are logged out."""
    account = visitor.account
    new = checked_password(wish.new, account.name)
    if account.has_password and not await entrance.is_password_of(request, account, wish.old or ""):
        raise Refused("The current password is wrong")
    hashed = await entrance.passwords.hash(new)
    own = visitor.login.key if visitor.login else None
    await store.set_password(account.key, hashed, but=own, by=account.actor)
    return Response(status_code=204)


@router.get("/passkeys")
async def list_passkeys(visitor: AtHome, store: StoreDep) -> Page[PasskeyShape]:
    """List your passkeys."""
    found = await store.passkeys(visitor.account.key)
    return Page(items=[PasskeyShape.from_passkey(one) for one in found])


@router.post("/passkeys/question", responses=told(409))
async def ask_new_passkey(visitor: AtHome, ceremony: CeremonyDep) -> PasskeyQuestion:
    """Get what a browser needs to create a passkey."""
    challenge, options = await ceremony.ask_for_new(visitor.account)
    return PasskeyQuestion(challenge=challenge, options=options)


@router.post("/passkeys", status_code=201, responses=told(409))
async def add_passkey(wish: PasskeyMade, visitor: AtHome, ceremony: CeremonyDep) -> PasskeyShape:
    """Add a passkey to log in with. A question is good for one answer."""
    made = await ceremony.add(visitor.account, wish.name, wish.challenge, wish.credential)
    return PasskeyShape.from_passkey(made)


@router.delete("/passkeys/{key}", status_code=204)
async def delete_passkey(key: Key, visitor: AtHome, store: StoreDep) -> Response:
    """Delete a passkey: it no longer logs you in."""
    account = visitor.account
    await store.delete_passkey(PasskeyKey(key), account.key, by=account.actor)
    return Response(status_code=204)
