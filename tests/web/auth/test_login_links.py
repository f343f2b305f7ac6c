"""The login by a link: once, soon, and for nobody else."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.browser import PUBLIC, browsing, make_link, make_site, public, settings
from threadline.core.account import LINK_LASTS, LOGIN_LASTS
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.web.auth.login_links import create_login_url as write_link
from threadline.web.spa import SpaFiles


@on(FAST, POSTGRES)
async def test_a_link_logs_in(store: Store) -> None:
    """The link sets a cookie that scripts cannot read, and leads to a page that knows its owner."""
    async with browsing(make_site(store)) as browser:
        before = await browser.client.get("/login")
        entered = await browser.open_link(await make_link(store))
        after = await browser.client.get("/login")

    assert before.status_code == 401
    assert (entered.status_code, entered.headers["location"]) == (303, "/")
    cookie = entered.headers["set-cookie"].lower()
    assert cookie.startswith("threadline=")
    assert {"httponly", "samesite=lax", "path=/"} <= set(cookie.split("; "))
    assert "secure" not in cookie
    assert after.status_code == 200
    assert "logged in as owner" in after.text


@on(FAST)
async def test_a_name_below_localhost_has_a_login_of_its_own(store: Store) -> None:
    """The link leads to the name of the settings, logs in there at once, and nowhere else."""
    url = "http://k3v9.localhost:8642"
    config = settings(f'[server]\nurl = "{url}"')
    link = await write_link(store, await store.owner_account(), config.server)
    async with browsing(make_site(store, config), base=url) as browser:
        entered = await browser.open_link(link.partition("link=")[2])

    assert link.startswith(f"{url}/login?link=")
    assert entered.status_code == 303
    assert "domain" not in entered.headers["set-cookie"].lower()


@on(FAST)
async def test_without_a_link_the_app_shows_the_other_ways(store: Store, tmp_path: Path) -> None:
    """Where the app was built; a link logs in as ever, and a wrong one is told without it."""
    (tmp_path / "index.html").write_text("the app")
    (tmp_path / "assets").mkdir()
    async with browsing(make_site(store, screens=SpaFiles(tmp_path))) as browser:
        door = await browser.client.get("/login")
        wrong = await browser.open_link("no link at all")
        entered = await browser.open_link(await make_link(store))

    assert (door.status_code, door.text) == (200, "the app")
    assert "script-src 'self'" in door.headers["content-security-policy"]
    assert (wrong.status_code, entered.status_code) == (410, 303)
    assert "the app" not in wrong.text


@on(FAST, POSTGRES)
async def test_a_link_is_used_once(store: Store) -> None:
    """Whoever opens it later is told nothing about it, not even that it was one."""
    link = await make_link(store)
    site = make_site(store)
    async with browsing(site) as first, browsing(site) as second, browsing(site) as third:
        await first.open_link(link)
        replayed = await second.open_link(link)
        made_up = await third.open_link("no link at all")

    assert replayed.status_code == made_up.status_code == 410
    assert replayed.text == made_up.text
    assert "set-cookie" not in replayed.headers


@on(FAST, POSTGRES)
async def test_two_open_a_link_at_once(store: Store) -> None:
    """One of them is logged in."""
    link = await make_link(store)
    site = make_site(store)
    async with browsing(site) as one, browsing(site) as other:
        answers = await asyncio.gather(one.open_link(link), other.open_link(link))

    assert sorted(answer.status_code for answer in answers) == [303, 410]


@on(FAST)
async def test_a_page_opened_again_is_no_mistake(store: Store) -> None:
    """In the browser that the link logged in, opening it once more leads to the same page."""
    link = await make_link(store)
    async with browsing(make_site(store)) as browser:
        await browser.open_link(link)
        again = await browser.open_link(link)

    assert (again.status_code, again.headers["location"]) == (303, "/")


@on(FAST)
async def test_looking_at_a_link_does_not_use_it(store: Store) -> None:
    """A HEAD, as programs send that only look, leaves it whole."""
    link = await make_link(store)
    async with browsing(make_site(store)) as browser:
        looked = await browser.client.head(f"/login?link={link}")
        entered = await browser.open_link(link)

    assert "set-cookie" not in looked.headers
    assert entered.status_code == 303


@on(FAST)
async def test_a_link_from_elsewhere_waits_for_a_button(store: Store) -> None:
    """A chat app that looks at a pasted link does not use it up; pressing the button does."""
    link = await make_link(store)
    site = make_site(store, public())
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}
    async with browsing(site, base=PUBLIC, address="10.0.0.1", headers=forwarded) as browser:
        page = await browser.client.get(f"/login?link={link}")
        pressed = await browser.client.post("/login", data={"link": link})

    assert page.status_code == 200
    assert f'value="{link}"' in page.text
    assert "set-cookie" not in page.headers
    assert pressed.status_code == 303
    cookie = pressed.headers["set-cookie"]
    assert cookie.startswith("__Host-threadline=")
    assert "; Secure" in cookie
    assert "max-age" in pressed.headers["strict-transport-security"]


@on(FAST)
async def test_a_page_that_leads_to_a_link_logs_nobody_in(store: Store) -> None:
    """Else a stranger's page could let somebody speak under the stranger's name."""
    link = await make_link(store)
    led = {"Sec-Fetch-Site": "cross-site"}
    async with browsing(make_site(store)) as browser:
        page = await browser.client.get(f"/login?link={link}", headers=led)
        typed = {"Sec-Fetch-Site": "none"}
        entered = await browser.client.get(f"/login?link={link}", headers=typed)

    assert (page.status_code, entered.status_code) == (200, 303)
    assert "set-cookie" not in page.headers


@on(FAST)
async def test_a_link_writes_nothing_into_a_page(store: Store) -> None:
    """What stands in the address becomes no part of the page, and no header."""
    site = make_site(store, public())
    hostile = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E%0d%0aSet-Cookie:%20threadline=mine"
    async with browsing(site, base=PUBLIC, address="203.0.113.9") as browser:
        page = await browser.client.get(f"/login?link={hostile}")

    assert "<script" not in page.text
    assert "set-cookie" not in page.headers


@on(FAST)
@pytest.mark.parametrize("after", [LINK_LASTS, LINK_LASTS + timedelta(days=400)])
async def test_a_link_is_over_soon(open_store: OpenStore, after: timedelta) -> None:
    """A quarter of an hour later it logs nobody in."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    link = await make_link(store)
    clock.advance(after)
    async with browsing(make_site(store)) as browser:
        late = await browser.open_link(link)

    assert late.status_code == 410


