"""Requests that come twice: what they make is made once, and their answer is kept with it."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import OpenStore
from tests.store.command_setup import both
from tests.store.people_setup import ALICE, talk
from threadline.core.account import (
    OUTCOME_PATIENCE,
    OUTCOMES_LAST,
    Account,
    KnownRequest,
    RequestOutcome,
)
from threadline.core.errors import Invalid, Refused, StorageError
from threadline.core.hidden_range import Undone
from threadline.core.message import Role
from threadline.core.person import Identity
from threadline.core.session import SessionId
from threadline.store import Store
from threadline.store.accounts.idempotency import MadeBefore, find_outcome
from threadline.testing.clock import FakeClock

ONE, OTHER = "1" * 64, "2" * 64


def asked(who: Account, key: str = "key", request_hash: str = ONE) -> KnownRequest:
    """Make a request of somebody."""
    return KnownRequest(account=who.key, key=key, request_hash=request_hash)


def told(undone: Undone) -> str:
    """Write the answer to an undo."""
    return str(list(undone.texts))


async def said(store: Store, id: SessionId) -> list[str]:
    """Read what people said that is in sight."""
    found = await store.transcripts.read(id)
    return [line.text for line in found if line.role is Role.USER]


async def made_before(work: asyncio.Future[Undone]) -> RequestOutcome | None:
    """Answer what came of a request before; None: it was made just now."""
    try:
        await work
    except MadeBefore as before:
        return before.outcome
    return None


@both
async def test_what_is_made_comes_with_its_answer(open_store: OpenStore) -> None:
    """Of many who ask for the same at once, in two processes, one takes back one turn."""
    stores = [await open_store(), await open_store()]
    owner = await stores[0].owner_account()
    id = await talk(stores[0], ALICE, "one", "two", "three")

    found = await asyncio.gather(
        *(
            made_before(asyncio.ensure_future(store.answering(asked(owner), 200, told).undo(id)))
            for store in stores * 4
        )
    )

    assert found.count(None) == 1
    assert {(one.status, one.answer) for one in found if one} == {(200, "['three']")}
    assert await said(stores[0], id) == ["one", "two"]


@both
async def test_what_cannot_be_answered_is_not_made(store: Store) -> None:
    """If keeping the answer fails nothing was done, and the same request can be sent again."""
    owner, id = await store.owner_account(), await talk(store, ALICE, "one", "two")

    def fails(_: Undone) -> str:
        raise OSError("the power went")

    with pytest.raises(OSError, match="power"):
        await store.answering(asked(owner), 200, fails).undo(id)
    assert await said(store, id) == ["one", "two"]
    assert await store.database.read(find_outcome, owner.key, "key") is None

    await store.answering(asked(owner), 200, told).undo(id)
    with pytest.raises(MadeBefore):
        await store.answering(asked(owner), 200, told).undo(id)
    assert await said(store, id) == ["one"]


@both
async def test_whoever_hangs_up_has_still_made_it_once(store: Store) -> None:
    """Cancelled after it began: it is either undone wholly, or made and answered again."""
    owner, id = await store.owner_account(), await talk(store, ALICE, "one", "two")
    for delay in (0, 1, 2, 3):
        task = asyncio.ensure_future(store.answering(asked(owner), 200, told).undo(id))
        for _ in range(delay):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
    await made_before(asyncio.ensure_future(store.answering(asked(owner), 200, told).undo(id)))

    kept = await store.database.read(find_outcome, owner.key, "key")
    assert kept is not None
    assert (kept.answer, await said(store, id)) == ("['two']", ["one"])


@both
async def test_a_mistake_that_is_counted_is_no_outcome(store: Store) -> None:
    """A wrong code counts each time, and a right one with the same key is looked at."""
    owner = await store.owner_account()
    shown = await store.people.request_pairing("telegram", ALICE)
    assert shown is not None
    wrong = "AAAA-AAAA" if shown.code != "AAAA-AAAA" else "BBBB-BBBB"
    for _ in range(2):
        with pytest.raises(Refused, match="not valid"):
            await store.answering(asked(owner), 201, str).approve_pairing(wrong)
    assert await store.database.read(find_outcome, owner.key, "key") is None

    grant = await store.answering(asked(owner), 201, str).approve_pairing(shown.code)

    assert grant.identity == Identity(platform="telegram", id="alice")
    with pytest.raises(MadeBefore):
        await store.answering(asked(owner), 201, str).approve_pairing(shown.code)


async def test_a_request_makes_one_change(store: Store) -> None:
    """A second one would not come with the answer, so that it is refused."""
    owner, id = await store.owner_account(), await talk(store, ALICE, "one", "two", "three")
    once = store.answering(asked(owner), 200, told)
    await once.undo(id)
    with pytest.raises(StorageError, match="one change"):
        await once.undo(id)
    assert await said(once, id) == ["one", "two"]


async def test_of_many_requests_with_one_key_one_is_done(open_store: OpenStore) -> None:
    """What takes long is begun by one of two processes, and the others learn that it is so."""
    stores = [await open_store(), await open_store()]
    owner = await stores[0].owner_account()

    found = await asyncio.gather(
        *(store.claim_outcome(asked(owner), str(n)) for n, store in enumerate(stores * 5))
    )

    assert found.count(None) == 1
    assert {outcome.is_under_way for outcome in found if outcome is not None} == {True}


@both
async def test_the_outcome_of_a_request_is_kept_for_a_day(open_store: OpenStore) -> None:
    """The first one stays, for the account that asked; after a day the key is free again."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner, ada = await store.owner_account(), await store.make_account("ada")
    assert await store.claim_outcome(asked(owner), "mine") is None
    await store.keep_outcome(asked(owner), "mine", 201, '{"id": 1}')
    await store.keep_outcome(asked(owner), "mine", 500, "later")

    clock.advance(OUTCOMES_LAST)
    kept = await store.claim_outcome(asked(owner, request_hash=OTHER), "again")
    assert kept is not None
    assert (kept.request_hash, kept.status, kept.answer) == (ONE, 201, '{"id": 1}')
    assert await store.database.read(find_outcome, owner.key, "key") == kept
    assert await store.database.read(find_outcome, ada.key, "key") is None
    assert await store.claim_outcome(asked(ada), "hers") is None

    clock.advance(timedelta(seconds=1))
    assert await store.database.read(find_outcome, owner.key, "key") is None
    assert await store.claim_outcome(asked(owner, request_hash=OTHER), "new") is None


