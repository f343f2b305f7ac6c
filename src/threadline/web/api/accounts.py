"""Accounts: who may use the web app and the API."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from threadline.core.account import LINK_LASTS, Account, AccountKey
from threadline.core.errors import NotFound
from threadline.sessions.store import Store
from threadline.web.api.asking import Administering, require_home
from threadline.web.api.deps import ConfigDep, StoreDep, path_key
from threadline.web.api.idempotency import OnceDep
from threadline.web.api.paging import PAGE, After, Most, Page, number_after
from threadline.web.api.problems import told
from threadline.web.api.revisions import IfMatch, seen_in, tell_tag
from threadline.web.api.shapes.accounts import (
    AccountRenaming,
    AccountShape,
    LinkShape,
    LoginsEnded,
    NewAccount,
)
from threadline.web.login.links import make_link
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/accounts", tags=["accounts"])

Key = Annotated[int, path_key("The key of an account.")]


async def _at_home(visitor: Administering) -> Visitor:
    return require_home(visitor)


AtHomeAdministering = Annotated[Visitor, Depends(_at_home)]
"""An owner in a browser: no token decides how somebody logs in, or it would outlast its end."""


@router.get("")
async def list_accounts(
    _: Administering, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[AccountShape]:
    """List everybody who may use the web app, oldest account first."""
    found = await store.accounts_after(number_after(after) or 0, most + 1)
    return Page.cut(found, most, AccountShape.from_account, lambda one: one.key)


@router.post("", status_code=201, response_model=AccountShape, responses=told(409))
async def make_account(wish: NewAccount, visitor: Administering, once: OnceDep) -> Response:
    """Add a member, who may use the web app. A login link or a password lets them in."""

    async def make(store: Store) -> Account:
        return await store.make_account(wish.name, profile=wish.profile, by=visitor.account.actor)

    return await once.answer(visitor.account, make, AccountShape.from_account)


@router.get("/{key}")
async def read_account(
    key: Key, _: Administering, store: StoreDep, response: Response
) -> AccountShape:
    """Read an account."""
    return _shown(response, await _usable(store, key))


@router.patch("/{key}", responses=told(409, 412, 428))
async def rename_account(
    key: Key,
    wish: AccountRenaming,
    visitor: Administering,
    store: StoreDep,
    *,
    response: Response,
    seen: IfMatch = None,
) -> AccountShape:
    """Rename an account; from then on its password goes with the new name."""
    account = await _usable(store, key)
    renamed = await store.rename_account(
        account.key, wish.name, by=visitor.account.actor, seen=seen_in(seen)
    )
    return _shown(response, renamed)


@router.delete("/{key}", status_code=204)
async def end_account(key: Key, visitor: Administering, store: StoreDep) -> Response:
    """End an account: nobody can use it any longer. Its conversations are kept."""
    account = await _usable(store, key)
    await store.end_account(account.key, by=visitor.account.actor)
    return Response(status_code=204)


@router.post("/{key}/link", status_code=201, response_model=LinkShape, responses=told(409))
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

    It is shown only once: a repeated request gets everything but the link.
    """
    account = await _usable(store, key)
    here = f"{request.scope['scheme']}://{request.headers['host']}"

    async def make() -> LinkShape:
        until = store.now() + LINK_LASTS
        link = await make_link(store, account, config.server, here, by=visitor.account.actor)
        return LinkShape(link=link, expires_at=until)

    return await once.answer_slowly(visitor.account, make, kept=LinkShape.without_secret)


@router.delete("/{key}/password", status_code=204)
async def drop_password(key: Key, visitor: AtHomeAdministering, store: StoreDep) -> Response:
    """Remove a password, for example when somebody forgot it."""
    account = await _usable(store, key)
    # Whoever forgot it shall keep the browser in which they are logged in.
    await store.set_password(account.key, None, logs_out=False, by=visitor.account.actor)
    return Response(status_code=204)


@router.delete("/{key}/logins")
async def end_logins_of(key: Key, visitor: Administering, store: StoreDep) -> LoginsEnded:
    """Log somebody out everywhere; if it is you, except for this browser."""
    account = await _usable(store, key)
    own = visitor.login if visitor.account.key == account.key else None
    ended = await store.end_logins(account.key, own.key if own else None, by=visitor.account.actor)
    return LoginsEnded(ended=ended)


def _shown(response: Response, account: Account) -> AccountShape:
    tell_tag(response, account.revision)
    return AccountShape.from_account(account)


async def _usable(store: Store, key: int) -> Account:
    account = await store.account(AccountKey(key))
    if account.ended_at is not None:
        raise NotFound("There is no such account", id=str(key))
    return account