@on(FAST)
async def test_a_login_lasts_for_whoever_comes_back(open_store: OpenStore) -> None:
    """Each visit renews it; after a month of silence it is over."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    async with browsing(make_site(store)) as browser:
        await browser.open_link(await make_link(store))
        clock.advance(LOGIN_LASTS - timedelta(hours=1))
        within = await browser.client.get("/api/me")
        clock.advance(LOGIN_LASTS - timedelta(hours=1))
        renewed = await browser.client.get("/api/me")
        clock.advance(LOGIN_LASTS)
        late = await browser.client.get("/api/me")

    assert [within.status_code, renewed.status_code, late.status_code] == [200, 200, 401]
    assert f"Max-Age={int(LOGIN_LASTS.total_seconds())}" in within.headers["set-cookie"]
    assert "set-cookie" not in late.headers


@on(FAST)
async def test_no_login_outlives_another(store: Store) -> None:
    """A secret that was set before somebody logged in is not the one they have afterwards."""
    site = make_site(store)
    async with browsing(site) as browser, browsing(site) as thief:
        browser.client.cookies.set("threadline", "chosen-by-a-stranger", domain="127.0.0.1")
        first = await browser.open_link(await make_link(store))
        old = first.cookies["threadline"]
        browser.client.cookies.set("threadline", old, domain="127.0.0.1")
        second = await browser.open_link(await make_link(store))
        thief.client.cookies.set("threadline", old, domain="127.0.0.1")
        stolen = await thief.client.get("/api/me")

    assert old != "chosen-by-a-stranger"
    assert second.cookies["threadline"] != old
    assert stolen.status_code == 401


@on(FAST)
async def test_whoever_logs_out_is_out(store: Store) -> None:
    """The browser forgets its cookie, and a copy of it opens nothing."""
    site = make_site(store)
    async with browsing(site) as browser, browsing(site) as thief:
        await browser.open_link(await make_link(store))
        copy = browser.client.cookies["threadline"]
        out = await browser.ask("DELETE", "/api/login")
        thief.client.cookies.set("threadline", copy, domain="127.0.0.1")
        stolen = await thief.client.get("/api/me")

    assert out.status_code == 204
    assert 'threadline=""' in out.headers["set-cookie"]
    assert "threadline" not in browser.client.cookies
    assert stolen.status_code == 401


@on(FAST)
async def test_over_https_only_the_safe_cookie_counts(store: Store) -> None:
    """A neighbouring host can set the plain one, and so make somebody speak as another."""
    site = make_site(store, public())
    async with browsing(site) as here:
        await here.open_link(await make_link(store))
        secret = here.client.cookies["threadline"]
    forwarded = {"X-Forwarded-Proto": "https"}
    async with browsing(site, base=PUBLIC, address="10.0.0.1", headers=forwarded) as plain:
        tossed = await plain.client.get("/api/me", headers={"Cookie": f"threadline={secret}"})
        safe = await plain.client.get("/api/me", headers={"Cookie": f"__Host-threadline={secret}"})

    assert (tossed.status_code, safe.status_code) == (401, 200)
