"""People at once: linking, gathering, parting and learning while others speak; and nonsense."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore, on
from tests.query_recorder import QueryWitness
from threadline.config import load_config
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid, NotFound
from threadline.core.inbound import Inbound
from threadline.core.message import Role, say
from threadline.core.person import Identity, PeopleMode, Viewer, read_code, write_code
from threadline.core.route import route
from threadline.core.session import SessionId
from threadline.core.settings import Settings
from threadline.database.port import SqlValue, Transaction
from threadline.store import Store
from threadline.store.inbound.deduplication import Arrival
from threadline.store.person_links.unlink import unlink_sender
from threadline.store.sessions.merge_dms import join_person_session
from threadline.testing.feed_checker import FeedWitness

ONE = Settings(people=PeopleMode.ONE_CONVERSATION)
NAMES = ("ada", "bob", "cid", "dot")


def place(name: str, platform: str = "telegram") -> tuple[Address, Sender]:
    """Be somebody in their dm."""
    address = Address(platform=platform, kind=Kind.DM, chat=f"chat-of-{name}")
    return address, Sender(id=name, name=name)


def called(name: str) -> Identity:
    """Name somebody as an admin would."""
    return Identity(platform="telegram", id=name)


async def tell(store: Store, name: str, text: str, id: str | None = None) -> Arrival:
    """Say something as somebody in their dm."""
    address, sender = place(name)
    return await store.receive(
        Inbound.text(text, address=address, sender=sender, at=store.now(), message_id=id)
    )


async def answer_all(store: Store) -> None:
    """Answer whatever waits."""
    while (claim := await store.turns.claim()) is not None:
        await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "ok")])


async def test_everybody_is_joined_however_the_joins_cross(open_store: OpenStore) -> None:
    """Four joins in a ring, from two processes at once, make one person of four."""
    stores = [await open_store(), await open_store()]
    for name in NAMES:
        await tell(stores[0], name, "hi")

    ring = [(name, NAMES[(n + 1) % len(NAMES)]) for n, name in enumerate(NAMES)]
    await asyncio.gather(
        *(stores[n % 2].join(called(one), called(two)) for n, (one, two) in enumerate(ring))
    )

    (person,) = await stores[0].people.list()
    assert {known.identity.id for known in person.senders} == set(NAMES)


async def test_speaking_at_once_ends_in_one_conversation(open_store: OpenStore) -> None:
    """Both apps of a person speak in the same moment, again and again: nothing is lost or split."""
    stores = [await open_store(rules=ONE), await open_store(rules=ONE)]
    for name in ("ada", "bob"):
        await tell(stores[0], name, "before")
    await answer_all(stores[0])
    await stores[0].join(called("ada"), called("bob"))

    came: tuple[Arrival, ...] = ()
    for n in range(5):
        came = await asyncio.gather(
            tell(stores[0], "ada", f"a{n}"), tell(stores[1], "bob", f"b{n}")
        )
        await answer_all(stores[n % 2])
    last = [await tell(stores[0], name, "after") for name in ("ada", "bob")]

    assert len({arrival.session_id for arrival in last}) == 1
    assert {arrival.session_id for arrival in came} == {last[0].session_id}
    said = await everything(stores[0])
    assert sorted(said) == sorted(
        ["before"] * 2 + [f"{who}{n}" for who in "ab" for n in range(5)] + ["after"] * 2
    )


async def test_parting_while_both_speak_keeps_them_apart(open_store: OpenStore) -> None:
    """Whatever is just being said, no route leads into a session of the other afterwards."""
    stores = [await open_store(rules=ONE), await open_store(rules=ONE)]
    for round_ in range(4):
        names = (f"ada{round_}", f"bob{round_}")
        for name in names:
            await tell(stores[0], name, f"{name} before")
        await answer_all(stores[0])
        await stores[0].join(*(called(name) for name in names))
        words = [(name, f"{name} {n}") for n in range(3) for name in names]
        await asyncio.gather(
            *(tell(stores[n % 2], name, text) for n, (name, text) in enumerate(words)),
            stores[1].part(called(names[1])),
            *(tell(stores[n % 2], name, f"{text}!") for n, (name, text) in enumerate(words)),
        )
        await answer_all(stores[0])
        after = {name: await tell(stores[0], name, f"{name} after") for name in names}

        assert len({arrival.session_id for arrival in after.values()}) == 2
        for name in names:
            asker = Viewer(address=place(name)[0], sender=place(name)[1])
            where = await stores[0].sessions.find(route(*place(name)))
            assert where is not None
            assert await stores[0].people.may_see(asker, where)
        assert sum(text.startswith(names) for text in await everything(stores[0])) == 16


async def test_who_just_parted_is_not_gathered(database_factory: DatabaseFactory) -> None:
    """An arrival that still took somebody for a person finds, under the lock, that they left."""
    database = await database_factory()
    store = Store(database, ONE)
    for name in ("ada", "bob", "cid"):
        await tell(store, name, "hi")
    await store.join(called("ada"), called("bob"))
    person = await store.join(called("bob"), called("cid"))
    (row,) = database_factory.tamper("SELECT key FROM senders WHERE id = 'ada'")
    await store.part(called("ada"))

    where = route(Address(platform="telegram", kind=Kind.DM, chat="new"), Sender(id="ada"))
    key = row[0]
    assert isinstance(key, int)
    await database.write(join_person_session, where, person.key, key, profile="main")

    assert await store.sessions.find(where) is None


async def test_parting_locks_sessions_in_the_order_of_their_keys(
    database_factory: DatabaseFactory,
) -> None:
    """Bob waits in an older session than the one he speaks in: the older one is locked first."""
    database = await database_factory()
    store = Store(database, ONE)
    await store.people.make_link_code(*place("bob"))
    hers = await tell(store, "ada", "mine")
    await answer_all(store)
    await store.join(called("ada"), called("bob"))
    waits = await tell(store, "bob", "and me")
    assert waits.session_id == hers.session_id
    thread = Address(platform="telegram", kind=Kind.DM, chat="chat-of-ada", thread="7")
    ada = Sender(id="ada", name="ada")
    newer = await store.receive(Inbound.text("apart", address=thread, sender=ada, at=store.now()))
    database_factory.tamper(
        "UPDATE bindings SET session_key = "
        f"(SELECT key FROM sessions WHERE id = '{newer.session_id}') "
        "WHERE sender_key = (SELECT key FROM senders WHERE id = 'bob')"
    )
    rows = database_factory.tamper(
        f"SELECT key FROM sessions WHERE id IN ('{waits.session_id}', '{newer.session_id}') "
        "ORDER BY key"
    )

    def watch(tx: Transaction) -> list[SqlValue]:
        witness = QueryWitness(tx)
        unlink_sender(witness, called("bob"))
        return [ask["key"] for query, ask in witness.asked if query == "lock_session_by_key"]

    assert (await database.write(watch))[:2] == [row[0] for row in rows]


async def test_notes_of_the_other_stay_behind(
    open_store: OpenStore, database_factory: DatabaseFactory
) -> None:
    """A note that was to be told with Bob's turn, but is about Ada's session, stays with Ada."""
    store = await open_store(rules=ONE)
    await store.people.make_link_code(*place("bob"))
    hers = await tell(store, "ada", "mine")
    assert hers.session_id is not None
    await answer_all(store)
    await store.join(called("ada"), called("bob"))
    his = await tell(store, "bob", "and me")
    assert his.session_id == hers.session_id
    database_factory.tamper(
        "INSERT INTO messages (session_key, turn_id, role, text, at) "
        f"SELECT session_key, id, 'system', 'about ada', 0 FROM turns WHERE id = {his.turn_id}"
    )

    await store.part(called("bob"))
    await answer_all(store)
    await store.sessions.switch(*place("ada"), hers.session_id)
    await tell(store, "ada", "on")
    await answer_all(store)

    assert "about ada" in [line.text for line in await store.transcripts.read(hers.session_id)]
    bobs = await store.sessions.find(route(*place("bob")))
    assert bobs is not None
    lines = [line.text for line in await store.transcripts.read(bobs)]
    assert "and me" in lines
    assert "about ada" not in lines


async def test_learning_both_ways_at_once_is_no_circle(open_store: OpenStore) -> None:
    """Two processes learn the same alias, each the other way round: both ids lead to one route."""
    stores = [await open_store(), await open_store()]
    await asyncio.gather(
        stores[0].people.learn_alias("whatsapp", "1@lid", "2"),
        stores[1].people.learn_alias("whatsapp", "2", "1@lid"),
    )

    sessions = set()
    for id in ("1@lid", "2"):
        address = Address(platform="whatsapp", kind=Kind.DM, chat=id)
        said = Inbound.text("hi", address=address, sender=Sender(id=id), at=stores[0].now())
        sessions.add((await stores[0].receive(said)).session_id)

    assert len(sessions) == 1


async def test_everything_that_happens_to_people_is_in_the_feed(open_store: OpenStore) -> None:
    """Whoever follows the feed through joining, gathering and parting sees what is true."""
    store = await open_store(rules=ONE)
    ids = [(await tell(store, name, "hi")).session_id for name in ("ada", "bob")]
    known = [id for id in ids if id is not None]
    await answer_all(store)
    witness = FeedWitness(store)
    await witness.verify(known)

    await store.join(called("ada"), called("bob"))
    await tell(store, "ada", "one")
    await witness.verify(known)
    await tell(store, "bob", "two")
    await witness.verify(known)
    await store.part(called("ada"))
    events = await witness.verify(known)

    assert {event.kind for event in events} >= {"session.ended", "turn.moved"}


@on(FAST, POSTGRES)
async def test_a_code_is_nowhere_in_the_store(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Whoever reads the database cannot send a code that somebody was just shown."""
    store.database.environment.new_id = lambda: 2**32 - 1
    shown = await store.people.make_link_code(*place("ada"))

    rows = database_factory.tamper("SELECT * FROM link_codes")

    assert shown.code == "ZZZZZZZZ"
    assert len(rows) == 1
    assert shown.code not in str(rows)


