"""The audit log over HTTP: failed logins, and which token did something."""

from datetime import timedelta

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.store.command_setup import both
from tests.web.browser import PASSWORD, PUBLIC, browsing, make_link, make_site, make_token, public
from threadline.core.account import AuditEntry, LoginWay, TokenScope
from threadline.store import Store
from threadline.store.audit import FAILURES_WITHIN
from threadline.testing.clock import FakeClock
from threadline.web.auth.passwords import Passwords
from threadline.web.auth.throttle import NOTED_EVERY, TOKENS_TOLD_APART
from threadline.web.authentication import hash_secret


def failures(entries: list[AuditEntry]) -> dict[tuple[str, str], int]:
    """Count failed logins by subject and way."""
    return {(one.subject, one.detail): one.times for one in entries if one.act == "login.failed"}


@on(FAST, POSTGRES)
async def test_failed_logins_are_recorded(store: Store) -> None:
    """By the account that was tried, if there is one; nothing of what was typed is stored."""
    owner = await store.owner_account()
    await store.set_password(owner.key, await Passwords().hash(PASSWORD))
    name, link = f"{owner.key} owner", await make_link(store)
    async with browsing(make_site(store)) as browser:
        for typed in ("owner", "owner", "my secret by mistake"):
            await browser.log_in(typed, "no bridge at all")
        await browser.open_link("never-made")
        for _ in range(2):
            browser.client.cookies.clear()
            await browser.open_link(link)
        await browser.ask("PUT", "/api/me/password", {"new": "a new bridge", "old": "wrong old"})
        entries = await store.audit()

    assert failures(entries) == {
        (name, "password"): 2,
        ("", "password"): 1,
        ("", "link"): 1,
        (name, "link"): 1,
    }
    assert all(one.account == "" for one in entries if one.act == "login.failed")
    assert "mistake" not in str(entries)
    assert "bridge" not in str(entries)


@both
async def test_many_failures_are_one_entry_for_each_period(open_store: OpenStore) -> None:
    """An attacker cannot fill the disk; a quarter of an hour later a new entry begins."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    for _ in range(50):
        clock.advance(timedelta(seconds=1))
        await store.note_failed_login(LoginWay.PASSWORD, owner.key)
        await store.note_failed_login(LoginWay.PASSWORD)
    clock.advance(FAILURES_WITHIN)
    await store.note_failed_login(LoginWay.PASSWORD, owner.key)

    told = [(one.subject, one.times) for one in await store.audit()]
    assert told == [(f"{owner.key} owner", 1), ("", 50), (f"{owner.key} owner", 50)]


@on(FAST)
async def test_wrong_tokens_are_recorded_without_a_write_for_each(open_store: OpenStore) -> None:
    """A revoked one by its key, unknown ones together; never by what they say."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    shown = await make_token(store, TokenScope.READ)
    (token,) = await store.tokens(owner.key)
    await store.end_token(token.key, owner.key)
    async with browsing(make_site(store)) as browser:
        await browser.ask("GET", "/api/me", headers=shown)
        first = failures(await store.audit())
        cursor = await store.feed.end()
        for number in range(2 * TOKENS_TOLD_APART):
            await browser.ask("GET", "/api/me", headers={"Authorization": f"Bearer tl_{number}"})
        await browser.ask("GET", "/api/me", headers={"Authorization": "Bearer odd"})
        assert await store.feed.end() == cursor  # nothing was written
        clock.advance(NOTED_EVERY)
        await browser.ask("GET", "/api/me", headers=shown)
        entries = await store.audit()

    assert first == {(str(token.key), "token"): 1}
    assert failures(entries) == {
        (str(token.key), "token"): 1,
        ("", "token"): 2 * TOKENS_TOLD_APART + 2,
    }
    assert "tl_" not in str(entries)
    assert hash_secret("tl_1") not in str(entries)


@on(FAST)
async def test_a_cookie_that_is_over_is_no_attempt(store: Store) -> None:
    """Browsers that stayed away for long do not fill the audit log."""
    async with browsing(make_site(store, public()), base=PUBLIC) as browser:
        browser.client.cookies.set("__Host-threadline", "old")
        answer = await browser.ask("GET", "/api/me")

    assert answer.status_code == 401
    assert failures(await store.audit()) == {}
