"""Pairing: a stranger's way in, and everything that must not be one."""

import asyncio
import itertools
from datetime import timedelta
from typing import Any

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore, on
from threadline.core.access import LOCKED_FOR, PAIRING_PAUSE, PAIRING_VALID, PairingCode
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.person import Identity
from threadline.core.route import MAIN_PROFILE
from threadline.store import Store
from threadline.store.people.grants import standing
from threadline.store.people.pairing import sweep_pairings
from threadline.testing.clock import FakeClock

TELEGRAM, SIGNAL = "telegram", "signal"
A_MOMENT = timedelta(seconds=1)


async def ask(store: Store, id: str = "ada", on: str = TELEGRAM, **more: Any) -> PairingCode:
    """Ask to be let in, and be shown a code."""
    shown = await store.people.request_pairing(on, Sender(id=id, name=id.title()), **more)
    assert shown is not None
    return shown


async def is_in(store: Store, id: str = "ada", on: str = TELEGRAM, profile: str = "main") -> bool:
    """Tell whether somebody was let in."""
    return (
        await store.database.read(standing, on, frozenset(id for id in {id}), profile=profile)
    ).is_granted


async def fail(store: Store, times: int, code: str = "22222222", on: str | None = TELEGRAM) -> None:
    """Give a wrong code for approval."""
    for _ in range(times):
        with pytest.raises(Refused):
            await store.people.approve_pairing(code, platform=on)


async def test_who_shows_the_code_is_let_in(store: Store) -> None:
    """The owner types the code as they like, and the sender may speak from then on."""
    shown = await ask(store)
    (waiting,) = await store.people.pairings()
    assert (str(waiting.identity), waiting.name) == ("telegram:ada", "Ada")
    assert not await is_in(store)

    written = f" {shown.code[:4].lower()}-{shown.code[4:]} "
    grant = await store.people.approve_pairing(written)

    assert grant.identity == Identity(platform=TELEGRAM, id="ada")
    assert await is_in(store)
    assert await store.people.grants() == [grant]
    assert await store.people.pairings() == []


async def test_a_code_works_once(store: Store) -> None:
    """Shown again, it lets nobody in: neither them, nor after they were shown the door."""
    shown = await ask(store)
    await store.people.approve_pairing(shown.code)
    await store.people.revoke(Identity(platform=TELEGRAM, id="ada"))

    with pytest.raises(Refused, match="not valid"):
        await store.people.approve_pairing(shown.code)

    assert not await is_in(store)


async def test_a_code_is_over_after_an_hour(open_store: OpenStore) -> None:
    """In its last moment it works, and in the next one it does not."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    first, second = await ask(store, "ada"), await ask(store, "bob")
    assert first.expires_at == clock() + PAIRING_VALID

    clock.advance(PAIRING_VALID - A_MOMENT)
    await store.people.approve_pairing(first.code)
    clock.advance(A_MOMENT)
    assert await store.people.pairings() == []
    await fail(store, 1, second.code)

    assert (await is_in(store, "ada"), await is_in(store, "bob")) == (True, False)


async def test_strangers_are_not_remembered(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """Who was not let in in time leaves nothing behind."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await ask(store, "ada")
    await ask(store, "ada", profile="work")
    clock.advance(timedelta(minutes=30))
    await ask(store, "bob")

    clock.advance(timedelta(minutes=30))
    await store.database.write(sweep_pairings)

    rows = database_factory.tamper("SELECT sender_id FROM pairings")
    assert [tuple(row) for row in rows] == [("bob",)]


