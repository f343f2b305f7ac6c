"""What nobody may do in another's name: other pages, other hosts, copies and old secrets."""

import asyncio
from collections.abc import Mapping

import pytest

from tests.databases import FAST, on
from tests.web.browser import (
    HERE,
    PUBLIC,
    Browser,
    browsing,
    make_link,
    make_site,
    make_token,
    public,
    settings,
)
from threadline.core.account import TokenScope
from threadline.store import Store
from threadline.web.headers import POLICY

A_TOKEN = {"name": "mine", "scopes": ["read"]}


async def logged_in(browser: Browser, store: Store) -> Browser:
    """Log the owner in."""
    await browser.open_link(await make_link(store))
    return browser


@on(FAST)
@pytest.mark.parametrize("csrf", ["", "wrong", "ümlaut", "0" * 64])
async def test_a_change_needs_its_word(store: Store, csrf: str) -> None:
    """A cookie alone changes nothing: other pages can send it, but not read the word."""
    async with browsing(make_site(store)) as browser:
        await logged_in(browser, store)
        word = csrf.encode()
        told = {b"X-CSRF-Token": word} if csrf else {}
        refused = await browser.client.post("/api/tokens", json=A_TOKEN, headers=told)
        taken = await browser.ask("POST", "/api/tokens", A_TOKEN)

    assert refused.status_code == 403
    assert refused.headers["content-type"] == "application/problem+json"
    assert taken.status_code == 201


@on(FAST)
async def test_the_word_of_another_login_does_not_do(store: Store) -> None:
    """Each login has its own."""
    site = make_site(store)
    async with browsing(site) as one, browsing(site) as other:
        await logged_in(one, store)
        await logged_in(other, store)
        refused = await one.ask("POST", "/api/tokens", A_TOKEN, {"X-CSRF-Token": other.csrf})

    assert one.csrf != other.csrf
    assert refused.status_code == 403


@on(FAST)
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:8642"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "http://[half"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": HERE, "Sec-Fetch-Site": "cross-site"},
    ],
)
async def test_another_page_changes_nothing(store: Store, headers: Mapping[str, str]) -> None:
    """Even one that knew the word is known by what its browser says of it."""
    async with browsing(make_site(store)) as browser:
        await logged_in(browser, store)
        refused = await browser.ask("POST", "/api/tokens", A_TOKEN, headers)
        login = await browser.client.post(
            "/api/login/password", json={"name": "owner", "password": "x"}, headers=headers
        )
        form = await browser.client.post("/login", data={"link": "x"}, headers=headers)

    assert [refused.status_code, login.status_code, form.status_code] == [403, 403, 403]
    assert await store.tokens((await store.owner_account()).key) == []


@on(FAST)
@pytest.mark.parametrize(
    "headers", [{"Origin": HERE}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}]
)
async def test_our_own_page_may(store: Store, headers: Mapping[str, str]) -> None:
    """A browser says that a page of ours asks, and it may."""
    async with browsing(make_site(store)) as browser:
        await logged_in(browser, store)
        taken = await browser.ask("POST", "/api/tokens", A_TOKEN, headers)

    assert taken.status_code == 201


@on(FAST)
async def test_a_proxy_may_call_us_by_another_name(store: Store) -> None:
    """The origin is the address that the settings name, whatever the proxy calls us."""
    site = make_site(store, public())
    async with browsing(site) as browser:
        await logged_in(browser, store)
        taken = await browser.ask("POST", "/api/tokens", A_TOKEN, {"Origin": PUBLIC})

    assert taken.status_code == 201


@on(FAST)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "a@127.0.0.1", "[::1"],
)
async def test_a_name_that_is_not_ours_is_turned_away(store: Store, host: str) -> None:
    """A stranger's page can let its own name lead here; its browser then says that name."""
    async with browsing(make_site(store)) as browser:
        await logged_in(browser, store)
        turned_away = await browser.client.get("/api/me", headers={"Host": host})

    assert turned_away.status_code == 421
    assert turned_away.headers["x-content-type-options"] == "nosniff"


