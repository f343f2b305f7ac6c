"""A clock that jumps ahead and back: nothing waits for a time that never comes."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, cast

import pytest
from msgspec.structs import replace

from tests.databases import OpenStore
from tests.store.delivery_setup import HERE, THERE, begin, finish, run_steadily, take
from tests.store.job_setup import ADA, BOB, HOURLY, TELEGRAM, start
from threadline.core.access import WRONG_APPROVALS
from threadline.core.address import Sender
from threadline.core.delivery import STALE_AFTER, DeliveryState, SendOutcome
from threadline.core.errors import Refused
from threadline.core.gateway_status import PlatformHealth, PlatformState, Uptime
from threadline.core.inbound import Inbound
from threadline.core.message import Message, Role, say
from threadline.core.person import WRONG_CODES
from threadline.database.port import Database
from threadline.store import Store, gateways
from threadline.store.clock import TRUSTED_AFTER, steady_for
from threadline.store.clock_correction import observe_clock
from threadline.store.deliveries.lease import next_due
from threadline.store.gateways import register_gateway
from threadline.store.jobs.jobs import next_job_due
from threadline.store.sessions.session_end import Ending
from threadline.store.turn_queue.claim import TurnClaim
from threadline.store.turn_queue.claim import claim as claim_turn
from threadline.store.turn_queue.queue import serve
from threadline.store.turns.live_reply import open_stream
from threadline.testing.clock import FakeClock

HOUR = timedelta(hours=1)
JUMPS = [3 * HOUR, timedelta(days=1), timedelta(days=8)]


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("retry_after", [None, timedelta(minutes=30), timedelta(hours=20)])
async def test_a_retry_is_due_when_the_clock_was_set_back(
    open_store: OpenStore, jump: timedelta, retry_after: timedelta | None
) -> None:
    """It was put off while the clock was ahead: nobody waits until it is there again."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    clock.advance(jump)
    await store.deliveries.record_failure(
        (await take(store)).delivery, SendOutcome.REJECTED, "429", retry_after
    )
    assert not await store.deliveries.lease()
    clock.advance(-jump)

    due = await store.database.read(next_due, None, owner=store.database.owner)
    assert due is not None
    assert due <= clock()
    await store.deliveries.record_sent((await take(store)).delivery)


@pytest.mark.parametrize("jump", JUMPS)
async def test_what_was_owed_while_the_clock_was_ahead_is_due(
    open_store: OpenStore, jump: timedelta
) -> None:
    """Replies, words and streamed answers alike; each is taken once, and in order."""
    clock = FakeClock()
    store, other = await open_store(clock=clock), await open_store(clock=clock)
    clock.advance(jump)
    claim = await begin(store)
    assert (
        await store.database.write(open_stream, claim.lease, owner=store.database.owner) is not None
    )
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "streamed")])
    await store.deliveries.create(THERE, "words")
    await store.deliveries.create(HERE, "later")
    clock.advance(-jump)

    taken = await other.deliveries.lease()
    assert {parcel.text for parcel in taken} == {"streamed", "words"}
    for parcel in taken:
        await other.deliveries.record_sent(parcel.delivery)
    assert [parcel.text for parcel in await store.deliveries.lease()] == ["later"]


async def test_a_pause_is_kept_when_the_clock_is_slewed(open_store: OpenStore) -> None:
    """A few seconds back are no jump: the platform's pause counts."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    await store.deliveries.record_failure(
        (await take(store)).delivery, SendOutcome.REJECTED, "429", HOUR
    )
    clock.advance(timedelta(seconds=-30))

    assert not await store.deliveries.lease()


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("is_observed", [False, True], ids=["stopped", "running"])
async def test_a_jump_ahead_makes_no_reply_stale(
    open_store: OpenStore, jump: timedelta, is_observed: bool
) -> None:
    """The reply is sent, whether a gateway saw the jump or started after it."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await run_steadily(store, clock, timedelta(days=2))
    await finish(store)
    clock.advance(jump)
    if is_observed:
        assert await observe_clock(store.database) == jump

    assert await store.deliveries.abandon_stale() == []
    await store.deliveries.record_sent((await take(store)).delivery)


