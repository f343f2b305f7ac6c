"""Streamed answers in the ledger: deliveries from their first byte, which grow."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import OpenStore
from tests.store.delivery_setup import HERE, begin, take, told
from threadline.core.delivery import GROWING, MAX_REPEATS, STREAMER_FIRST, SentPiece
from threadline.core.errors import Conflict, LeaseLost
from threadline.core.gateway_status import Uptime
from threadline.core.message import Role, say
from threadline.store import Store
from threadline.store.deliveries.create import read_whole
from threadline.store.deliveries.lease import next_due, return_deliveries
from threadline.store.deliveries.results import withdraw_pieces
from threadline.store.turns.live_reply import doubt_stream, open_stream
from threadline.testing.clock import FakeClock
from threadline.testing.deadline import HANG_SECONDS


def restarted() -> Uptime:
    """Return the uptime of a machine that was off since anything was last recorded."""
    return Uptime(boot="another", elapsed=timedelta(0))


async def test_a_stream_is_a_delivery_before_anything_is_shown(store: Store) -> None:
    """While it grows nobody takes it, and it holds up nothing else; its end makes it due."""
    claim = await begin(store)
    stream = await store.database.write(open_stream, claim.lease, owner=store.database.owner)
    assert stream is not None
    assert (stream.delivery.state, stream.delivery.is_growing) == ("sending", True)
    await store.deliveries.record_piece(
        stream.delivery, SentPiece(n=0, platform_id="p0", length=GROWING)
    )
    await store.deliveries.create(HERE, "the answer to a command")
    words = await take(store)
    assert words.text == "the answer to a command"
    assert not await store.deliveries.recover()

    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    complete = await take(store)
    assert complete.delivery.id == stream.delivery.id
    assert (complete.text, len(complete.pieces)) == ("hello", 1)
    with pytest.raises(LeaseLost):
        await store.deliveries.record_piece(
            stream.delivery, SentPiece(n=1, platform_id="p1", length=1)
        )


async def test_a_message_that_was_refused_is_withdrawn(store: Store) -> None:
    """It was recorded before it was sent; only the process that holds the lease deletes that."""
    claim = await begin(store)
    stream = await store.database.write(open_stream, claim.lease, owner=store.owner)
    assert stream is not None
    for n, id in enumerate(["p0", None]):
        piece = SentPiece(n=n, platform_id=id, length=GROWING)
        await store.deliveries.record_piece(stream.delivery, piece, is_new=id is not None)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    complete = await take(store)

    with pytest.raises(LeaseLost):
        await store.database.write(withdraw_pieces, stream.delivery, first=1)
    assert (await store.database.read(read_whole, complete.delivery.id)).pieces == complete.pieces
    await store.database.write(withdraw_pieces, complete.delivery, first=1)
    left = await store.database.read(read_whole, complete.delivery.id)

    assert [piece.platform_id for piece in complete.pieces] == ["p0", None]
    assert [piece.platform_id for piece in left.pieces] == ["p0"]


async def test_whoever_streamed_an_answer_carries_it_first(open_store: OpenStore) -> None:
    """Its last call may still be on its way: for a minute nobody else changes what is shown."""
    clock = FakeClock()
    one, two = await open_store(clock=clock), await open_store(clock=clock)
    claim = await begin(one)
    assert await one.database.write(open_stream, claim.lease, owner=one.database.owner) is not None
    await one.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])

    assert await two.deliveries.lease() == []
    assert (
        await one.database.read(next_due, None, owner=one.database.owner),
        await two.database.read(next_due, None, owner=two.owner),
    ) == (clock(), clock() + STREAMER_FIRST)
    parcel = await take(one)
    assert parcel.text == "hello"

    await one.database.write(return_deliveries, [parcel.delivery])
    assert (await take(two)).text == "hello"


async def test_who_hangs_keeps_a_streamed_answer_from_nobody_for_long(
    open_store: OpenStore,
) -> None:
    """After a minute whoever can carries it."""
    clock = FakeClock()
    one, two = await open_store(clock=clock), await open_store(clock=clock)
    claim = await begin(one)
    assert await one.database.write(open_stream, claim.lease, owner=one.database.owner) is not None
    await one.turns.stop(claim.turn.id)
    clock.advance(STREAMER_FIRST)

    assert len(await two.deliveries.lease()) == 1


async def test_what_the_dead_have_streamed_is_carried_at_once(open_store: OpenStore) -> None:
    """Nobody waits for the last call of a process that is gone."""
    clock = FakeClock()  # it stands still, so that the last call does not end
    one, two = await open_store(clock=clock), await open_store(clock=clock)
    claim = await begin(one)
    assert await one.database.write(open_stream, claim.lease, owner=one.database.owner) is not None
    await one.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    await one.close()

    async with asyncio.timeout(HANG_SECONDS):
        # PostgreSQL notices a moment later that a connection is gone.
        while not (parcels := await two.deliveries.lease()):
            await two.deliveries.recover()

    assert [parcel.text for parcel in parcels] == ["hello"]


async def test_a_turn_of_the_dead_that_is_given_up_is_told_at_once(open_store: OpenStore) -> None:
    """What had been shown of it gets its end without waiting for whoever showed it."""
    clock = FakeClock()
    one, two = await open_store(clock=clock), await open_store(clock=clock)
    claim = await begin(one)
    assert await one.database.write(open_stream, claim.lease, owner=one.database.owner) is not None
    clock.advance(timedelta(hours=3))
    two.uptime = restarted
    await two.turns.interrupt_dead()
    await two.turns.recover()

    assert "too long ago" in (await take(two)).text


async def test_a_crash_before_anything_was_said_is_not_told(open_store: OpenStore) -> None:
    """Who is answered in the end need not know; the transcript does, and a failure is told."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    claim = await begin(store)
    clock.advance(store.rules.lease * 3)
    await store.turns.interrupt_dead()
    await store.turns.recover()
    again = await store.turns.claim()
    assert again is not None
    stream = await store.database.write(open_stream, again.lease, owner=store.database.owner)
    assert stream is not None
    assert stream.text == ""
    await store.turns.finish(again.lease, [say(Role.ASSISTANT, "hello")])

    assert (await take(store)).text == "hello"
    lines = await store.transcripts.read(claim.lease.session_id)
    assert any("The program stopped" in line.text for line in lines)