async def test_nobody_is_shown_two_codes_in_ten_minutes(open_store: OpenStore) -> None:
    """After that they get a new one, and the old one is worth nothing."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    first = await ask(store)

    clock.advance(PAIRING_PAUSE - A_MOMENT)
    assert await store.people.request_pairing(TELEGRAM, Sender(id="ada")) is None
    clock.advance(A_MOMENT)
    second = await ask(store)

    await fail(store, 1, first.code)
    await store.people.approve_pairing(second.code)
    assert await is_in(store)


async def test_a_flood_of_strangers_gets_three_codes(open_store: OpenStore) -> None:
    """A thousand who ask at once, through two processes, are three who wait; others wait elsewhere.

    When their codes are over the next ones get some.
    """
    clock = FakeClock()
    stores = [await open_store(clock=clock), await open_store(clock=clock)]
    senders = [Sender(id=f"stranger-{n}") for n in range(1000)]

    shown = await asyncio.gather(
        *(
            stores[n % 2].people.request_pairing(TELEGRAM, sender)
            for n, sender in enumerate(senders)
        )
    )

    assert sum(code is not None for code in shown) == 3
    assert len(await stores[0].people.pairings()) == 3
    assert await ask(stores[0], "ada", SIGNAL)
    assert await ask(stores[0], "ada", profile="work")
    clock.advance(PAIRING_VALID)
    assert await ask(stores[1], "ada")
    assert len(await stores[0].people.pairings()) == 1


async def test_guessing_locks_the_platform(open_store: OpenStore) -> None:
    """After five wrong codes not even the right one works for an hour; then it would again."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    clock.advance(timedelta(minutes=30))
    await fail(store, 4)
    clock.advance(timedelta(minutes=29))
    shown = await ask(store)

    await fail(store, 1)
    with pytest.raises(Refused, match="too many wrong ones"):
        await store.people.approve_pairing(shown.code, platform=TELEGRAM)
    assert await store.people.request_pairing(TELEGRAM, Sender(id="bob")) is None
    clock.advance(LOCKED_FOR - A_MOMENT)
    await fail(store, 1, shown.code)
    clock.advance(A_MOMENT)

    again = await ask(store)
    assert (await store.people.approve_pairing(again.code, platform=TELEGRAM)).name == "Ada"