@pytest.mark.parametrize("jump", [*JUMPS, *(-jump for jump in JUMPS)])
async def test_a_reply_is_given_up_after_a_day(open_store: OpenStore, jump: timedelta) -> None:
    """After a jump in either direction it is tried for another hour at least."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    await run_steadily(store, clock, STALE_AFTER - HOUR)
    clock.advance(jump)
    assert await observe_clock(store.database) == jump
    await run_steadily(store, clock, TRUSTED_AFTER / 2)
    assert await store.deliveries.abandon_stale() == []

    await run_steadily(store, clock, STALE_AFTER + max(-jump, timedelta(0)))

    (given_up,) = await store.deliveries.abandon_stale()
    assert (await store.deliveries.get(given_up)).state is DeliveryState.ABANDONED


async def test_a_clock_is_steady_while_it_is_read(open_store: OpenStore) -> None:
    """It counts from the first reading, over restarts, and not over a long pause."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    assert await store.database.read(steady_for) == timedelta(0)
    await run_steadily(store, clock, 5 * HOUR)
    await store.close()

    store = await open_store(clock=clock)
    assert await store.database.read(steady_for) == 5 * HOUR
    clock.advance(2 * HOUR)
    assert await store.database.read(steady_for) == timedelta(0)
    assert await observe_clock(store.database) == 2 * HOUR
    assert await store.database.read(steady_for) == timedelta(0)


@pytest.mark.parametrize("jump", [*JUMPS, *(-jump for jump in JUMPS)])
async def test_a_process_does_not_take_the_turns_that_it_runs(
    open_store: OpenStore, jump: timedelta
) -> None:
    """After a jump its own leases look expired, but the agent is not asked again."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    claim = await begin(store)
    clock.advance(jump)

    assert await store.turns.interrupt_dead(lambda: frozenset({claim.turn.id})) == []
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])


class SlowAnswer:
    """A database whose answer to a claim takes a while to arrive."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.committed, self.released = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)

    async def write(self, *arguments: Any, **named: Any) -> object:
        found = await self._database.write(*arguments, **named)
        if isinstance(found, TurnClaim):
            self.committed.set()
            await self.released.wait()
        return found


@pytest.mark.parametrize("jump", [*JUMPS, *(-jump for jump in JUMPS)])
async def test_a_process_does_not_take_the_turn_that_it_is_claiming(
    open_store: OpenStore, jump: timedelta
) -> None:
    """The clock jumps after the claim is stored and before the process knows of its turn."""
    clock = FakeClock()
    slow = SlowAnswer((await open_store(clock=clock)).database)
    store = Store(cast("Database", slow))
    await store.receive(Inbound.text("hi", address=HERE, at=clock(), message_id="1"))
    claiming = asyncio.create_task(store.turns.claim())
    await slow.committed.wait()
    clock.advance(jump)

    assert await store.turns.interrupt_dead() == []

    slow.released.set()
    claim = await claiming
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "hello")])


