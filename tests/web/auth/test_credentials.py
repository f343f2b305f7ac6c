"""Credentials that create credentials: nothing lasts longer or may do more than its creator."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import FAST, OpenStore, on
from tests.store.command_setup import both
from tests.web.browser import PASSWORD, browsing, make_link, make_site
from tests.web.resources.sample_store import describe
from threadline.core.account import Account, Actor, TokenKey, TokenScope
from threadline.core.errors import NotFound, Refused
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.web.authentication import TOKEN_PREFIX, hash_secret, new_secret

READ, ADMIN = TokenScope.READ, TokenScope.ADMIN
DAYS = 30

CREATED = {
    "token: read": ("POST", "/api/tokens", {"name": "x", "scopes": ["read"]}),
    "token: read write": ("POST", "/api/tokens", {"name": "x", "scopes": ["read", "write"]}),
    "token: admin": ("POST", "/api/tokens", {"name": "x", "scopes": ["admin"]}),
    "token: as long": ("POST", "/api/tokens", {"name": "x", "scopes": ["read"], "days": DAYS}),
    "token: longer": ("POST", "/api/tokens", {"name": "x", "scopes": ["read"], "days": DAYS + 1}),
    "passkey": ("POST", "/api/me/passkeys/question", None),
    "password": ("PUT", "/api/me/password", {"new": PASSWORD}),
    "proof": ("POST", "/api/me/proof", {"password": PASSWORD}),
    "own link": ("POST", "/api/accounts/{own}/link", None),
    "link of another": ("POST", "/api/accounts/{other}/link", None),
    "account": ("POST", "/api/accounts", {"name": "Nora"}),
    "join of the owner": (
        "POST",
        "/api/people/join",
        {"one": "telegram:eve", "other": "local:owner"},
    ),
}
"""Everything by which a credential could create another one."""

NO_TOKENS = dict.fromkeys(CREATED, 403)
ALLOWED = {
    "token: read": 201,
    "token: read write": 201,
    "token: admin": 201,
    "token: as long": 201,
    "token: longer": 201,
    "passkey": 200,
    "password": 204,
    "proof": 204,
    "own link": 201,
    "link of another": 201,
    "account": 201,
    "join of the owner": 404,  # allowed, and neither of them has said anything yet
}
ADMINISTRATIVE = ("token: admin", "own link", "link of another", "account", "join of the owner")
CREATORS: dict[str, dict[str, int]] = {
    "login of the owner": ALLOWED,
    "login of a member": ALLOWED | dict.fromkeys(ADMINISTRATIVE, 403),
    "token of the owner: read write admin": NO_TOKENS
    | {name: 201 for name in CREATED if name.startswith("token")}
    | {"token: longer": 403, "account": 201},
    "token of the owner: read admin": NO_TOKENS
    | {"token: read": 201, "token: admin": 201, "token: as long": 201, "account": 201},
    "token of the owner: admin": NO_TOKENS | {"token: admin": 201, "account": 201},
    "token of the owner: read write": NO_TOKENS,
    "token of the owner: read": NO_TOKENS,
    "token of a member: read write": NO_TOKENS,
    "token of a member: read": NO_TOKENS,
}


async def make_creator(store: Store, creator: str, accounts: dict[str, Account]) -> dict[str, str]:
    """Make a credential; return the headers that show it, or the link of a login."""
    kind, _, scopes = creator.partition(": ")
    account = accounts["member" if "member" in kind else "owner"]
    if kind.startswith("login"):
        return {"link": await make_link(store, account)}
    secret = new_secret(TOKEN_PREFIX)
    named = [TokenScope(one) for one in scopes.split()]
    until = store.now() + timedelta(days=DAYS)
    await store.make_token(account.key, "creator", named, hash_secret(secret), until)
    return {"Authorization": f"Bearer {secret}"}


@on(FAST)
@pytest.mark.parametrize("creator", CREATORS)
async def test_no_credential_creates_more_than_itself(open_store: OpenStore, creator: str) -> None:
    """Each creator × each kind of credential; what a token creates ends no later than it."""
    store = await open_store(clock=FakeClock())
    accounts = {"owner": await store.owner_account(), "member": await store.make_account("Mia")}
    accounts["other"] = await store.make_account("Otto")
    shown = await make_creator(store, creator, accounts)
    own = accounts["member" if "member" in creator else "owner"]
    told: dict[str, int] = {}
    async with browsing(make_site(store), base="http://localhost:8642") as browser:
        if link := shown.pop("link", None):
            await browser.open_link(link)
        for name, (method, path, body) in CREATED.items():
            place = path.format(own=own.key, other=accounts["other"].key)
            answer = await browser.ask(method, place, body, shown)
            told[name] = answer.status_code
            if name == "token: read" and answer.status_code == 201 and shown:
                # Without an end of its own it ends with the one that created it.
                assert answer.json()["expires_at"] is not None

    assert told == CREATORS[creator]
    if shown:
        until = store.now() + timedelta(days=DAYS)
        ends = [one.expires_at for one in await store.tokens(own.key)]
        assert all(end is not None and end <= until for end in ends)
        assert await store.logins(own.key) == []


def test_nothing_extends_a_token() -> None:
    """No operation of the API changes a token: they are listed, created and revoked."""
    paths = {path: set(found) for path, found in describe()["paths"].items() if "token" in path}

    assert paths == {"/tokens": {"get", "post"}, "/tokens/{key}": {"delete"}}


async def _family(store: Store, name: str) -> tuple[Account, list[TokenKey]]:
    """Make a token, with it a second one, and with that a third."""
    owner = await store.owner_account()
    made: list[TokenKey] = []
    for number in range(3):
        by = Actor(account=owner.key, token=made[-1]) if made else owner.actor
        secret = hash_secret(f"{name} {number}")
        made.append((await store.make_token(owner.key, name, [READ, ADMIN], secret, by=by)).key)
    return owner, made


@both
async def test_a_revoked_token_takes_along_what_it_created(store: Store) -> None:
    """Children and grandchildren are worth nothing any more, and each is in the audit log."""
    owner, made = await _family(store, "family")
    await store.make_token(owner.key, "apart", [READ], "9" * 64)

    await store.end_token(made[0], owner.key, by=owner.actor)

    assert [one.name for one in await store.tokens(owner.key)] == ["apart"]
    assert [await store.find_token(hash_secret(f"family {n}")) for n in range(3)] == [None] * 3
    ended = [one.subject for one in await store.audit() if one.act == "token.ended"]
    assert sorted(ended) == sorted(str(key) for key in made)
    with pytest.raises(NotFound):
        await store.end_token(made[1], owner.key)


@both
async def test_a_token_creates_nothing_while_it_is_revoked(store: Store) -> None:
    """However both requests interleave, no token is left whose creator is revoked."""
    for number in range(10):
        owner, made = await _family(store, str(number))
        by = Actor(account=owner.key, token=made[-1])
        await asyncio.gather(
            store.end_token(made[0], owner.key),
            store.make_token(owner.key, "late", [READ], hash_secret(f"late {number}"), by=by),
            return_exceptions=True,
        )
        assert await store.tokens(owner.key) == []
        with pytest.raises(Refused):
            await store.make_token(owner.key, "later", [READ], "9" * 64, by=by)
