"""Passwords: set, compared and guessed."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.web.browser import PASSWORD, PUBLIC, Browser, browsing, make_link, make_site, public
from threadline.core.errors import Invalid
from threadline.store import Store
from threadline.testing.clock import FakeClock
from threadline.web.auth.passwords import Passwords, checked_password
from threadline.web.auth.throttle import ADDRESS_MOST, NAME_MOST, WITHIN, guesser


async def set_password(browser: Browser, new: str = PASSWORD, old: str | None = None) -> int:
    """Set the password of whoever is logged in; answers the status."""
    told = {"new": new} if old is None else {"new": new, "old": old}
    return (await browser.ask("PUT", "/api/me/password", told)).status_code


@on(FAST, POSTGRES)
async def test_a_password_logs_in(store: Store) -> None:
    """Whoever came by a link sets one, and comes by it the next time."""
    site = make_site(store)
    async with browsing(site) as first, browsing(site) as second:
        await first.open_link(await make_link(store))
        assert await set_password(first) == 204
        entered = await second.log_in("owner")
        me = await second.ask("GET", "/api/me")

    assert (entered.status_code, me.status_code) == (200, 200)
    assert me.json()["account"]["has_password"] is True
    assert PASSWORD not in me.text
    assert me.json()["csrf"] == entered.json()["csrf"]


@on(FAST)
async def test_a_new_password_logs_the_others_out(store: Store) -> None:
    """The old one must be known, and opens nothing any more."""
    site = make_site(store)
    async with browsing(site) as one, browsing(site) as other, browsing(site) as third:
        await one.open_link(await make_link(store))
        await set_password(one)
        await other.log_in("owner")
        without = await set_password(one, "another bridge")
        wrong = await set_password(one, "another bridge", "no bridge at all")
        changed = await set_password(one, "another bridge", PASSWORD)
        here, there = await one.ask("GET", "/api/me"), await other.ask("GET", "/api/me")
        old = await third.log_in("owner")
        new = await third.log_in("owner", "another bridge")

    assert [without, wrong, changed] == [403, 403, 204]
    assert (here.status_code, there.status_code) == (200, 401)
    assert (old.status_code, new.status_code) == (403, 200)


@on(FAST)
async def test_a_wrong_password_is_told_like_a_wrong_name(store: Store) -> None:
    """Nobody learns which names there are: not by words, and not by what is compared."""
    ada = await store.make_account("Ada")
    await store.set_password(ada.key, await Passwords().hash(PASSWORD))
    await store.make_account("Bob")  # who has none
    async with browsing(make_site(store)) as browser:
        answers = [await browser.log_in(name, "wrong one here") for name in ("Ada", "Bob", "Eve")]

    assert {one.status_code for one in answers} == {403}
    assert len({one.text for one in answers}) == 1
    assert all("set-cookie" not in one.headers for one in answers)


async def test_an_unknown_name_costs_as_much() -> None:
    """Where no password is kept one is compared all the same, and never fits."""
    passwords = Passwords()
    kept = await passwords.hash(PASSWORD)

    assert await passwords.is_right(PASSWORD, kept)
    assert not await passwords.is_right(PASSWORD + " ", kept)
    assert not await passwords.is_right(PASSWORD, None)
    assert not await passwords.is_right(PASSWORD, "no hash of ours")
    assert not await passwords.is_right("\ud800" * 10, kept)
    assert kept.startswith("$argon2id$")


@on(FAST)
async def test_whoever_guesses_has_to_wait(open_store: OpenStore) -> None:
    """After ten wrong ones the right one waits, too, however the name is written."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    await store.set_password(owner.key, await Passwords().hash(PASSWORD))
    async with browsing(make_site(store)) as browser:
        names = ["owner", " owner", "owner\u200b", "ow\u00adner"] * 4
        guesses = await asyncio.gather(*(browser.log_in(name, "a wrong one") for name in names))
        right = await browser.log_in("owner")
        link = await browser.open_link(await make_link(store))
        clock.advance(WITHIN + timedelta(seconds=1))
        later = await browser.log_in("owner")

    statuses = [one.status_code for one in guesses]
    assert statuses.count(403) == NAME_MOST
    assert statuses.count(429) == len(names) - NAME_MOST
    assert right.status_code == 429
    assert int(right.headers["retry-after"]) > 0
    assert link.status_code == 303  # nobody can lock the owner out of their own machine
    assert later.status_code == 200