@both
async def test_a_request_that_failed_or_died_can_be_tried_again(open_store: OpenStore) -> None:
    """At once if whoever did it says so, else after a while; not while somebody is at it."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    await store.claim_outcome(asked(owner), "first")
    await store.drop_outcome(asked(owner), "first")
    assert await store.claim_outcome(asked(owner), "second") is None

    clock.advance(OUTCOME_PATIENCE)
    assert await store.claim_outcome(asked(owner), "third") is not None
    clock.advance(timedelta(seconds=1))
    assert await store.claim_outcome(asked(owner), "third") is None
    await store.keep_outcome(asked(owner), "third", 201, "done")
    await store.drop_outcome(asked(owner), "third")
    assert await store.database.read(find_outcome, owner.key, "key") is not None


@both
async def test_whoever_was_given_up_ends_nothing_of_the_next(open_store: OpenStore) -> None:
    """One who comes back late neither drops nor answers what somebody else has begun since."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    await store.claim_outcome(asked(owner), "slow")
    clock.advance(OUTCOME_PATIENCE + timedelta(seconds=1))
    assert await store.claim_outcome(asked(owner), "next") is None

    await store.drop_outcome(asked(owner), "slow")
    await store.keep_outcome(asked(owner), "slow", 201, "too late")
    under_way = await store.database.read(find_outcome, owner.key, "key")
    assert under_way is not None
    assert under_way.is_under_way
    await store.keep_outcome(asked(owner), "next", 201, "done")

    kept = await store.database.read(find_outcome, owner.key, "key")
    assert kept is not None
    assert kept.answer == "done"


@both
async def test_old_outcomes_are_swept(open_store: OpenStore) -> None:
    """What is older than a day is gone when the next request comes; the rest stays."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    for key in ("old", "new"):
        await store.claim_outcome(asked(owner, key), "mine")
        await store.keep_outcome(asked(owner, key), "mine", 201, key)
        clock.advance(OUTCOMES_LAST / 2 + timedelta(seconds=1))
    await store.claim_outcome(asked(owner, "next"), "mine")
    clock.advance(-OUTCOMES_LAST)

    assert await store.database.read(find_outcome, owner.key, "old") is None
    assert await store.database.read(find_outcome, owner.key, "new") is not None


@both
async def test_hostile_keys_are_refused(store: Store) -> None:
    """A key that could not be kept is an error, and nothing is begun."""
    owner = await store.owner_account()
    for key in ("x" * 256, "\0", "\ud800", None):
        with pytest.raises(Invalid):
            asked(owner, key)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        asked(owner, request_hash="the request itself")
    with pytest.raises(Invalid):
        await store.keep_outcome(asked(owner), "mine", 0, "under way for ever")
    with pytest.raises(Invalid):
        store.answering(asked(owner), 0, told)
