"""Forgetting while others write: no acknowledged message of anybody else goes with it."""

import asyncio
import itertools
import random

import psycopg
import pytest

from tests.databases import (
    FAST,
    POSTGRES,
    DatabaseFactory,
    OpenStore,
    PostgresFactory,
    on,
)
from tests.store.people_setup import ALICE, BOB, GROUP, SHARED, dm, says, talk
from tests.store.test_lock_order import blocked
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import NotFound, QueueFull, ThreadlineError
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Role, Text, say
from threadline.core.person import Identity
from threadline.store import Store
from threadline.store.deletion.forget import remove_rows
from threadline.store.deletion.preview import begin_person, begin_sessions
from threadline.store.integrity import check_laws

OWNER = Sender(id="owner")
WEB = Address(platform="local", kind=Kind.DM, chat="owner")
PEOPLE = tuple(f"p{n}" for n in range(6))
VICTIMS = tuple(f"v{n}" for n in range(3))
MESSAGES = 25


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep secrets out of the real home."""
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))


def telegram(who: Sender) -> Identity:
    """Return the identity of a sender."""
    return Identity(platform="telegram", id=str(who.id))


def from_web(store: Store, id: str) -> Inbound:
    """Make a message that the owner writes in the web app."""
    return Inbound.text(f"web {id}", address=WEB, sender=OWNER, at=store.now(), message_id=id)


async def texts(factory: DatabaseFactory) -> list[str]:
    """Return everything that people said."""
    return [str(text) for (text,) in factory.tamper("SELECT text FROM messages")]


async def test_what_arrived_from_elsewhere_names_no_forgotten_session(store: Store) -> None:
    """A message that the owner sent from the web app no longer names the session after it went."""
    id = await talk(store, ALICE, "one")
    await store.ask_in(id, from_web(store, "m1"))

    await store.people.delete(telegram(ALICE))

    assert await store.database.read(check_laws) == []


async def test_messages_that_moved_to_another_session_are_found_there(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """Arrivals follow a queued turn to the session that continues a suspended one."""
    store = await open_store()
    await says(store, ALICE, "breaks it", message_id="1")
    await says(store, ALICE, "waits", message_id="2")
    for _ in range(3):
        assert await store.turns.claim() is not None
        await store.turns.interrupt_own()
        await store.turns.recover()

    rows = database_factory.tamper(
        "SELECT a.message_id FROM arrivals a JOIN messages m ON m.key = a.message_key "
        "WHERE a.session_key <> m.session_key"
    )
    assert rows == []
    moved = database_factory.tamper("SELECT DISTINCT session_key FROM arrivals")
    assert len(moved) == 2


async def test_a_message_after_the_request_opens_a_new_session(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """What Bob says in a group after its session was given up is not deleted with it."""
    store = await open_store(rules=SHARED)
    id = await talk(store, ALICE, "one", at=GROUP)
    begun = await store.database.write(begin_sessions, [id])

    said_in = await says(store, BOB, "still here", at=GROUP, message_id="b1")
    await store.go_on_forgetting(begun)

    assert said_in != id
    assert "still here" in await texts(database_factory)


async def test_nobody_resumes_a_session_that_is_being_forgotten(store: Store) -> None:
    """A route cannot be switched to a session that goes: what was said there would be deleted."""
    id = await talk(store, ALICE, "one")
    await store.sessions.reset(dm(ALICE), ALICE)
    await store.database.write(begin_sessions, [id])

    with pytest.raises(NotFound):
        await store.sessions.switch(dm(ALICE), ALICE, id)


@on(POSTGRES)
async def test_a_message_that_waited_for_the_forgetting_is_refused(
    database_factory: PostgresFactory, open_store: OpenStore
) -> None:
    """The owner writes into a session while it is given up: the message is stored or refused.

    PostgreSQL evaluated the condition "is not being forgotten" on the state before it waited.
    """
    store = await open_store()
    id = await talk(store, ALICE, "one")
    with psycopg.connect(database_factory.where) as stranger:
        stranger.execute("SELECT key FROM sessions FOR NO KEY UPDATE")
        forgetting = asyncio.create_task(store.sessions.delete(id))
        await blocked(database_factory, 1)
        asking = asyncio.create_task(store.ask_in(id, from_web(store, "m1")))
        await blocked(database_factory, 2)
    await forgetting

    with pytest.raises(NotFound):
        await asking


@on(POSTGRES)
async def test_a_message_under_way_goes_with_its_sender(
    database_factory: PostgresFactory, open_store: OpenStore
) -> None:
    """A message that is being stored while its sender is forgotten is found and emptied.

    It had looked up the sender before, and stayed under the nameless rest of them.
    """
    store = await open_store(rules=SHARED)
    await talk(store, BOB, "bob", at=GROUP)
    await talk(store, ALICE, "alice")
    with psycopg.connect(database_factory.where) as stranger:
        stranger.execute("SELECT key FROM sessions WHERE kind = 'group' FOR NO KEY UPDATE")
        speaking = asyncio.create_task(says(store, ALICE, "secret", at=GROUP, message_id="a1"))
        await blocked(database_factory, 1)
        forgetting = asyncio.create_task(store.people.delete(telegram(ALICE)))
        await blocked(database_factory, 2)
    await speaking
    await forgetting

    left = await texts(database_factory)
    assert "secret" not in left
    assert "bob" in left


async def test_edits_of_others_wait_on_for_their_message(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """An edit by Bob that came before its message survives that Alice is forgotten."""
    store = await open_store()
    await talk(store, ALICE, "one", at=GROUP)
    for who in (ALICE, BOB):
        edit = Inbound(
            address=GROUP,
            sender=who,
            kind=InboundKind.EDIT,
            message_id=f"early {who.id}",
            version=1,
            parts=(Text(text=f"edited by {who.id}"),),
            at=store.now(),
        )
        await store.receive(edit)

    await store.people.delete(telegram(ALICE))
    await says(store, BOB, "first", at=GROUP, message_id="early bob")

    assert "edited by bob" in await texts(database_factory)
    assert database_factory.tamper("SELECT text FROM early_changes") == []


class Crowd:
    """People who write in private chats, a group and a thread, while some of them are forgotten."""

    def __init__(self, stores: list[Store]) -> None:
        self.stores = stores
        self.acknowledged: dict[str, str] = {}
        self.failures: list[str] = []
        self._numbers = itertools.count()
        self._chance = random.Random(7)
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Let everybody write, with workers and forgetters beside them, until all is said."""
        work = [self._answer(store) for store in self.stores for _ in range(2)]
        forget = [self._forget(store) for store in self.stores]
        beside = [asyncio.create_task(one) for one in (*work, *forget)]
        await asyncio.gather(*(self._speak(who) for who in (*PEOPLE, *VICTIMS)))
        self._over.set()
        await asyncio.gather(*beside)
        for who in VICTIMS:
            await self._forget_one(self.stores[0], who)

    async def _speak(self, who: str) -> None:
        for _ in range(MESSAGES):
            id, store = f"m{next(self._numbers)}", self._chance.choice(self.stores)
            group = Address(platform="telegram", kind=Kind.GROUP, chat="g")
            thread = Address(platform="telegram", kind=Kind.GROUP, chat="g", thread="t")
            at = self._chance.choice((dm(Sender(id=who)), group, thread))
            try:
                await says(store, Sender(id=who), f"{id} of {who}", at=at, message_id=id)
            except QueueFull:
                continue
            self.acknowledged[id] = who

    async def _answer(self, store: Store) -> None:
        while not self._over.is_set():
            try:
                claim = await store.turns.claim()
                if claim is None:
                    await asyncio.sleep(0)
                else:
                    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "yes")])
            except ThreadlineError:
                continue  # Its session went meanwhile.

    async def _forget(self, store: Store) -> None:
        while not self._over.is_set():
            await self._forget_one(store, self._chance.choice(VICTIMS))
            await asyncio.sleep(0)

    async def _forget_one(self, store: Store, who: str) -> None:
        identity = Identity(platform="telegram", id=who)
        try:
            begun = await store.database.write(begin_person, identity)
        except NotFound:
            return  # They have not spoken since.
        try:
            await remove_rows(store.database, begun)
        except ThreadlineError as error:
            self.failures.append(str(error))


@on(FAST, POSTGRES)
async def test_forgetting_under_load_loses_nothing_of_others(
    database_factory: DatabaseFactory, open_store: OpenStore
) -> None:
    """While some people are forgotten again and again, no message of the others is lost."""
    crowd = Crowd([await open_store(), await open_store()])

    await crowd.run()

    assert crowd.failures == []
    said = await texts(database_factory)
    mine = {f"{id} of {who}" for id, who in crowd.acknowledged.items() if who in PEOPLE}
    assert mine - set(said) == set()
    assert [text for text in said if any(f" of {who}" in text for who in VICTIMS)] == []
    assert await crowd.stores[0].database.read(check_laws) == []
