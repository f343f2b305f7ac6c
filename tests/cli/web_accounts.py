"""Guests of the web app: one of everything that lets them in, and of what they leave behind."""

from datetime import timedelta

from threadline.core.account import KnownRequest, ShareId, TokenScope
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.accounts.accounts import list_accounts
from threadline.store.accounts.idempotency import find_outcome


async def welcome(store: Store, id: SessionId) -> None:
    """Let somebody use the web app in all ways, and share a page."""
    owner, ada = await store.owner_account(), await store.make_account("ada")
    await store.make_link(owner.key, "0" * 64)
    await store.begin_login(owner.key, "1" * 64, "a browser")
    await store.make_token(owner.key, "script", [TokenScope.READ], "2" * 64)
    await store.add_passkey(ada.key, "phone", credential=b"c", public_key=b"p")
    request = KnownRequest(account=owner.key, key="key", request_hash="3" * 64)
    await store.claim_outcome(request, "mine")
    await store.keep_outcome(request, "mine", 201, "{}")
    await store.make_share(id, ShareId("share"), "a page", by=owner.actor)
    await store.count_try({"eve": 1}, timedelta(days=1))


async def seen(store: Store) -> list[object]:
    """Read all that there is of guests."""
    found: list[object] = []
    for account in await store.database.read(list_accounts):
        found += [account, *await store.logins(account.key), *await store.tokens(account.key)]
        found += [
            *await store.passkeys(account.key),
            await store.database.read(find_outcome, account.key, "key"),
        ]
    may_try = await store.count_try({"eve": 1}, timedelta(days=1)) is not None
    return [*found, *await store.shares(), *await store.audit(), may_try]