async def test_old_mistakes_are_forgiven(open_store: OpenStore) -> None:
    """Five wrong codes lock a platform only if they came within an hour."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    for _ in range(8):
        await fail(store, 1)
        clock.advance(timedelta(minutes=16))

    await store.people.approve_pairing((await ask(store)).code)

    assert await is_in(store)


async def test_a_right_code_forgives_no_wrong_ones(store: Store) -> None:
    """Or whoever has a code of their own could go on guessing those of others."""
    await fail(store, 4)
    await store.people.approve_pairing((await ask(store)).code)
    shown = await ask(store, "bob")
    await fail(store, 1)

    await fail(store, 1, shown.code)

    assert not await is_in(store, "bob")


async def test_a_guess_without_a_platform_counts_for_all_that_wait(open_store: OpenStore) -> None:
    """Leaving the platform out is no way around the lock, and a locked one tells nothing."""
    store = await open_store(clock=FakeClock())
    here, there = await ask(store, on=TELEGRAM), await ask(store, on=SIGNAL)
    await fail(store, 5, on=TELEGRAM)

    with pytest.raises(Refused) as right:
        await store.people.approve_pairing(here.code)
    with pytest.raises(Refused) as wrong:
        await store.people.approve_pairing("22222222")
    assert str(right.value) == str(wrong.value)
    assert "telegram" in str(right.value)
    assert (await store.people.approve_pairing(there.code)).identity.platform == SIGNAL

    await fail(store, 3, on=None)
    with pytest.raises(Refused, match="telegram"):
        await store.people.approve_pairing(here.code)
    assert not await is_in(store, on=TELEGRAM)


async def test_a_lock_is_for_one_platform_and_profile(store: Store) -> None:
    """Guessing on one does not keep others out."""
    await fail(store, 5, on=TELEGRAM)
    there, apart = await ask(store, on=SIGNAL), await ask(store, profile="work")

    await store.people.approve_pairing(there.code, platform=SIGNAL)
    await store.people.approve_pairing(apart.code, profile="work")

    assert await is_in(store, on=SIGNAL)
    assert await is_in(store, profile="work")
    assert not await is_in(store)


async def test_a_code_is_worth_nothing_elsewhere(store: Store) -> None:
    """Neither on another platform, nor in another profile."""
    shown = await ask(store)
    await ask(store, on=SIGNAL)

    await fail(store, 1, shown.code, on=SIGNAL)
    with pytest.raises(Refused):
        await store.people.approve_pairing(shown.code, profile="work")

    assert await store.people.grants() == [] == await store.grants(profile="work")


async def test_a_code_that_is_approved_twice_at_once_works_once(open_store: OpenStore) -> None:
    """Of two owners in two processes one lets them in; the other one learns that it is used."""
    stores = [await open_store(), await open_store()]
    shown = await ask(stores[0])

    answers = await asyncio.gather(
        *(stores[n % 2].people.approve_pairing(shown.code) for n in range(4)),
        return_exceptions=True,
    )

    assert sum(isinstance(answer, Refused) for answer in answers) == 3
    assert len(await stores[0].people.grants()) == 1


async def test_asking_at_once_makes_one_code(open_store: OpenStore) -> None:
    """Whatever a platform brings twice, only the one that was shown works."""
    stores = [await open_store(), await open_store()]

    shown = await asyncio.gather(
        *(stores[n % 2].people.request_pairing(TELEGRAM, Sender(id="ada")) for n in range(6))
    )

    (code,) = [one.code for one in shown if one is not None]
    await stores[1].people.approve_pairing(code)
    assert await is_in(stores[0])


async def test_the_database_holds_no_code(store: Store, database_factory: DatabaseFactory) -> None:
    """Whoever reads it finds a keyed hash: all codes could be hashed without the key in a day."""
    store.database.environment.new_id = lambda: 2**32 - 1
    shown = await ask(store)

    (row,) = database_factory.tamper("SELECT * FROM pairings")

    assert shown.code == "ZZZZZZZZ"
    assert shown.code not in str(row)
    assert shown.code not in str(await store.people.pairings())


async def test_a_name_is_only_a_label(store: Store) -> None:
    """Control characters, and names that pretend, are cleaned before the owner sees them."""
    hostile = "Ada\x1b[2J\u202eevil\u200b\nApproved by the owner " + "x" * 500
    shown = await store.people.request_pairing(TELEGRAM, Sender(id="1\n2", name=hostile))
    (waiting,) = await store.people.pairings()

    assert shown is not None
    assert waiting.name is not None
    assert waiting.name.isprintable()
    assert len(waiting.name) <= 100
    assert (await store.people.approve_pairing(shown.code)).identity.id == "1\n2"


async def test_who_has_no_id_cannot_be_let_in(store: Store) -> None:
    """They could not be told from the next one without an id."""
    assert await store.people.request_pairing(TELEGRAM, Sender(name="Ada")) is None


async def test_a_grant_is_given_and_taken(store: Store) -> None:
    """Without a code, by id; twice is once."""
    ada = Identity(platform=TELEGRAM, id="ada")
    first = await store.people.allow(ada, name="Ada")
    again = await store.people.allow(ada)

    assert again == first
    assert await is_in(store)
    assert not await is_in(store, profile="work")
    assert await store.people.revoke(ada)
    assert not await store.people.revoke(ada)
    assert not await is_in(store)


async def test_who_is_let_in_waits_no_longer(store: Store) -> None:
    """Their code is worth nothing, and their place is free; so is that of who is turned away."""
    shown = [await ask(store, name) for name in ("ada", "bob", "cid")]
    await store.people.allow(Identity(platform=TELEGRAM, id="ada"))
    await store.people.revoke(Identity(platform=TELEGRAM, id="bob"))

    assert [one.identity.id for one in await store.people.pairings()] == ["cid"]
    await fail(store, 1, shown[1].code)
    assert not await is_in(store, "bob")


@pytest.mark.parametrize("first", ["phone", "lid"])
async def test_both_ids_of_one_human_are_let_in(first: str, store: Store) -> None:
    """Let in under one id, known under the other one later: they may speak under both.

    Before that nobody knows, and the other id is a stranger's.
    """
    ids = {"phone": "4917", "lid": "99@lid"}
    shown = await ask(store, ids[first], "whatsapp")
    await store.people.approve_pairing(shown.code)
    assert [await is_in(store, id, "whatsapp") for id in ids.values()].count(True) == 1

    await store.people.learn_alias("whatsapp", "99@lid", "4917")

    assert [await is_in(store, id, "whatsapp") for id in ids.values()] == [True, True]
    assert (
        await store.database.read(
            standing, "whatsapp", frozenset(id for id in ("99@lid",)), profile=MAIN_PROFILE
        )
    ).ids == {"4917", "99@lid"}
    assert await store.people.revoke(Identity(platform="whatsapp", id="99@lid"))
    assert [await is_in(store, id, "whatsapp") for id in ids.values()] == [False, False]


async def test_a_link_lets_nobody_in(store: Store) -> None:
    """Two linked senders are one person, but only the one who was let in may speak."""
    for platform in (TELEGRAM, SIGNAL):
        await store.receive(said(store, platform))
    here, there = (Identity(platform=platform, id="ada") for platform in (TELEGRAM, SIGNAL))
    await store.people.allow(here)

    await store.join(here, there)

    assert await is_in(store, on=TELEGRAM)
    assert not await is_in(store, on=SIGNAL)


async def test_who_is_forgotten_is_let_in_no_longer(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Their grants and their codes go with everything else of theirs, in all profiles."""
    await store.receive(said(store, "whatsapp", "99@lid"))
    await store.people.learn_alias("whatsapp", "99@lid", "4917")
    for id, profile in itertools.product(("4917", "99@lid"), ("main", "work")):
        await store.people.allow(Identity(platform="whatsapp", id=id), profile=profile)
    await ask(store, "99@lid", "whatsapp", profile="third")
    await store.people.allow(Identity(platform="whatsapp", id="bob"))

    await store.people.delete(Identity(platform="whatsapp", id="4917"))

    assert [grant.identity.id for grant in await store.people.grants()] == ["bob"]
    assert await store.people.grants(profile="work") == []
    assert database_factory.tamper("SELECT * FROM pairings") == []


