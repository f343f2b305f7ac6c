"""Jobs go on in the name of whoever made them, as far as these may still go."""

from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, OpenStore, on
from tests.gateway.inbox_setup import Front
from threadline.core.access import AccessRules
from threadline.core.address import Sender
from threadline.core.job import Job, RunState
from threadline.core.person import Identity
from threadline.gateway.scheduler import Scheduler
from threadline.store import Store
from threadline.testing.clock import FakeClock

pytestmark = on(FAST, POSTGRES)

EVE = Identity(platform="telegram", id="eve")
HOURLY = '/job add "every 1h" what is new?'


@pytest.fixture
def clock() -> FakeClock:
    """Hold the time."""
    return FakeClock()


@pytest.fixture
async def store(open_store: OpenStore, clock: FakeClock) -> Store:
    """Open a store with that time."""
    return await open_store(clock=clock)


async def runs(front: Front, clock: FakeClock) -> list[tuple[RunState, str | None]]:
    """Let an hour pass and answer how the only job fared."""
    clock.advance(timedelta(hours=1))
    await Scheduler(front.store.database, platforms=["telegram"], access=front.access).look()
    job = await only_job(front.store)
    return [(run.state, run.why) for run in await front.store.jobs.runs(job.id)][:1]


async def only_job(store: Store) -> Job:
    """Read the job that there is."""
    (job,) = await store.jobs.list()
    return job


async def test_a_role_on_the_platform_counts_only_for_who_had_it(
    store: Store, clock: FakeClock
) -> None:
    """Whoever was let in by the owner, and is not any more, has no jobs run because of others."""
    front = Front(store, AccessRules(roles=["telegram"], relays=["telegram"]))
    await store.people.allow(EVE)
    await front.take(HOURLY, "eve")
    await store.people.revoke(EVE)

    ((state, why),) = await runs(front, clock)

    assert (state, why) == (RunState.FAILED, "Whoever made this job may not speak any more.")


@pytest.mark.parametrize(
    "said", [{"sender": Sender(id="eve", by_role=True)}, {"is_trusted": True}], ids=str
)
async def test_whom_the_platform_let_in_has_their_jobs_run(
    store: Store, clock: FakeClock, said: dict[str, object]
) -> None:
    """Only the platform could say it again, so it counts as it was when they made the job."""
    front = Front(store, AccessRules(roles=["telegram"], relays=["telegram"]))
    await front.take(HOURLY, "eve", **said)
    assert await runs(front, clock) == [(RunState.RUNNING, None)]

    strict = Front(store, AccessRules())
    await front.answer("nothing")
    ((state, _),) = await runs(strict, clock)
    assert state is RunState.FAILED


async def test_only_admins_have_answers_sent_elsewhere(store: Store, clock: FakeClock) -> None:
    """Somebody who was an admin when they made the job, and is not any more, has it not run."""
    admin = Front(store, AccessRules(admins=["telegram:eve"], allow=["telegram:bob"]))
    await admin.take("hello", "bob")
    await admin.answer("hi")
    await admin.take('/job add "every 1h" to=telegram:bob obey me', "eve")
    assert await runs(admin, clock) == [(RunState.RUNNING, None)]
    await admin.answer("I obey")
    await admin.owed()

    member = Front(store, AccessRules(allow=["telegram:eve", "telegram:bob"]))
    ((state, why),) = await runs(member, clock)
    job = await only_job(store)
    by_hand = await member.take(f"/job run {job.id}", "eve")

    assert (state, "no admin any more" in (why or "")) == (RunState.FAILED, True)
    assert "for admins" in (by_hand.said or "")
    assert await store.turns.claim() is None
