"""Accounts: who may use the web app and the API."""

from typing import Annotated, Self

from fastapi import Depends, Request, Response
from msgspec import Meta
from msgspec.structs import replace

from threadline.core.account import LINK_LASTS, NAME_LIMIT, Account, AccountKey, AccountRole
from threadline.core.errors import NotFound
from threadline.store import Store
from threadline.web.auth.login_links import create_login_url
from threadline.web.authentication import Caller
from threadline.web.bodies import Body, Revision, Time, View
from threadline.web.resources.auth_deps import Administering, require_home, require_proof
from threadline.web.resources.deps import ConfigDep, StoreDep, path_key
from threadline.web.resources.etags import IfMatch, seen_in, tell_tag
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.logins import LoginsEndedView
from threadline.web.resources.pagination import PAGE, After, Most, Page, number_after
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.router import Router

Name = Annotated[str, Meta(min_length=1, max_length=NAME_LIMIT, examples=["Ada"])]
"""The name of an account."""


class AccountView(View, frozen=True, kw_only=True):
    """Somebody who may use the web app."""

    key: int
    name: str
    role: AccountRole
    profile: str | None
    """The profile that they belong to; null: all of them."""
    has_password: bool
    made_at: Time
    revision: Revision


class AccountRequest(Body, frozen=True, kw_only=True):
    """A member who may use the web app from now on."""

    name: Name
    profile: Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9_-]{0,63}$")] | None = None
    """The profile they belong to; null: all of them."""


class AccountRenameRequest(Body, frozen=True, kw_only=True):
    """Another name."""

    name: Name


class LinkView(View, frozen=True, kw_only=True):
    """A link that logs in once."""

    link: Annotated[str, Meta(examples=["http://127.0.0.1:8642/login?link=…"])] | None
    """Give it to whoever is to log in; it is shown once. Null: the same request was answered
    before.
    """
    expires_at: Time

    def without_secret(self) -> Self:
        """Tell the same to whoever asks again."""
        return replace(self, link=None)


router = Router(prefix="/accounts", tags=["accounts"])

Key = Annotated[int, path_key("The key of an account.")]


async def _at_home(visitor: Administering) -> Caller:
    return require_home(visitor)


AtHomeAdministering = Annotated[Caller, Depends(_at_home)]
"""An owner in a browser: no token decides how somebody logs in, or it would outlast its end."""


@router.get("")
async def list_accounts(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[AccountView]:
    """List everybody who may use the web app, oldest account first."""
    found = await store.accounts_after(number_after(after) or 0, most + 1)
    return Page.cut(found, most, AccountView.of, lambda one: one.key)


@router.post("", status_code=201, response_model=AccountView, responses=problem_responses(409))
async def make_account(wish: AccountRequest, visitor: Administering, once: OnceDep) -> Response:
    """Add a member, who may use the web app. A login link or a password lets them in."""

    async def make(store: Store) -> Account:
        return await store.make_account(wish.name, profile=wish.profile, by=visitor.actor)

    return await once.answer(visitor.account, make, AccountView.of)


@router.get("/{key}")
async def read_account(
    key: Key, _: Administering, store: StoreDep, response: Response
) -> AccountView:
    """Read an account."""
    return _shown(response, await _usable(store, key))


@router.patch("/{key}", responses=problem_responses(409, 412, 428))
async def rename_account(
    key: Key,
    wish: AccountRenameRequest,
    visitor: Administering,
    store: StoreDep,
    *,
    response: Response,
    seen: IfMatch = None,
) -> AccountView:
    """Rename an account; from then on its password goes with the new name."""
    account = await _usable(store, key)
    renamed = await store.rename_account(
        account.key, wish.name, by=visitor.actor, seen=seen_in(seen)
    )
    return _shown(response, renamed)


@router.delete("/{key}", status_code=204)
async def end_account(key: Key, visitor: Administering, store: StoreDep) -> Response:
    """End an account: nobody can use it any longer. Its conversations are kept."""
    account = await _usable(store, key)
    await store.end_account(account.key, by=visitor.actor)
    return Response(status_code=204)


@router.post(
    "/{key}/link", status_code=201, response_model=LinkView, responses=problem_responses(409)
)
async def make_login_link(
    *,
    key: Key,
    request: Request,
    visitor: AtHomeAdministering,
    store: StoreDep,
    config: ConfigDep,
    once: OnceDep,
) -> Response:
    """Create a link that logs somebody in once, within 15 minutes.

    You must have logged in, or proven who you are, within the last ten minutes. The link is shown
    only once: a repeated request gets everything but the link.
    """
    require_proof(visitor, store.now())
    account = await _usable(store, key)
    here = f"{request.scope['scheme']}://{request.headers['host']}"

    async def make() -> LinkView:
        until = store.now() + LINK_LASTS
        link = await create_login_url(store, account, config.server, here, by=visitor.actor)
        return LinkView(link=link, expires_at=until)

    return await once.answer_slowly(visitor.account, make, kept=LinkView.without_secret)


@router.delete("/{key}/password", status_code=204)
async def drop_password(key: Key, visitor: AtHomeAdministering, store: StoreDep) -> Response:
    """Remove a password, for example when somebody forgot it.

    You must have logged in, or proven who you are, within the last ten minutes.
    """
    require_proof(visitor, store.now())
    account = await _usable(store, key)
    # Whoever forgot it shall keep the browser in which they are logged in.
    await store.set_password(account.key, None, logs_out=False, by=visitor.actor)
    return Response(status_code=204)


@router.delete("/{key}/logins")
async def end_logins_of(key: Key, visitor: Administering, store: StoreDep) -> LoginsEndedView:
    """Log somebody out everywhere; if it is you, except for this browser."""
    account = await _usable(store, key)
    own = visitor.login if visitor.account.key == account.key else None
    ended = await store.end_logins(account.key, own.key if own else None, by=visitor.actor)
    return LoginsEndedView(ended=ended)


def _shown(response: Response, account: Account) -> AccountView:
    tell_tag(response, account.revision)
    return AccountView.of(account)


async def _usable(store: Store, key: int) -> Account:
    account = await store.account(AccountKey(key))
    if account.ended_at is not None:
        raise NotFound("There is no such account", id=str(key))
    return account