@on(FAST)
@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "app.localhost", "[::1]:80", "192.168.0.7", "mine.lan"]
)
async def test_our_own_names_are_known(store: Store, host: str) -> None:
    """This machine's names, addresses in numbers, and what the settings name."""
    site = make_site(store, settings('[server]\nhosts = ["mine.lan"]'))
    async with browsing(site) as browser:
        answered = await browser.client.get("/api/me", headers={"Host": host})

    assert answered.status_code == 401


@on(FAST)
async def test_only_known_proxies_are_believed(store: Store) -> None:
    """Whoever says by themselves that they came over https is not taken at their word."""
    site = make_site(store, public())
    claimed = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "127.0.0.1"}
    base = "http://chat.example.org"
    async with (
        browsing(site, address="203.0.113.9", headers=claimed, base=base) as stranger,
        browsing(site, address="10.1.2.3", headers=claimed, base=base) as proxied,
    ):
        link = await make_link(store)
        by_stranger = await stranger.client.get(f"/login?link={link}")
        by_proxy = await proxied.client.get("/api/me")

    assert by_stranger.status_code == 200  # a button, as it did not come from this machine
    assert "strict-transport-security" not in by_stranger.headers
    assert "strict-transport-security" in by_proxy.headers


@on(FAST)
async def test_every_answer_tells_browsers_what_may_be(store: Store) -> None:
    """Pages, answers and problems alike: no script of others, nothing kept, nobody around them."""
    async with browsing(make_site(store)) as browser:
        answers = [await browser.client.get(path) for path in ("/login", "/api/me", "/api/none")]

    for answer in answers:
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "strict-transport-security" not in answer.headers
    assert "unsafe" not in POLICY
    assert "<script" not in answers[0].text
    assert "style=" not in answers[0].text


@on(FAST)
@pytest.mark.parametrize(
    "header",
    ["Bearer", "Bearer ", "Bearer tl_", "Basic b3duZXI6eA==", "tl_x", "Bearer " + "x" * 5000, ""],
)
async def test_an_odd_token_is_nobody(store: Store, header: str) -> None:
    """Whoever shows one is not let in by the cookie beside it either."""
    async with browsing(make_site(store)) as browser:
        await logged_in(browser, store)
        answer = await browser.client.get("/api/me", headers={"Authorization": header})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@on(FAST)
async def test_a_token_does_what_it_is_for(store: Store) -> None:
    """It needs no word, as no browser sends it by itself; more than its scopes it may not."""
    read = await make_token(store, TokenScope.READ)
    admin = await make_token(store, TokenScope.READ, TokenScope.ADMIN)
    async with browsing(make_site(store)) as program:
        mine = await program.ask("GET", "/api/tokens", headers=read)
        more = await program.ask("POST", "/api/tokens", A_TOKEN, read)
        people = await program.ask("GET", "/api/accounts", headers=read)
        made = await program.ask("POST", "/api/tokens", A_TOKEN, admin)
        too_much = await program.ask("POST", "/api/tokens", {**A_TOKEN, "scopes": ["write"]}, admin)
        password = await program.ask("PUT", "/api/me/password", {"new": "x" * 12}, admin)

    assert [one.status_code for one in (mine, more, people)] == [200, 403, 403]
    assert [one.status_code for one in (made, too_much, password)] == [201, 403, 403]