@pytest.mark.parametrize("jump", [*JUMPS, *(-jump for jump in JUMPS)])
async def test_a_process_does_not_take_the_replies_that_it_sends(
    open_store: OpenStore, jump: timedelta
) -> None:
    """After a jump its own leases look expired, but nothing is sent twice."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    delivery = (await take(store)).delivery
    clock.advance(jump)

    assert await store.deliveries.recover(lambda: frozenset({delivery.id})) == []
    await store.deliveries.record_sent(delivery)


class LateJump(FakeClock):
    """A clock that is set ahead right after it was read for the next time."""

    jump = timedelta(0)

    def __call__(self) -> datetime:
        now = super().__call__()
        self.advance(self.jump)
        self.jump = timedelta(0)
        return now


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_message_is_judged_by_the_time_at_which_we_served(
    open_store: OpenStore, jump: timedelta
) -> None:
    """A clock that is set while a turn is being claimed makes no message too old.

    The lease of the turn lasts by the clock of the claim itself.
    """
    clock = LateJump()
    store = await open_store(clock=clock)
    written_at = clock() - timedelta(minutes=2)
    await store.receive(Inbound.text("hi", address=HERE, at=written_at, message_id="1"))
    await serve(store.database)
    clock.jump = jump

    claim = await store.turns.claim()
    assert claim is not None
    assert claim.lease.until > clock()


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_claim_that_was_decided_before_the_clock_was_set_back_expires_nothing(
    open_store: OpenStore, jump: timedelta
) -> None:
    """The claim is carried out only when another one has noticed that the clock was set back."""
    clock, up = FakeClock(), Uptime(boot="1", elapsed=timedelta(0))
    store, other = await open_store(clock=clock), await open_store(clock=clock)
    store.uptime = lambda: up
    other.uptime = lambda: replace(up, elapsed=up.elapsed + timedelta(seconds=1))
    await serve(store.database)
    await store.receive(Inbound.text("hi", address=HERE, at=clock(), message_id="1"))
    clock.advance(timedelta(minutes=2))  # A short outage, so that the age of the message counts.
    up = replace(up, elapsed=timedelta(minutes=2))
    await serve(store.database)
    clock.advance(jump)
    ahead = await serve(store.database)
    clock.advance(-jump)
    await serve(other.database)

    found = await store.database.write(claim_turn, owner=store.owner, served_at=ahead)
    assert isinstance(found, TurnClaim)


@pytest.mark.parametrize("jump", JUMPS)
async def test_an_older_reading_of_the_clock_does_not_replace_a_later_one(
    open_store: OpenStore, jump: timedelta
) -> None:
    """Two parts of a process read the clock before and after it was set, and write in disorder."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    before, began = clock(), Uptime(boot="1", elapsed=timedelta(minutes=1))
    store.uptime = lambda: Uptime(boot="1", elapsed=timedelta(minutes=2))
    await store.database.write(gateways.record_service, uptime=began, at=before)
    clock.advance(jump)
    await store.receive(Inbound.text("hi", address=HERE, at=before, message_id="1"))
    await serve(store.database)
    await store.database.write(gateways.record_service, uptime=began, at=before)

    assert await store.turns.claim() is not None


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_message_that_arrived_while_the_clock_was_ahead_is_answered(
    open_store: OpenStore, jump: timedelta
) -> None:
    """It looks as if it had been written long before, but it was received at once."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    await finish(store)
    written_at = clock()
    clock.advance(jump)
    late = Inbound.text(
        "again", address=HERE, sender=Sender(id="alice"), at=written_at, message_id="late"
    )
    arrival = await store.receive(late)
    clock.advance(-jump)

    claim = await store.turns.claim()
    assert claim is not None
    assert claim.turn.id == arrival.turn_id


@pytest.mark.parametrize("jump", JUMPS)
@pytest.mark.parametrize("is_told_late", [False, True])
async def test_a_platform_that_starts_while_the_clock_jumps_was_not_out_of_reach(
    open_store: OpenStore, jump: timedelta, *, is_told_late: bool
) -> None:
    """A message that arrived between the two jumps is answered, as no time passed.

    That the platform is up may also be recorded only after the clock was set back.
    """
    clock = FakeClock()
    store, successor = await open_store(clock=clock), await open_store(clock=clock)
    await finish(store)
    starting = PlatformHealth(state=PlatformState.CONNECTING, since=clock())
    await store.database.write(
        register_gateway,
        owner=store.database.owner,
        host="h",
        pid=1,
        version="1",
        url=None,
        platforms={HERE.platform: starting},
    )
    written_at = clock()
    clock.advance(jump)
    up = PlatformHealth(state=PlatformState.UP, since=clock())
    if not is_told_late:
        await gateways.beat(store.database, {HERE.platform: up})
    late = Inbound.text(
        "again", address=HERE, sender=Sender(id="alice"), at=written_at, message_id="late"
    )
    arrival = await store.receive(late)
    clock.advance(-jump)
    if is_told_late:
        await gateways.beat(store.database, {HERE.platform: up})

    claim = await successor.turns.claim()
    assert claim is not None
    assert claim.turn.id == arrival.turn_id


async def test_codes_do_not_outlive_a_jump_back(open_store: OpenStore) -> None:
    """Pairing and link codes that were shown while the clock was ahead are not valid."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    clock.advance(timedelta(days=8))
    pairing = await store.people.request_pairing("telegram", BOB)
    link = await store.people.make_link_code(HERE, ADA)
    assert pairing is not None
    clock.advance(timedelta(days=-8))
    await observe_clock(store.database)

    with pytest.raises(Refused):
        await store.people.approve_pairing(pairing.code)
    with pytest.raises(Refused):
        await store.people.link(THERE, BOB, link.code)
    assert await store.people.request_pairing("telegram", BOB) is not None