async def test_codes_can_be_typed(store: Store) -> None:
    """Each code has eight signs, none of which looks like another, however it is typed."""
    for bits in (0, 1, 2**39 + 7, 2**40 - 1):
        code = write_code(bits)
        assert len(code) == 8
        assert not set(code) & set("01IO")
        assert read_code(f" {code[:3].lower()} - {code[3:]}\n") == code
    store.database.environment.new_id = lambda: 0
    await store.people.make_link_code(*place("ada"))
    with pytest.raises(Exception, match="No free code"):
        await store.people.make_link_code(*place("bob"))


@pytest.mark.parametrize(
    ("text", "mode"),
    [("", PeopleMode.APART), ("one conversation", PeopleMode.ONE_CONVERSATION)],
)
def test_one_conversation_is_a_setting(text: str, mode: PeopleMode, tmp_path: Path) -> None:
    """People are apart unless somebody wishes otherwise."""
    environ = {"HOME": str(tmp_path), "THREADLINE_PEOPLE": text}

    assert load_config(environ=environ, folder=tmp_path).rules().people is mode


BAD: tuple[Any, ...] = (None, 7, b"x", "telegram", object())


@on(FAST)
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: type(bad).__name__)
async def test_nonsense_is_refused(bad: Any, store: Store) -> None:
    """What is no address, sender, code, id or key is an error that says so, and changes nothing."""
    address, sender = place("ada")
    for call in (
        lambda: store.people.make_link_code(bad, sender),
        lambda: store.people.make_link_code(address, bad),
        lambda: store.people.link(bad, sender, "22222222"),
        lambda: store.people.link(address, bad, "22222222"),
        lambda: store.people.unlink(bad, sender),
        lambda: store.people.unlink(address, bad),
        lambda: store.join(bad, called("ada")),
        lambda: store.join(called("ada"), bad),
        lambda: store.part(bad),
        lambda: store.people.find(bad),
        lambda: store.people.may_see(bad, SessionId("20260131_184500_0a1b2c3d")),
    ):
        with pytest.raises(Invalid):
            await call()

    assert not await store.people.list()


