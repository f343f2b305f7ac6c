"""People: codes that show that two apps are one person, and who that person is."""

import asyncio
from datetime import timedelta

import pytest

from tests.scenarios.people import identity, link
from threadline.core.address import Sender
from threadline.core.errors import Invalid, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.person import Identity
from threadline.store.inbound.deduplication import once
from threadline.store.person_links import link_codes
from threadline.testing.scenario import Scenario


async def test_a_code_joins_two_apps(house: Scenario) -> None:
    """Alice sends the code that Telegram showed her from Signal: now she is one person."""
    telegram, signal = house.person("alice", on="telegram"), house.person("al", on="signal")
    first = await telegram.says("from telegram")
    assert await house.store.people.find(identity(telegram)) is None

    shown = await house.store.people.make_link_code(telegram.address, telegram.sender)
    person = await house.store.people.link(
        signal.address, signal.sender, f" {shown.code[:4].lower()}-{shown.code[4:]}"
    )

    assert person.name == "Alice"
    assert {known.identity for known in person.senders} == {identity(telegram), identity(signal)}
    assert await house.store.people.find(identity(signal)) == person
    assert await house.store.people.list() == [person]
    assert [session.id for session in await house.sessions_of(signal)] == [first.session_id]


async def test_a_code_is_worth_something_only_once(house: Scenario) -> None:
    """Who finds a used code, one's own or an old one is told nothing but that it is not valid."""
    alice, bob, eve = (house.person(name, on="telegram") for name in ("alice", "bob", "eve"))
    used = await house.store.people.make_link_code(alice.address, alice.sender)
    await house.store.people.link(bob.address, bob.sender, used.code)
    own = await house.store.people.make_link_code(eve.address, eve.sender)
    stale = await house.store.people.make_link_code(alice.address, alice.sender)
    sentences = set()
    for code in (used.code, own.code, "nonsense", ""):
        with pytest.raises(Refused) as caught:
            await house.store.people.link(eve.address, eve.sender, code)
        sentences.add(str(caught.value))
    house.clock.advance(timedelta(minutes=10))
    with pytest.raises(Refused) as caught:
        await house.store.people.link(
            house.person("dan", on="x").address, Sender(id="dan"), stale.code
        )

    assert sentences == {str(caught.value)}
    assert await house.store.people.find(identity(eve)) is None


async def test_five_wrong_codes_lock_a_sender_out(house: Scenario) -> None:
    """Whoever guesses gets five tries an hour; after that even a right code is not looked at."""
    alice, eve = house.person("alice", on="telegram"), house.person("eve", on="telegram")
    for _ in range(4):
        with pytest.raises(Refused, match="not valid"):
            await house.store.people.link(eve.address, eve.sender, "22222222")
    house.clock.advance(timedelta(minutes=59))
    with pytest.raises(Refused, match="not valid"):
        await house.store.people.link(eve.address, eve.sender, "22222222")
    house.clock.advance(timedelta(minutes=59))
    right = await house.store.people.make_link_code(alice.address, alice.sender)

    with pytest.raises(Refused, match="Too many"):
        await house.store.people.link(eve.address, eve.sender, right.code)
    house.clock.advance(timedelta(minutes=1))
    await house.store.people.link(eve.address, eve.sender, right.code)

    assert await house.store.people.find(identity(eve)) is not None


async def test_old_wrong_codes_are_forgiven(house: Scenario) -> None:
    """Wrong codes that are more than an hour old do not count."""
    eve = house.person("eve", on="telegram")
    for _ in range(3):
        for _ in range(4):
            with pytest.raises(Refused, match="not valid"):
                await house.store.people.link(eve.address, eve.sender, "22222222")
        house.clock.advance(timedelta(hours=1))


async def test_a_fourth_code_replaces_the_oldest(house: Scenario) -> None:
    """Only three codes of one sender are valid at once."""
    alice = house.person("alice", on="telegram")
    shown = []
    for _ in range(4):
        shown.append(await house.store.people.make_link_code(alice.address, alice.sender))
        house.clock.advance(timedelta(seconds=1))

    with pytest.raises(Refused, match="not valid"):
        await house.store.people.link(alice.address, Sender(id="a"), shown[0].code)
    for number, code in enumerate(shown[1:]):
        await house.store.people.link(alice.address, Sender(id=f"b{number}"), code.code)