@on(FAST)
async def test_a_token_is_shown_once(store: Store) -> None:
    """Neither the list nor the store knows it, and it works until it is ended."""
    async with browsing(make_site(store)) as browser, browsing(make_site(store)) as program:
        await logged_in(browser, store)
        made = (await browser.ask("POST", "/api/tokens", {**A_TOKEN, "days": 7})).json()
        shown = {"Authorization": f"Bearer {made['token']}"}
        listed = await browser.ask("GET", "/api/tokens")
        before = await program.ask("GET", "/api/me", headers=shown)
        ended = await browser.ask("DELETE", f"/api/tokens/{made['key']}")
        after = await program.ask("GET", "/api/me", headers=shown)
        again = await browser.ask("DELETE", f"/api/tokens/{made['key']}")

    assert made["token"].startswith("tl_")
    assert made["expires_at"] is not None
    assert made["token"] not in listed.text
    assert [one["name"] for one in listed.json()["items"]] == ["mine"]
    assert (before.json()["scopes"], before.json()["csrf"]) == (["read"], None)
    assert [one.status_code for one in (before, ended, after, again)] == [200, 204, 401, 404]


@on(FAST)
async def test_a_login_can_be_ended_from_another(store: Store) -> None:
    """Somebody sees where they are logged in, and logs the others out."""
    site = make_site(store)
    async with (
        browsing(site, headers={"User-Agent": "Phone\x1b[2J"}) as phone,
        browsing(site, headers={"User-Agent": "Desk"}) as desk,
        browsing(site) as third,
    ):
        for browser in (phone, third, desk):
            await logged_in(browser, store)
        listed = (await desk.ask("GET", "/api/logins")).json()["items"]
        keys = {one["device"]: one["key"] for one in listed}
        one_ended = await desk.ask("DELETE", f"/api/logins/{keys['Phone[2J']}")
        on_phone = await phone.ask("GET", "/api/me")
        others = await desk.ask("DELETE", "/api/logins")
        on_third = await third.ask("GET", "/api/me")
        here = await desk.ask("GET", "/api/me")

    assert [one["is_this"] for one in listed if one["device"] == "Desk"] == [True]
    assert (one_ended.status_code, on_phone.status_code) == (204, 401)
    assert others.json() == {"ended": 1}
    assert (on_third.status_code, here.status_code) == (401, 200)


@on(FAST)
async def test_an_ended_account_is_out_at_once(store: Store) -> None:
    """Its browsers, tokens and links open nothing from the next request on."""
    ada = await store.make_account("Ada")
    token = await make_token(store, TokenScope.READ, account=ada)
    site = make_site(store)
    async with browsing(site) as owner, browsing(site) as member, browsing(site) as late:
        await logged_in(owner, store)
        await member.open_link(await make_link(store, ada))
        link = await make_link(store, ada)
        before = await member.ask("GET", "/api/me")
        ended = await owner.ask("DELETE", f"/api/accounts/{ada.key}")
        after = await asyncio.gather(
            member.ask("GET", "/api/me"),
            late.ask("GET", "/api/me", headers=token),
            late.open_link(link),
        )

    assert (before.status_code, ended.status_code) == (200, 204)
    assert [one.status_code for one in after] == [401, 401, 410]


@on(FAST)
async def test_a_member_administers_nothing(store: Store) -> None:
    """Accounts and the audit log are the owner's; their own logins and tokens are theirs."""
    ada = await store.make_account("Ada")
    site = make_site(store)
    async with browsing(site) as owner, browsing(site) as member:
        await logged_in(owner, store)
        await member.open_link(await make_link(store, ada))
        me = (await member.ask("GET", "/api/me")).json()
        refused = [
            await member.ask("GET", "/api/accounts"),
            await member.ask("GET", "/api/audit"),
            await member.ask("POST", "/api/accounts", {"name": "Bob"}),
            await member.ask("POST", "/api/tokens", {"name": "x", "scopes": ["admin"]}),
        ]
        listed = (await owner.ask("GET", "/api/logins")).json()["items"]
        foreign = await member.ask("DELETE", f"/api/logins/{listed[0]['key']}")
        own = await member.ask("POST", "/api/tokens", A_TOKEN)

    assert (me["account"]["role"], me["scopes"]) == ("member", ["read", "write"])
    assert [one.status_code for one in refused] == [403, 403, 403, 403]
    assert (foreign.status_code, own.status_code) == (404, 201)