@on(FAST, POSTGRES)
async def test_hostile_codes_keys_and_ids_are_refused(store: Store) -> None:
    """Texts that no database could keep, and keys that nobody has, are errors of our family."""
    address, sender = place("ada")
    for code in (None, 7, b"x", "a\0b", "a\ud800b", "x" * 1000):
        with pytest.raises(Invalid):
            await store.people.link(address, sender, code)  # type: ignore[arg-type]
    for key in (None, -1, 0, 2**70, "1", 1.5, True):
        with pytest.raises(Invalid):
            await store.people.get(key)  # type: ignore[arg-type]
    for name in ("", "\u200b", "a\0b", 7):
        with pytest.raises(Invalid):
            await store.rename_person(1, name)  # type: ignore[arg-type]
    with pytest.raises(NotFound):
        await store.part(called("unheard-of"))
    for id in ("", "a\0b", "x" * 256, 7):
        with pytest.raises(Invalid):
            Identity(platform="telegram", id=id)  # type: ignore[arg-type]
    with pytest.raises(Invalid, match="Who asks"):
        Viewer()
    assert await store.people.find(called("unheard-of")) is None


async def everything(store: Store) -> list[str]:
    """Read all that people said, wherever it is or waits."""
    found = []
    for row in (await store.sessions.list(most=1000)).rows:
        id = row.session.id
        lines = [*await store.transcripts.read(id, most=1000), *await store.transcripts.waiting(id)]
        found += [line.text for line in lines if line.role is Role.USER]
    return found