async def test_a_lock_does_not_outlive_a_jump_back(open_store: OpenStore) -> None:
    """Wrong pairing codes lock the platform for an hour, and wrong link codes their sender."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    clock.advance(timedelta(days=8))
    await ask_and_fail(store)
    clock.advance(timedelta(days=-8))
    await observe_clock(store.database)
    clock.advance(timedelta(hours=2))

    pairing = await store.people.request_pairing("telegram", BOB)
    link = await store.people.make_link_code(HERE, ADA)
    assert pairing is not None
    await store.people.link(THERE, BOB, link.code)
    await store.people.approve_pairing(pairing.code)


async def ask_and_fail(store: Store) -> None:
    """Give wrong codes until none is looked at any more."""
    await store.people.request_pairing("telegram", BOB)
    for _ in range(WRONG_APPROVALS):
        with pytest.raises(Refused):
            await store.people.approve_pairing("22222222", platform="telegram")
    for _ in range(WRONG_CODES):
        with pytest.raises(Refused):
            await store.people.link(THERE, BOB, "22222222")


@pytest.mark.parametrize("schedule", ["every 1h", "0 * * * *"])
async def test_a_job_does_not_wait_until_the_clock_is_there_again(
    open_store: OpenStore, schedule: str
) -> None:
    """It ran while the clock was ahead, and runs again within its own interval."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    job = await store.jobs.create(replace(HOURLY, schedule=schedule), platforms=TELEGRAM)
    clock.advance(timedelta(days=8))
    assert await store.jobs.list_due() == [job.id]
    await start(store, job)
    clock.advance(timedelta(days=-8))
    await observe_clock(store.database)

    due = await store.database.read(next_job_due)
    assert due is not None
    assert due - clock() <= HOUR


async def test_an_ending_is_told_though_the_clock_was_set_back(open_store: OpenStore) -> None:
    """Its hook failed while the clock was ahead, and is tried again all the same."""
    clock = FakeClock()
    store = await open_store(clock=clock)
    claim = await begin(store)
    await store.turns.finish(claim.lease, [])
    told: list[Ending] = []

    async def fail(ending: Ending, _: Sequence[Message]) -> None:
        raise RuntimeError("no answer")

    async def hear(ending: Ending, _: Sequence[Message]) -> None:
        told.append(ending)

    clock.advance(timedelta(days=8))
    await store.sessions.end(claim.lease.session_id)
    await store.sessions.tell_endings(fail)
    clock.advance(timedelta(days=-8))
    await observe_clock(store.database)
    await store.sessions.tell_endings(hear)

    assert [ending.session_id for ending in told] == [claim.lease.session_id]