async def test_a_turn_that_is_run_again_goes_on_in_the_same_stream(open_store: OpenStore) -> None:
    """After a crash the same messages are changed, and what is new is in doubt until it is told."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    claim = await begin(store)
    before = await store.database.write(open_stream, claim.lease, owner=store.database.owner)
    assert before is not None
    await store.deliveries.record_piece(
        before.delivery, SentPiece(n=0, platform_id="p0", length=GROWING)
    )
    await store.turns.checkpoint([(claim.lease, "Once upon")])
    clock.advance(store.rules.lease * 3)
    await store.turns.interrupt_dead()
    await store.turns.recover()
    again = await store.turns.claim()
    assert again is not None

    after = await store.database.write(open_stream, again.lease, owner=store.database.owner)

    assert after is not None
    assert (after.delivery.id, len(after.pieces)) == (before.delivery.id, 1)
    assert after.text.startswith("Once upon")
    assert (before.delivery.repeated_at, after.delivery.repeated_at) == (None, store.now())
    with pytest.raises(LeaseLost):
        await store.database.write(open_stream, claim.lease, owner=store.database.owner)
    with pytest.raises(LeaseLost):
        await store.database.write(doubt_stream, before.delivery)


async def test_a_stopped_turn_ends_its_stream(store: Store) -> None:
    """Whoever watched an answer grow sees that it was stopped."""
    claim = await begin(store)
    assert (
        await store.database.write(open_stream, claim.lease, owner=store.database.owner) is not None
    )
    await store.turns.checkpoint([(claim.lease, "Once upon")])

    await store.turns.stop(claim.turn.id)

    assert (await take(store)).text == "Once upon\nStopped."


async def test_a_stopped_turn_that_showed_nothing_is_silent(store: Store) -> None:
    """Whoever stopped a turn knows that; nothing more is owed for it."""
    claim = await begin(store)
    await store.turns.stop(claim.turn.id)

    assert not await store.deliveries.lease()


async def test_a_turn_that_is_given_up_says_so(open_store: OpenStore) -> None:
    """Who waits for an answer that a crash has taken hears that it will not come."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await begin(store)
    clock.advance(timedelta(hours=3))
    store.uptime = restarted
    await store.turns.interrupt_dead()
    await store.turns.recover()

    assert "too long ago" in (await take(store)).text


async def test_an_answer_does_not_grow_before_those_that_are_owed(store: Store) -> None:
    """What was owed at a place is carried before the next answer begins to be shown there."""
    first = await begin(store)
    await store.turns.finish(first.lease, [say(Role.ASSISTANT, "the first answer")])
    second = await begin(store, id="2")
    with pytest.raises(Conflict):
        await store.database.write(open_stream, second.lease, owner=store.database.owner)
    owed = await take(store)
    with pytest.raises(Conflict):
        await store.database.write(open_stream, second.lease, owner=store.database.owner)

    await store.deliveries.record_sent(owed.delivery, "p0")

    assert (
        await store.database.write(open_stream, second.lease, owner=store.database.owner)
        is not None
    )


async def test_what_is_owed_later_does_not_keep_an_answer_from_going_on(
    open_store: OpenStore,
) -> None:
    """A turn that is run again goes on in its stream, whatever was owed after it had begun."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    claim = await begin(store)
    assert (
        await store.database.write(open_stream, claim.lease, owner=store.database.owner) is not None
    )
    await store.deliveries.create(HERE, "the answer to a command")
    clock.advance(store.rules.lease * 3)
    await store.turns.interrupt_dead()
    await store.turns.recover()
    again = await store.turns.claim()
    assert again is not None

    assert (
        await store.database.write(open_stream, again.lease, owner=store.database.owner) is not None
    )


async def test_a_complete_stream_is_sent_again_after_crashes(open_store: OpenStore) -> None:
    """An answer that had grown has as many repeats as any other."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    claim = await begin(store)
    assert (
        await store.database.write(open_stream, claim.lease, owner=store.database.owner) is not None
    )
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])
    states = []
    for _ in range(MAX_REPEATS + 1):
        await take(store)
        clock.advance(store.rules.lease * 3)
        await store.deliveries.recover()
        states.append((await told(store))[-1].kind.state)
        clock.advance(timedelta(minutes=1))

    assert states == [*["pending"] * MAX_REPEATS, "failed"]
