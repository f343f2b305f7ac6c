"""Requests that come twice, and the acts that are written down."""

import asyncio
from datetime import timedelta

import pytest

from tests.contracts.desk import both
from tests.databases import OpenStore
from threadline.core.account import OUTCOME_PATIENCE, OUTCOMES_LAST
from threadline.core.errors import Invalid
from threadline.sessions.store import Store
from threadline.testing.clock import FakeClock

ONE, OTHER = "1" * 64, "2" * 64


async def test_of_many_requests_with_one_key_one_is_done(open_store: OpenStore) -> None:
    """From two processes at once: one may go on, and the others learn that it is under way."""
    stores = [await open_store(), await open_store()]
    owner = await stores[0].owner_account()

    found = await asyncio.gather(
        *(store.claim_outcome(owner.key, "key", ONE) for store in stores * 5)
    )

    assert found.count(None) == 1
    assert {outcome.is_under_way for outcome in found if outcome is not None} == {True}


@both
async def test_the_outcome_of_a_request_is_kept_for_a_day(open_store: OpenStore) -> None:
    """The first one stays, for the account that asked; after a day the key is free again."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner, ada = await store.owner_account(), await store.make_account("ada")
    assert await store.claim_outcome(owner.key, "key", ONE) is None
    await store.keep_outcome(owner.key, "key", ONE, 201, '{"id": 1}')
    await store.keep_outcome(owner.key, "key", OTHER, 500, "later")

    clock.advance(OUTCOMES_LAST)
    kept = await store.claim_outcome(owner.key, "key", OTHER)
    assert kept is not None
    assert (kept.request_hash, kept.status, kept.answer) == (ONE, 201, '{"id": 1}')
    assert await store.find_outcome(owner.key, "key") == kept
    assert await store.find_outcome(ada.key, "key") is None
    assert await store.claim_outcome(ada.key, "key", ONE) is None

    clock.advance(timedelta(seconds=1))
    assert await store.find_outcome(owner.key, "key") is None
    assert await store.claim_outcome(owner.key, "key", OTHER) is None


@both
async def test_a_request_that_failed_or_died_can_be_tried_again(open_store: OpenStore) -> None:
    """At once if whoever did it says so, else after a while; not while somebody is at it."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    await store.claim_outcome(owner.key, "key", ONE)
    await store.drop_outcome(owner.key, "key")
    assert await store.claim_outcome(owner.key, "key", ONE) is None

    clock.advance(OUTCOME_PATIENCE)
    assert await store.claim_outcome(owner.key, "key", ONE) is not None
    clock.advance(timedelta(seconds=1))
    assert await store.claim_outcome(owner.key, "key", ONE) is None
    await store.keep_outcome(owner.key, "key", ONE, 201, "done")
    await store.drop_outcome(owner.key, "key")
    assert await store.find_outcome(owner.key, "key") is not None


@both
async def test_old_outcomes_are_swept(open_store: OpenStore) -> None:
    """What is older than a day is gone; the rest stays."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    owner = await store.owner_account()
    await store.keep_outcome(owner.key, "old", ONE, 201, "old")
    clock.advance(OUTCOMES_LAST)
    await store.keep_outcome(owner.key, "new", ONE, 201, "new")
    clock.advance(timedelta(seconds=1))
    await store.sweep_outcomes()
    clock.advance(-OUTCOMES_LAST)

    assert await store.find_outcome(owner.key, "old") is None
    assert await store.find_outcome(owner.key, "new") is not None


@both
async def test_hostile_keys_are_refused(store: Store) -> None:
    """A key that could not be kept is an error, and nothing is begun."""
    owner = await store.owner_account()
    for key in ("x" * 256, "\0", "\ud800", None):
        with pytest.raises(Invalid):
            await store.claim_outcome(owner.key, key, ONE)  # type: ignore[arg-type]
    with pytest.raises(Invalid):
        await store.claim_outcome(owner.key, "key", "the request itself")
    with pytest.raises(Invalid):
        await store.keep_outcome(owner.key, "key", ONE, 0, "under way for ever")


@both
async def test_acts_are_written_down_and_read_backwards(store: Store) -> None:
    """Page by page, with the name of whoever acted; at the terminal nobody has a name."""
    ada = await store.make_account("ada")
    for n in range(5):
        await store.note_audit(ada.key, "token.made", f"token\r\n {n}", "read")
    await store.note_audit(None, "account.made", "ada")
    await store.rename_account(ada.key, "countess")

    first = await store.audit(most=2)
    assert [(entry.account, entry.act, entry.subject) for entry in first] == [
        ("", "account.made", "ada"),
        ("countess", "token.made", "token 4"),
    ]
    rest = await store.audit(before=first[-1].id)
    assert [entry.subject for entry in rest] == [f"token {n}" for n in (3, 2, 1, 0)]
    assert await store.audit(before=rest[-1].id) == []
