"""Me: whoever asks, and what they log in with."""

from typing import Annotated

from fastapi import Request, Response
from msgspec import Meta

from threadline.core.account import NAME_LIMIT, LoginWay, PasskeyKey
from threadline.core.errors import Refused
from threadline.store import Store
from threadline.web.auth.cookies import set_login
from threadline.web.auth.passwords import PASSWORD_MOST, checked_password
from threadline.web.authentication import Caller, login_secret
from threadline.web.bodies import Body, Time, View
from threadline.web.resources.auth_deps import AtHome, Visiting, require_proof
from threadline.web.resources.deps import StoreDep, path_key
from threadline.web.resources.login_deps import (
    CeremonyDep,
    EntranceDep,
    MeView,
    PasskeyAnswerRequest,
    PasskeyQuestionView,
    tell_visitor,
)
from threadline.web.resources.pagination import Page
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router


class PasswordChangeRequest(Body, frozen=True, kw_only=True):
    """A new password."""

    new: Annotated[str, Meta(max_length=PASSWORD_MOST, examples=["three words of yours"])]
    """At least ten characters, and none of those that everybody guesses."""
    old: Annotated[str, Meta(max_length=PASSWORD_MOST)] | None = None
    """The one until now, if there is one."""
    end_tokens: bool = False
    """Revoke all your tokens, too."""


class PasswordProofRequest(Body, frozen=True, kw_only=True):
    """The password of an account that is logged in."""

    password: Annotated[str, Meta(max_length=PASSWORD_MOST, examples=["three words of yours"])]


class PasskeyView(View, frozen=True, kw_only=True):
    """A passkey on a device of somebody."""

    key: int
    name: str
    made_at: Time
    used_at: Time | None


class NewPasskeyRequest(PasskeyAnswerRequest, frozen=True, kw_only=True):
    """A passkey that a browser made."""

    name: Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT, examples=["Ada's phone"])]


router = Router(prefix="/me", tags=["me"])

Key = Annotated[int, path_key("The key of a passkey.")]


@router.get("")
async def read_me(request: Request, response: Response, visitor: Visiting) -> MeView:
    """Tell who you are, what you may do, and the CSRF token that every change needs.

    A browser that asks stays logged in for another thirty days.
    """
    if visitor.login is not None and (secret := login_secret(request)):
        set_login(response, request, secret)
    return tell_visitor(request, visitor)


@router.put("/password", status_code=204)
async def set_password(
    wish: PasswordChangeRequest,
    request: Request,
    visitor: AtHome,
    entrance: EntranceDep,
    store: StoreDep,
) -> Response:
    """Set your password. All other browsers are logged out, on wish also programs with tokens.

    The current password is a proof of who you are; without one you must have logged in, or sent
    another proof, within the last ten minutes.
    """
    account = visitor.account
    new = checked_password(wish.new, account.name)
    if not account.has_password:
        require_proof(visitor, store.now())
    elif not await entrance.is_password_of(request, account, wish.old or ""):
        raise Refused("The current password is wrong")
    hashed = await entrance.passwords.hash(new)
    own = visitor.login.key if visitor.login else None
    await store.set_password(
        account.key, hashed, ends_tokens=wish.end_tokens, but=own, by=visitor.actor
    )
    return Response(status_code=204)


@router.post("/proof", status_code=204)
async def prove_by_password(
    wish: PasswordProofRequest,
    request: Request,
    visitor: AtHome,
    entrance: EntranceDep,
    store: StoreDep,
) -> Response:
    """Prove again who you are, with your password.

    For ten minutes after a proof or a login, this browser may create tokens, passkeys and login
    links, and remove passwords; without one, these requests fail with 403 and the title
    `ProofNeeded`.
    """
    account = visitor.account
    if not await entrance.is_password_of(request, account, wish.password):
        raise Refused("The password is wrong")
    return await _proven(store, visitor, LoginWay.PASSWORD)


@router.post("/proof/question", responses=problem_responses(409))
async def ask_proof(visitor: AtHome, ceremony: CeremonyDep) -> PasskeyQuestionView:
    """Get what a browser needs to prove with a passkey who you are."""
    challenge, options = ceremony.ask_for_proof(visitor.account)
    return PasskeyQuestionView(challenge=challenge, options=options)


@router.post("/proof/passkey", status_code=204, responses=problem_responses(409))
async def prove_by_passkey(
    wish: PasskeyAnswerRequest, visitor: AtHome, ceremony: CeremonyDep, store: StoreDep
) -> Response:
    """Prove again who you are, with a passkey of yours that signed the question."""
    await ceremony.prove(visitor.account, wish.challenge, wish.credential)
    return await _proven(store, visitor, LoginWay.PASSKEY)


async def _proven(store: Store, visitor: Caller, how: LoginWay) -> Response:
    if visitor.login is not None:
        await store.prove_login(visitor.login.key, visitor.account.key, how)
    return Response(status_code=204)


@router.get("/passkeys")
async def list_passkeys(visitor: AtHome, store: StoreDep) -> Page[PasskeyView]:
    """List your passkeys."""
    found = await store.passkeys(visitor.account.key)
    return Page(items=[PasskeyView.of(one) for one in found])


@router.post("/passkeys/question", responses=problem_responses(409))
async def ask_new_passkey(
    visitor: AtHome, ceremony: CeremonyDep, store: StoreDep
) -> PasskeyQuestionView:
    """Get what a browser needs to create a passkey, within ten minutes of a login or a proof."""
    require_proof(visitor, store.now())
    challenge, options = await ceremony.ask_for_new(store, visitor.account)
    return PasskeyQuestionView(challenge=challenge, options=options)


@router.post("/passkeys", status_code=201, responses=problem_responses(409))
async def add_passkey(
    wish: NewPasskeyRequest, visitor: AtHome, ceremony: CeremonyDep, store: StoreDep
) -> PasskeyView:
    """Add a passkey to log in with. A question is good for one answer."""
    require_proof(visitor, store.now())
    made = await ceremony.add(store, visitor.account, wish.name, wish.challenge, wish.credential)
    return PasskeyView.of(made)


@router.delete("/passkeys/{key}", status_code=204)
async def delete_passkey(key: Key, visitor: AtHome, store: StoreDep) -> Response:
    """Delete a passkey: it no longer logs you in."""
    account = visitor.account
    await store.delete_passkey(PasskeyKey(key), account.key, by=visitor.actor)
    return Response(status_code=204)