async def test_a_code_is_not_shown_among_others(house: Scenario) -> None:
    """In a group everybody could read the code, and become Alice."""
    alice = house.person("alice", on="telegram").in_group("g")

    with pytest.raises(Refused, match="Others could read"):
        await house.store.people.make_link_code(alice.address, alice.sender)


async def test_a_code_is_worth_nothing_in_another_profile(house: Scenario) -> None:
    """Two profiles never meet, not even by a code."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    shown = await house.store.people.make_link_code(alice.address, alice.sender, profile="work")

    with pytest.raises(Refused, match="not valid"):
        await house.store.people.link(bob.address, bob.sender, shown.code)


async def test_who_has_no_id_cannot_be_linked(house: Scenario) -> None:
    """Nobody is guessed: without an id there is nothing to join."""
    alice = house.person("alice", on="telegram")
    shown = await house.store.people.make_link_code(alice.address, alice.sender)

    with pytest.raises(Refused, match="who you are"):
        await house.store.people.link(alice.address, Sender(), shown.code)
    with pytest.raises(Refused, match="who you are"):
        await house.store.people.make_link_code(alice.address, Sender())


async def test_a_code_that_two_send_at_once_joins_one_of_them(house: Scenario) -> None:
    """The same code from two apps in the same moment: one wins, the other is refused."""
    alice = house.person("alice", on="telegram")
    others = [house.person(name, on="signal") for name in ("bob", "eve")]
    shown = await house.store.people.make_link_code(alice.address, alice.sender)
    async with await house.open_another() as another:
        came = await asyncio.gather(
            *(
                store.people.link(other.address, other.sender, shown.code)
                for store, other in zip((house.store, another), others, strict=True)
            ),
            return_exceptions=True,
        )

    assert sorted(type(one).__name__ for one in came) == ["Person", "Refused"]
    assert [len(person.senders) for person in await house.store.people.list()] == [2]


async def test_a_code_that_the_platform_brings_twice_counts_once(house: Scenario) -> None:
    """A command goes through `once`: its redelivery is neither a second link nor a wrong code."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="telegram")
    shown = await house.store.people.make_link_code(alice.address, alice.sender)
    store = house.store
    asked = Inbound.text(
        "/link", address=bob.address, sender=bob.sender, at=store.now(), message_id="m"
    )
    came = [
        await store.database.write(
            once, asked, link_codes.link, bob.address, bob.sender, shown.code, profile="main"
        )
        for _ in range(2)
    ]

    assert came[0] is not None
    assert (came[0].refusal(), came[1]) == (None, None)


async def test_joining_persons_of_several_senders_makes_one(house: Scenario) -> None:
    """Two persons with two apps each become one with four, under the older one's name."""
    people = [house.person(name, on="telegram") for name in ("ann", "bea", "cid", "dot")]
    for person in people:
        await person.says("hi")
    await link(people[0], people[1])
    await link(people[2], people[3])
    assert len(await house.store.people.list()) == 2

    await house.store.join(identity(people[1]), identity(people[3]))

    (joined,) = await house.store.people.list()
    assert (joined.name, len(joined.senders)) == ("Ann", 4)
    assert len(await house.sessions_of(people[0])) == 4


async def test_a_person_can_be_called_otherwise(house: Scenario) -> None:
    """A name is one clean line, and nobody can be called nothing."""
    alice, bob = house.person("alice", on="telegram"), house.person("bob", on="signal")
    await link(alice, bob)
    (person,) = await house.store.people.list()

    assert (await house.store.rename_person(person.key, " Al\u202eice\n A. ")).name == "Alice A."
    with pytest.raises(Invalid):
        await house.store.rename_person(person.key, "\u200b")
    with pytest.raises(NotFound):
        await house.store.rename_person(type(person.key)(77), "x")
    with pytest.raises(NotFound):
        await house.store.join(identity(alice), Identity(platform="signal", id="unheard-of"))
    with pytest.raises(Invalid, match="same"):
        await house.store.join(identity(alice), identity(alice))
