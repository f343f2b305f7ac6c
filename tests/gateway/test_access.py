"""Access in a gateway: what it asks the store, and who may go on after a crash."""

from itertools import count
from typing import cast

import pytest
from msgspec.structs import replace

from tests.databases import FAST, POSTGRES, DatabaseFactory, on
from tests.gateway.inbox_setup import ALICE, GROUP, Front
from tests.interrupted_database import Interrupted
from threadline.core.access import AccessRules
from threadline.core.access_level import AccessLevel
from threadline.core.address import Sender
from threadline.core.errors import StorageError
from threadline.core.person import Identity
from threadline.core.session_list import SessionFilter
from threadline.database.port import Database
from threadline.store import Store
from threadline.store.turn_queue.crash_recovery import list_interrupted

pytestmark = on(FAST, POSTGRES)


@pytest.fixture
def front(store: Store) -> Front:
    """Stand before a door that Alice and Bob may enter."""
    return Front(store)


async def test_who_stands_in_the_settings_costs_no_question(store: Store) -> None:
    """They are ranked without the store, also where there are admins; strangers are looked up."""
    front = Front(store, replace(ALICE, admins=["telegram:root"]))
    await store.close()

    assert await front.access.rank(front.said("hi")) is AccessLevel.MEMBER
    assert await front.access.rank(front.said("hi", "root")) is AccessLevel.ADMIN
    with pytest.raises(StorageError):
        await front.access.rank(front.said("hi", "mallory"))


@pytest.mark.parametrize("words", ["work for me", "/title Mine", "/unknown"])
async def test_nobody_is_heard_whose_grant_was_just_revoked(
    database_factory: DatabaseFactory, words: str
) -> None:
    """Access that is revoked after it was looked up, and before anything is kept, is none."""
    database = Interrupted(await database_factory())
    store, mallory = Store(await database_factory()), Identity(platform="telegram", id="mallory")
    front = Front(Store(cast("Database", database)), AccessRules(pairing=False))
    refused = await front.take(words, "mallory")

    async def revoke() -> None:
        await store.people.revoke(mallory)

    taken = refused
    for nth in count(1):
        await store.people.allow(mallory)
        database.before(nth, revoke)
        taken = await front.take(words, "mallory")
        if not database.has_happened:
            break
        assert taken == refused
        assert not (await store.sessions.list(SessionFilter(with_empty=True))).rows
        assert await store.deliveries.lease() == []

    assert nth > 2
    assert taken != refused


async def test_nobody_resumes_who_may_not_speak_any_more(front: Front) -> None:
    """Access is asked again before a turn that was cut off goes on."""
    store = front.store
    mallory = Identity(platform="telegram", id="mallory")
    await store.people.allow(mallory)
    for who in ("mallory", "alice"):
        await front.take("work for me", who)
    await front.take("and for us", "carol", address=GROUP)
    claims = [await store.turns.claim() for _ in range(3)]
    await store.turns.interrupt_own()
    among = await store.database.read(list_interrupted)
    assert await front.access.refused_turns(among) == frozenset()

    await store.people.revoke(mallory)
    refused = await front.access.refused_turns(among)
    strict = Front(store, AccessRules())

    assert claims[0] is not None
    assert refused == {claims[0].turn.id}
    assert len(await strict.access.refused_turns(among)) == 3
    assert await strict.access.refused_turns([claims[0].turn.id]) == refused
    recovery = await store.turns.recover(refused)
    assert (len(recovery.resumed), recovery.failed) == (2, (claims[0].turn.id,))


async def test_only_those_resume_for_whom_the_platform_answered(store: Store) -> None:
    """A role or a connector counts as it was when they spoke, and for nobody else there."""
    mallory = Identity(platform="telegram", id="mallory")
    rules = AccessRules(roles=["telegram"], relays=["telegram"])
    front = Front(store, rules)
    await store.people.allow(mallory)
    await front.take("for me", "mallory")
    await front.take("for me", "alice", sender=Sender(id="alice", by_role=True))
    await front.take("for me", "bob", is_trusted=True)
    for _ in range(3):
        assert await store.turns.claim() is not None
    await store.turns.interrupt_own()
    await store.people.revoke(mallory)
    turns = sorted(await store.database.read(list_interrupted))

    refused = await front.access.refused_turns(turns)
    neither = await Front(store, AccessRules()).access.refused_turns(turns)

    assert (refused, neither) == (frozenset(turns[:1]), frozenset(turns))


async def test_who_answers_for_somebody_is_known_as_of_their_last_words(store: Store) -> None:
    """Whoever comes without their role, because the owner let them in, is not let in by it."""
    mallory = Identity(platform="telegram", id="mallory")
    front = Front(store, AccessRules(roles=["telegram"]))
    await front.take("hello", "mallory", sender=Sender(id="mallory", by_role=True))
    await front.answer("hi")
    await store.people.allow(mallory)
    await front.take("hello again", "mallory")
    assert await store.turns.claim() is not None
    await store.turns.interrupt_own()
    await store.people.revoke(mallory)

    assert (
        await front.access.refused_turns(turns := await store.database.read(list_interrupted))
        == turns
    )


async def test_nothing_is_resumed_that_nobody_was_asked_about(store: Store) -> None:
    """A turn that was cut off after access was asked waits for the next time."""
    front = Front(store)
    await front.take("one")
    await front.take("two", "bob")
    assert await store.turns.claim() is not None
    await store.turns.interrupt_own()
    among = await store.database.read(list_interrupted)
    assert await store.turns.claim() is not None
    await store.turns.interrupt_own()

    first = await store.turns.recover(among=among)

    assert set(first.resumed) == among
    assert len(await store.database.read(list_interrupted)) == 1
