"""Passkeys: a device signs, and nobody else's answer does."""

from datetime import timedelta
from typing import Any

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.authenticator import PRESENT, Authenticator
from tests.web.browser import PASSWORD, PUBLIC, Browser, browsing, make_link, make_site, public
from threadline.core.errors import Conflict, Refused
from threadline.store import Store
from threadline.testing.clock import A_MONDAY, FakeClock
from threadline.web.auth.passkeys import CHALLENGE_LASTS, CHALLENGES_MOST, Challenges, require_extra
from threadline.web.auth.passwords import Passwords
from threadline.web.auth.throttle import ADDRESS_MOST, WITHIN, LoginAttempt, guesser

LOCAL = "http://localhost:8642"


async def add_passkey(browser: Browser, device: Authenticator) -> Any:
    """Let a device make a passkey for whoever is logged in."""
    asked = (await browser.ask("POST", "/api/me/passkeys/question")).json()
    wish = {
        "name": "phone",
        "challenge": asked["challenge"],
        "credential": device.make(asked["challenge"]),
    }
    return await browser.ask("POST", "/api/me/passkeys", wish)


async def sign_in(browser: Browser, device: Authenticator) -> Any:
    """Log in with the passkey of a device."""
    asked = (await browser.ask("POST", "/api/login/passkey/question")).json()
    wish = {"challenge": asked["challenge"], "credential": device.sign(asked["challenge"])}
    return await browser.ask("POST", "/api/login/passkey", wish)


@on(FAST, POSTGRES)
async def test_a_passkey_logs_in(store: Store) -> None:
    """It is made while somebody is logged in, is listed, logs in elsewhere, and can be deleted."""
    site, device = make_site(store), Authenticator(LOCAL, "localhost")
    async with browsing(site, base=LOCAL) as desk, browsing(site, base=LOCAL) as phone:
        await desk.open_link(await make_link(store))
        made = await add_passkey(desk, device)
        entered = await sign_in(phone, device)
        me = await phone.ask("GET", "/api/me")
        listed = (await desk.ask("GET", "/api/me/passkeys")).json()["items"]
        deleted = await desk.ask("DELETE", f"/api/me/passkeys/{listed[0]['key']}")
        late = await sign_in(phone, device)

    assert made.status_code == 201, made.text
    assert (entered.status_code, me.status_code) == (200, 200)
    assert listed[0]["name"] == "phone"
    assert listed[0]["used_at"] is not None
    assert (deleted.status_code, late.status_code) == (204, 403)


@on(FAST)
async def test_an_answer_is_taken_once(store: Store) -> None:
    """A copy of an answer logs nobody in, and neither does an answer that nobody asked for."""
    site, device = make_site(store), Authenticator(LOCAL, "localhost")
    async with browsing(site, base=LOCAL) as desk, browsing(site, base=LOCAL) as thief:
        await desk.open_link(await make_link(store))
        await add_passkey(desk, device)
        asked = (await thief.ask("POST", "/api/login/passkey/question")).json()["challenge"]
        wish = {"challenge": asked, "credential": device.sign(asked)}
        first = await thief.ask("POST", "/api/login/passkey", wish)
        again = await thief.ask("POST", "/api/login/passkey", wish)
        chosen = {"challenge": "mine", "credential": device.sign("mine")}
        unasked = await thief.ask("POST", "/api/login/passkey", chosen)

    assert [one.status_code for one in (first, again, unasked)] == [200, 403, 403]


@on(FAST)
@pytest.mark.parametrize(
    "device",
    [
        Authenticator("https://evil.example", "localhost"),
        Authenticator(LOCAL, "evil.example"),
        Authenticator(LOCAL, "localhost", flags=PRESENT),
        Authenticator(LOCAL, "localhost"),
    ],
    ids=["another page", "another host", "nobody touched it", "another key"],
)
async def test_another_signature_is_refused(store: Store, device: Authenticator) -> None:
    """One that another page got, or another key gave, or nobody was asked for."""
    site, right = make_site(store), Authenticator(LOCAL, "localhost")
    async with browsing(site, base=LOCAL) as desk, browsing(site, base=LOCAL) as thief:
        await desk.open_link(await make_link(store))
        await add_passkey(desk, right)
        refused = await sign_in(thief, device)

    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers


