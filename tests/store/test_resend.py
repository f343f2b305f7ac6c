"""Owing again: what never arrived is tried once more, and nothing is said twice in silence."""

from datetime import timedelta

import pytest

from tests.databases import OpenStore
from tests.store.delivery_setup import THERE, begin, finish, run_steadily, take, told
from threadline.core.delivery import DeliveryId, DeliveryState, SendOutcome, SentPiece
from threadline.core.errors import Conflict, NotFound
from threadline.core.event import EventKind
from threadline.core.message import Role, say
from threadline.store import Store
from threadline.store.deliveries.payload import DeliveryPayload
from threadline.testing.clock import FakeClock


async def lose(store: Store, outcome: SendOutcome = SendOutcome.DEAD) -> DeliveryPayload:
    """Take what is due, and lose it for good."""
    parcel = await take(store)
    await store.deliveries.record_failure(parcel.delivery, outcome, "gone")
    return parcel


async def test_what_was_lost_is_owed_again(store: Store) -> None:
    """It keeps its number, has all its attempts, and the feed tells of it."""
    await finish(store, "hello")
    lost = await lose(store)
    before = await store.deliveries.get(lost.delivery.id)

    owed = await store.deliveries.resend(lost.delivery.id)

    assert (before.state, before.error, before.is_doubtful) == (DeliveryState.FAILED, "gone", False)
    assert (owed.id, owed.state, owed.attempts, owed.error) == (before.id, "pending", 0, None)
    assert [event.kind for event in await told(store)][-2:] == [
        EventKind.DELIVERY_FAILED,
        EventKind.DELIVERY_PENDING,
    ]
    parcel = await take(store)
    assert (parcel.delivery.id, parcel.text) == (owed.id, "hello")
    await store.deliveries.record_sent(parcel.delivery, "p1")
    with pytest.raises(Conflict, match="not lost"):
        await store.deliveries.resend(owed.id)


async def test_what_may_have_been_seen_says_so(store: Store) -> None:
    """Nobody heard whether the last attempt arrived, although it was the only one."""
    await finish(store)
    await lose(store)
    (dead,) = await store.deliveries.lost()
    await store.deliveries.resend(dead.id)
    await lose(store, SendOutcome.AMBIGUOUS)

    owed = await store.deliveries.resend(dead.id)

    assert owed.is_doubtful
    parcel = await take(store)
    assert parcel.delivery.repeated_at is not None
    await store.deliveries.record_sent(parcel.delivery, "p1")
    assert not (await store.deliveries.get(owed.id)).is_doubtful


async def test_what_was_taken_stays_taken(open_store: OpenStore) -> None:
    """Only the rest is carried, also of something that was given up after a whole day."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    claim = await begin(store)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "a long answer")])
    parcel = await take(store)
    piece = SentPiece(n=0, platform_id="p0", length=6)
    await store.deliveries.record_piece(parcel.delivery, piece)
    await store.deliveries.record_failure(parcel.delivery, SendOutcome.REJECTED, "busy")
    await run_steadily(store, clock, timedelta(hours=25))
    assert await store.deliveries.abandon_stale() == [parcel.delivery.id]

    owed = await store.deliveries.resend(parcel.delivery.id)

    assert owed.owed_at == clock()
    assert (await take(store)).pieces == (piece,)


async def test_words_that_were_not_kept_stay_lost(store: Store) -> None:
    """What no turn said is forgotten when it is given up; and it stays as it was."""
    id = await store.deliveries.create(THERE, "here it is")
    await lose(store)

    with pytest.raises(Conflict, match="not kept"):
        await store.deliveries.resend(id)
    with pytest.raises(NotFound):
        await store.deliveries.resend(DeliveryId(99))

    assert (await store.deliveries.get(id)).state is DeliveryState.FAILED
    assert not await store.deliveries.lease()


async def test_what_still_waits_is_not_lost(store: Store) -> None:
    """Nobody can hurry it by this."""
    claim = await begin(store)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    (owed,) = await store.deliveries.list(claim.turn.session_id)

    with pytest.raises(Conflict, match="not lost"):
        await store.deliveries.resend(owed.id)
