"""A fresh proof: a browser creates new ways to log in only soon after its user showed a secret."""

from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.authenticator import Authenticator
from tests.web.browser import PASSWORD, Browser, browsing, make_link, make_site, make_token
from threadline.core.account import PROOF_LASTS, TokenScope
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.web.auth.passwords import Passwords

ORIGIN = "http://localhost:8642"
A_TOKEN = {"name": "mine", "scopes": ["read"]}
LATER = PROOF_LASTS + timedelta(seconds=1)

CREATING = {
    "a token": ("POST", "/api/tokens", A_TOKEN, 201),
    "a passkey": ("POST", "/api/me/passkeys/question", None, 200),
    "a passkey that was asked for": (
        "POST",
        "/api/me/passkeys",
        {"name": "x", "challenge": "x", "credential": {}},
        403,
    ),
    "a login link": ("POST", "/api/accounts/1/link", None, 201),
}


async def set_password(store: Store) -> None:
    """Give the owner a password."""
    await store.set_password((await store.owner_account()).key, await Passwords().hash(PASSWORD))


@on(FAST)
@pytest.mark.parametrize("creating", CREATING)
async def test_what_logs_in_is_created_after_a_proof(open_store: OpenStore, creating: str) -> None:
    """Ten minutes after the login a password is asked for; with it the same request succeeds."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await set_password(store)
    method, path, body, status = CREATING[creating]
    async with browsing(make_site(store), base=ORIGIN) as browser:
        await browser.open_link(await make_link(store))
        clock.advance(PROOF_LASTS)
        fresh = await browser.ask(method, path, body)
        clock.advance(timedelta(seconds=1))
        stale = await browser.ask(method, path, body)
        wrong = await browser.ask("POST", "/api/me/proof", {"password": "no bridge at all"})
        still = await browser.ask(method, path, body)
        proof = await browser.ask("POST", "/api/me/proof", {"password": PASSWORD})
        again = await browser.ask(method, path, body)

    assert (fresh.status_code, again.status_code) == (status, status)
    assert {fresh.json().get("title"), again.json().get("title")}.isdisjoint({"ProofNeeded"})
    for refused in (stale, still):
        assert (refused.status_code, refused.json()["title"]) == (403, "ProofNeeded")
    assert (wrong.status_code, proof.status_code) == (403, 204)


@on(FAST)
async def test_a_password_is_removed_after_a_proof(open_store: OpenStore) -> None:
    """A browser that was left open cannot take away the password that its user has to prove."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await set_password(store)
    async with browsing(make_site(store), base=ORIGIN) as browser:
        await browser.open_link(await make_link(store))
        clock.advance(PROOF_LASTS + timedelta(seconds=1))
        stale = await browser.ask("DELETE", "/api/accounts/1/password")
        await browser.ask("POST", "/api/me/proof", {"password": PASSWORD})
        proven = await browser.ask("DELETE", "/api/accounts/1/password")

    assert (stale.status_code, stale.json()["title"]) == (403, "ProofNeeded")
    assert proven.status_code == 204


@on(FAST)
async def test_a_clock_that_was_set_back_proves_nothing(open_store: OpenStore) -> None:
    """A proof from the future does not last until then."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    async with browsing(make_site(store)) as browser:
        await browser.open_link(await make_link(store))
        clock.advance(-timedelta(days=1))
        stale = await browser.ask("POST", "/api/tokens", A_TOKEN)

    assert (stale.status_code, stale.json()["title"]) == (403, "ProofNeeded")


@on(FAST)
async def test_a_proof_is_of_one_browser(open_store: OpenStore) -> None:
    """The others of the same account still have to prove it."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await set_password(store)
    site = make_site(store)
    async with browsing(site) as one, browsing(site) as other:
        await one.open_link(await make_link(store))
        await other.open_link(await make_link(store))
        clock.advance(LATER)
        await one.ask("POST", "/api/me/proof", {"password": PASSWORD})
        here = await one.ask("POST", "/api/tokens", A_TOKEN)
        there = await other.ask("POST", "/api/tokens", A_TOKEN)

    assert (here.status_code, there.status_code) == (201, 403)


@on(FAST)
async def test_a_passkey_is_a_proof_for_its_own_account(open_store: OpenStore) -> None:
    """One of another account is not, and a question is answered once."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    site, device = make_site(store), Authenticator(ORIGIN, "localhost")
    member = await store.make_account("Mia")
    async with browsing(site, base=ORIGIN) as owner, browsing(site, base=ORIGIN) as other:
        await owner.open_link(await make_link(store))
        await other.open_link(await make_link(store, member))
        asked = (await owner.ask("POST", "/api/me/passkeys/question")).json()["challenge"]
        made = {"name": "phone", "challenge": asked, "credential": device.make(asked)}
        assert (await owner.ask("POST", "/api/me/passkeys", made)).status_code == 201
        clock.advance(LATER)
        proofs = [await _prove(browser, device) for browser in (other, owner)]
        told = [
            (await one.ask("POST", "/api/tokens", A_TOKEN)).status_code for one in (other, owner)
        ]

    assert (proofs, told) == ([403, 204], [403, 201])
    acts = [(one.act, one.subject, one.detail) for one in await store.audit()]
    assert ("login.failed", f"{member.key} Mia", "passkey") in acts
    assert [detail for act, _, detail in acts if act == "login.proven"] == ["passkey"]


async def _prove(browser: Browser, device: Authenticator) -> int:
    asked = (await browser.ask("POST", "/api/me/proof/question")).json()["challenge"]
    answer = {"challenge": asked, "credential": device.sign(asked)}
    status = (await browser.ask("POST", "/api/me/proof/passkey", answer)).status_code
    again = await browser.ask("POST", "/api/me/proof/passkey", answer)
    assert again.status_code == 403
    return status


@on(FAST)
async def test_a_first_password_needs_a_fresh_login(open_store: OpenStore) -> None:
    """Where there is one already, the current one is the proof."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    async with browsing(make_site(store)) as browser:
        await browser.open_link(await make_link(store))
        clock.advance(LATER)
        stale = await browser.ask("PUT", "/api/me/password", {"new": PASSWORD})
        await browser.open_link(await make_link(store))
        first = await browser.ask("PUT", "/api/me/password", {"new": PASSWORD})
        clock.advance(LATER)
        wish = {"new": "another bridge", "old": PASSWORD}
        second = await browser.ask("PUT", "/api/me/password", wish)

    assert (stale.status_code, stale.json()["title"]) == (403, "ProofNeeded")
    assert (first.status_code, second.status_code) == (204, 204)


@on(FAST, POSTGRES)
@pytest.mark.parametrize("ends", [False, True])
async def test_a_new_password_ends_tokens_if_wished(store: Store, ends: bool) -> None:
    """Other browsers and unused links are ended anyway; each token is in the audit log."""
    site, shown = make_site(store), await make_token(store, TokenScope.READ)
    async with browsing(site) as one, browsing(site) as other, browsing(site) as late:
        await one.open_link(await make_link(store))
        await other.open_link(await make_link(store))
        link = await make_link(store)
        wish = {"new": PASSWORD, "end_tokens": ends}
        changed = await one.ask("PUT", "/api/me/password", wish)
        here, there = await one.ask("GET", "/api/me"), await other.ask("GET", "/api/me")
        used = await late.open_link(link)
        program = await late.ask("GET", "/api/me", headers=shown)

    assert (changed.status_code, here.status_code, there.status_code) == (204, 200, 401)
    assert used.status_code == 410
    assert program.status_code == (401 if ends else 200)
    acts = [one.act for one in await store.audit()]
    assert acts.count("token.ended") == ends