@on(FAST)
@pytest.mark.parametrize(
    "credential",
    [{}, {"id": 7}, {"id": "%%%"}, {"id": "AAAA", "response": []}, {"id": "ü", "type": "x"}],
)
async def test_garbage_is_refused(store: Store, credential: dict[str, object]) -> None:
    """What is no answer of a device is told so."""
    async with browsing(make_site(store), base=LOCAL) as browser:
        await browser.open_link(await make_link(store))
        new = (await browser.ask("POST", "/api/me/passkeys/question")).json()["challenge"]
        any_ = (await browser.ask("POST", "/api/login/passkey/question")).json()["challenge"]
        made = await browser.ask(
            "POST",
            "/api/me/passkeys",
            {"name": "x", "challenge": new, "credential": credential},
        )
        entered = await browser.ask(
            "POST", "/api/login/passkey", {"challenge": any_, "credential": credential}
        )

    assert (made.status_code, entered.status_code) == (422, 403)


@on(FAST)
async def test_a_question_counts_until_it_is_answered(store: Store) -> None:
    """Whoever asks and does not sign has tried in vain; a right answer was no wrong try."""
    site, device = make_site(store, public()), Authenticator(PUBLIC, "chat.example.org")
    who, owner = guesser("address", "198.51.100.7"), await store.owner_account()
    await store.set_password(owner.key, await Passwords().hash(PASSWORD))
    async with (
        browsing(site, base=PUBLIC) as desk,
        browsing(site, address="198.51.100.7", base=PUBLIC) as phone,
    ):
        await desk.log_in("owner")
        assert (await add_passkey(desk, device)).status_code == 201
        entered = await sign_in(phone, device)
        free = await store.count_try({who: 1}, WITHIN)
        for _ in range(ADDRESS_MOST - 1):
            await phone.ask("POST", "/api/login/passkey/question")
        late = await phone.ask("POST", "/api/login/passkey/question")

    assert entered.status_code == 200, entered.text
    assert free is not None, "it was forgiven"
    assert late.status_code == 429


@on(FAST)
async def test_a_copied_passkey_is_found_out(store: Store) -> None:
    """A device counts; one that counts less than was seen is a copy."""
    site, device = make_site(store), Authenticator(LOCAL, "localhost")
    async with browsing(site, base=LOCAL) as browser:
        await browser.open_link(await make_link(store))
        await add_passkey(browser, device)
        device.count = 41
        seen = await sign_in(browser, device)
        device.count = 3
        copied = await sign_in(browser, device)

    assert (seen.status_code, copied.status_code) == (200, 403)


@on(FAST)
async def test_a_question_is_soon_over(open_store: OpenStore) -> None:
    """An answer five minutes later comes too late."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    device = Authenticator(LOCAL, "localhost")
    async with browsing(make_site(store), base=LOCAL) as browser:
        asked = (await browser.ask("POST", "/api/login/passkey/question")).json()["challenge"]
        clock.advance(CHALLENGE_LASTS)
        wish = {"challenge": asked, "credential": device.sign(asked)}
        late = await browser.ask("POST", "/api/login/passkey", wish)

    assert late.status_code == 403
    assert "has expired" in late.json()["detail"]


@on(FAST)
async def test_passkeys_need_a_name(store: Store) -> None:
    """They do not work under an address in numbers, and that is said."""
    async with browsing(make_site(store)) as browser:
        refused = await browser.ask("POST", "/api/login/passkey/question")

    assert refused.status_code == 409
    assert "http://localhost" in refused.json()["hint"]


def test_a_missing_package_is_named() -> None:
    """Whoever runs the server is told what to install."""
    with pytest.raises(Conflict, match=r"threadline\[passkeys\]"):
        require_extra("a_package_that_nobody_has")


def test_questions_do_not_pile_up() -> None:
    """Of many that nobody answers, the oldest are given up."""
    challenges = Challenges()
    tried = LoginAttempt(counted={"here": 7})
    first, *_, last = (challenges.ask(None, A_MONDAY, tried) for _ in range(CHALLENGES_MOST + 1))

    with pytest.raises(Refused):
        challenges.take(first, None, A_MONDAY)
    assert challenges.take(last, None, A_MONDAY + timedelta(minutes=1)) == (last.encode(), tried)
