"""Access in a gateway: what it asks the store, and who may go on after a crash."""

from dataclasses import replace

import pytest

from tests.databases import FAST, POSTGRES, on
from tests.gateway.front import ALICE, GROUP, Front
from threadline.core.access import AccessRules
from threadline.core.errors import StorageError
from threadline.core.person import Identity
from threadline.core.rank import Rank
from threadline.sessions.store import Store

pytestmark = on(FAST, POSTGRES)


@pytest.fixture
def front(store: Store) -> Front:
    """Stand before a door that Alice and Bob may enter."""
    return Front(store)


async def test_who_stands_in_the_settings_costs_no_question(store: Store) -> None:
    """They are ranked without the store, also where there are admins; strangers are looked up."""
    front = Front(store, replace(ALICE, admins=["telegram:root"]))
    await store.close()

    assert await front.access.rank(front.said("hi")) is Rank.MEMBER
    assert await front.access.rank(front.said("hi", "root")) is Rank.ADMIN
    with pytest.raises(StorageError):
        await front.access.rank(front.said("hi", "mallory"))


async def test_nobody_resumes_who_may_not_speak_any_more(front: Front) -> None:
    """Access is asked again before a turn that was cut off goes on."""
    store = front.store
    mallory = Identity(platform="telegram", id="mallory")
    await store.allow(mallory)
    for who in ("mallory", "alice"):
        await front.take("work for me", who)
    await front.take("and for us", "carol", address=GROUP)
    claims = [await store.claim() for _ in range(3)]
    await store.let_go()
    assert await front.access.refused_turns() == frozenset()

    await store.revoke(mallory)
    refused = await front.access.refused_turns()
    strict = Front(store, AccessRules())
    by_role = Front(store, AccessRules(roles=["telegram"]))

    assert claims[0] is not None
    assert refused == {claims[0].turn.id}
    assert len(await strict.access.refused_turns()) == 3
    assert await by_role.access.refused_turns() == frozenset()
    recovery = await store.recover(refused)
    assert (len(recovery.resumed), recovery.failed) == (2, (claims[0].turn.id,))
