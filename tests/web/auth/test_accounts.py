"""Accounts and the audit log, over the API."""

import pytest

from tests.databases import FAST, on
from tests.web.browser import PUBLIC, Browser, browsing, make_link, make_site, public
from threadline.store import Store
from threadline.store.accounts.accounts import list_accounts
from threadline.web.auth.passwords import Passwords


@on(FAST)
async def test_a_member_is_let_in(store: Store) -> None:
    """The owner makes an account and a link; whoever opens it is that member."""
    site = make_site(store)
    async with browsing(site) as owner, browsing(site) as member:
        await owner.open_link(await make_link(store))
        made = await owner.ask("POST", "/api/accounts", {"name": "Ada"})
        link = await owner.ask("POST", f"/api/accounts/{made.json()['key']}/link")
        await member.open_link(link.json()["link"].rpartition("=")[2])
        me = await member.ask("GET", "/api/me")
        listed = await owner.ask("GET", "/api/accounts")

    assert (made.status_code, link.status_code) == (201, 201)
    assert link.json()["link"].startswith("http://127.0.0.1:8642/login?link=")
    assert me.json()["account"]["name"] == "Ada"
    assert [one["name"] for one in listed.json()["items"]] == ["owner", "Ada"]


@on(FAST)
async def test_a_link_leads_to_the_address_of_the_settings(store: Store) -> None:
    """Whoever is not at this machine can open it."""
    async with browsing(make_site(store, public())) as owner:
        await owner.open_link(await make_link(store))
        key = (await store.owner_account()).key
        link = await owner.ask("POST", f"/api/accounts/{key}/link")

    assert link.json()["link"].startswith(f"{PUBLIC}/login?link=")


@on(FAST)
async def test_a_link_is_told_once(store: Store) -> None:
    """The same request is answered without it, and makes no second one."""
    async with browsing(make_site(store)) as owner:
        await owner.open_link(await make_link(store))
        path = f"/api/accounts/{(await store.owner_account()).key}/link"
        headers, before = {"Idempotency-Key": "once"}, len(await store.audit())
        first, again = [await owner.ask("POST", path, headers=headers) for _ in range(2)]
        acts = [one.act for one in await store.audit()]

    assert first.json()["link"]
    assert again.json() == first.json() | {"link": None}
    assert acts[:-before] == ["link.made"]


@on(FAST)
async def test_accounts_are_read_page_by_page(store: Store) -> None:
    """Each page tells where the next one begins."""
    for name in ("Ada", "Bob", "Eve"):
        await store.make_account(name)
    async with browsing(make_site(store)) as owner:
        await owner.open_link(await make_link(store))
        first = (await owner.ask("GET", "/api/accounts?most=2")).json()
        rest = (await owner.ask("GET", f"/api/accounts?most=2&after={first['next']}")).json()

    seen = [one["name"] for one in (*first["items"], *rest["items"])]
    assert sorted(seen) == ["Ada", "Bob", "Eve", "owner"]
    assert (len(first["items"]), rest["next"]) == (2, None)


@on(FAST)
async def test_a_request_sent_twice_makes_one_account(store: Store) -> None:
    """The same key is answered as the first time."""
    headers = {"Idempotency-Key": "once"}
    async with browsing(make_site(store)) as owner:
        await owner.open_link(await make_link(store))
        first = await owner.ask("POST", "/api/accounts", {"name": "Ada"}, headers)
        second = await owner.ask("POST", "/api/accounts", {"name": "Ada"}, headers)

    assert first.json() == second.json()
    assert len(await store.database.read(list_accounts)) == 2