@on(FAST)
async def test_a_right_password_forgives(store: Store) -> None:
    """Somebody who mistyped a few times starts afresh."""
    owner = await store.owner_account()
    await store.set_password(owner.key, await Passwords().hash(PASSWORD))
    async with browsing(make_site(store)) as browser:
        for _ in range(2):
            for _ in range(NAME_MOST - 1):
                await store.count_try({guesser("name", "owner"): NAME_MOST}, WITHIN)
            assert (await browser.log_in("owner")).status_code == 200


@on(FAST)
async def test_the_user_of_this_machine_always_gets_in(store: Store) -> None:
    """However many links were wrong before."""
    async with browsing(make_site(store)) as browser:
        for number in range(ADDRESS_MOST + 1):
            await browser.client.get(f"/login?link=guess{number}")
        entered = await browser.open_link(await make_link(store))

    assert entered.status_code == 303


@on(FAST)
async def test_one_address_cannot_try_everybody(store: Store) -> None:
    """Names, links and passkeys count together; other addresses are not concerned."""
    site = make_site(store, public())
    async with (
        browsing(site, address="2001:db8::1", base=PUBLIC) as one,
        browsing(site, address="2001:db8::2:0:0:9", base=PUBLIC) as neighbour,
        browsing(site, address="198.51.100.7", base=PUBLIC) as other,
    ):
        for number in range(ADDRESS_MOST):
            await one.client.post("/login", data={"link": f"guess {number}"})
        link = {"link": await make_link(store)}
        here = await one.client.post("/login", data=link)
        beside = await neighbour.client.post("/login", data=link)
        elsewhere = await other.client.post("/login", data=link)

    assert (here.status_code, beside.status_code, elsewhere.status_code) == (429, 429, 303)
    assert int(here.headers["retry-after"]) > 0


@pytest.mark.parametrize(
    "password",
    [
        "",
        "short",
        "x" * 1001,
        "qwertyuiop",
        "PassWord123",
        "aaaaaaaaaaaa",
        "ababababab",
        "\ud800" * 9,
    ],
)
def test_bad_passwords_are_refused(password: str) -> None:
    """Too short, too long, known to everybody, or of two letters; none is repeated."""
    with pytest.raises(Invalid) as refused:
        checked_password(password, "owner")
    assert not password or password not in str(refused.value)


@pytest.mark.parametrize(
    "password", [PASSWORD, "ein Fluß bei Nacht", "x1" * 4 + "yz", "пароль мой!"]
)
def test_other_passwords_are_taken(password: str) -> None:
    """Any language, and spaces."""
    assert checked_password(password, "owner") == password


def test_a_name_twice_is_no_password() -> None:
    """It is among the first that are tried."""
    with pytest.raises(Invalid):
        checked_password("AdaLovelaceAdaLovelace", "adalovelace")


@on(FAST)
async def test_whoever_is_right_does_not_wait(store: Store) -> None:
    """Behind one address many people log in: tries that were right are no wrong ones."""
    site = make_site(store, public())
    owner = await store.owner_account()
    await store.set_password(owner.key, await Passwords().hash(PASSWORD))
    async with browsing(site, address="198.51.100.7", base=PUBLIC) as browser:
        for _ in range(ADDRESS_MOST + 1):
            link = {"link": await make_link(store)}
            assert (await browser.client.post("/login", data=link)).status_code == 303
        entered = await browser.log_in("owner")
        wrong = [await browser.log_in(f"name {n}", "a wrong one") for n in range(ADDRESS_MOST)]
        late = await browser.log_in("owner")

    assert entered.status_code == 200
    assert {one.status_code for one in wrong} == {403}
    assert late.status_code == 429