@on(FAST, POSTGRES)
async def test_nonsense_is_refused(store: Store) -> None:
    """What is no code, platform or sender is an error that says so, and counts as no guess."""
    for code in (None, 7, b"x", "a\0b", "a\ud800b", "x" * 1000):
        with pytest.raises(Invalid):
            await store.people.approve_pairing(code)  # type: ignore[arg-type]
    for platform in (7, "a\0b", "x" * 300):
        with pytest.raises(Invalid):
            await store.people.request_pairing(platform, Sender(id="ada"))  # type: ignore[arg-type]
        with pytest.raises(Invalid):
            await store.people.approve_pairing("22222222", platform=platform)  # type: ignore[arg-type]
    for who in (None, "telegram:42", Sender(id="ada")):
        with pytest.raises(Invalid):
            await store.people.allow(who)  # type: ignore[arg-type]
        with pytest.raises(Invalid):
            await store.people.revoke(who)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await store.people.delete(Identity(platform=TELEGRAM, id="unheard-of"))
    await store.people.approve_pairing((await ask(store)).code, platform=TELEGRAM)


def said(store: Store, platform: str, id: str = "ada") -> Inbound:
    """Say something in one's dm."""
    address = Address(platform=platform, kind=Kind.DM, chat=id)
    return Inbound.text("hi", address=address, sender=Sender(id=id), at=store.now())