@on(FAST)
async def test_an_account_is_cared_for(store: Store) -> None:
    """It is renamed, loses its password and its logins, and is ended; then it is unknown."""
    ada = await store.make_account("Ada")
    await store.set_password(ada.key, await Passwords().hash("a bridge of sighs"))
    site, path = make_site(store), f"/api/accounts/{ada.key}"
    async with browsing(site) as owner, browsing(site) as member:
        await owner.open_link(await make_link(store))
        seen = {"If-Match": (await owner.ask("GET", path)).headers["etag"]}
        blind = await owner.ask("PATCH", path, {"name": "Ada L."})
        renamed = await owner.ask("PATCH", path, {"name": "Ada L."}, seen)
        stale = await owner.ask("PATCH", path, {"name": "Eve"}, seen)
        entered = await member.log_in("Ada L.")
        dropped = await owner.ask("DELETE", f"{path}/password")
        shut = await member.log_in("Ada L.")
        logged_out = await owner.ask("DELETE", f"{path}/logins")
        gone = await member.ask("GET", "/api/me")
        taken = await owner.ask("PATCH", path, {"name": "owner"}, {"If-Match": "*"})
        ended = await owner.ask("DELETE", path)
        answers = [await owner.ask(method, path) for method in ("GET", "DELETE")]

    assert (blind.status_code, stale.status_code) == (428, 412)
    assert renamed.json()["name"] == "Ada L."
    assert (entered.status_code, dropped.status_code, shut.status_code) == (200, 204, 403)
    assert (logged_out.json(), gone.status_code) == ({"ended": 1}, 401)
    assert (taken.status_code, ended.status_code) == (409, 204)
    assert [one.status_code for one in answers] == [404, 404]


@on(FAST)
@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Ada\r\nSet-Cookie: threadline=x", "Ada Set-Cookie: threadline=x"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("\u202eevil", "evil"),
    ],
)
async def test_hostile_names_stay_names(store: Store, name: str, kept: str) -> None:
    """They become one line of text, no header, and no part of a page."""
    site = make_site(store)
    async with browsing(site) as owner, browsing(site) as member:
        await owner.open_link(await make_link(store))
        made = await owner.ask("POST", "/api/accounts", {"name": name})
        account = await store.account(made.json()["key"])
        entered = await member.open_link(await make_link(store, account))
        page = await member.client.get("/login")

    assert made.json()["name"] == kept
    assert [name for name in entered.headers if name == "set-cookie"] == ["set-cookie"]
    assert "<script" not in page.text


@on(FAST)
async def test_what_was_done_is_written_down(store: Store) -> None:
    """Who did what to whom, page by page, the latest first; and no secret is in it."""
    async with browsing(make_site(store)) as owner:
        await owner.open_link(await make_link(store))
        secrets = await _do_things(owner)
        first = (await owner.ask("GET", "/api/audit?most=4")).json()
        rest = (await owner.ask("GET", f"/api/audit?after={first['next']}")).json()

    acts = [one["act"] for one in (*first["items"], *rest["items"])]
    assert acts == [
        "account.ended",
        "link.made",
        "account.made",
        "token.ended",
        "token.made",
        "password.set",
        "login.begun",
    ]
    assert {one["account"] for one in first["items"]} == {"owner"}
    assert rest["next"] is None
    told = str(first) + str(rest)
    assert not any(secret in told for secret in secrets)


async def _do_things(owner: Browser) -> list[str]:
    """Do some of everything that is written down; answers the secrets that were used."""
    await owner.ask("PUT", "/api/me/password", {"new": "a bridge of sighs"})
    wish = {"name": "mine", "scopes": ["read", "write"]}
    token = (await owner.ask("POST", "/api/tokens", wish)).json()
    await owner.ask("DELETE", f"/api/tokens/{token['key']}")
    ada = (await owner.ask("POST", "/api/accounts", {"name": "Ada"})).json()["key"]
    link = (await owner.ask("POST", f"/api/accounts/{ada}/link")).json()["link"]
    await owner.ask("DELETE", f"/api/accounts/{ada}")
    return ["a bridge of sighs", token["token"], link.rpartition("=")[2], owner.csrf]
