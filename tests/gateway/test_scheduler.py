"""The scheduler: wakes when it must, starts what is due, and lets no job harm another."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest

from tests.databases import FAST, POSTGRES, DatabaseFactory, OpenStore
from tests.faulty_database import FaultyDatabase, faulty
from tests.gateway.worker_setup import until
from threadline.core.access import AccessRules
from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import StorageError
from threadline.core.job import Job, JobId, NewJob, RunState
from threadline.core.message import Role, say
from threadline.core.person import Viewer
from threadline.gateway.access import Access
from threadline.gateway.metrics import Metrics
from threadline.gateway.scheduler import Scheduler
from threadline.store import Store
from threadline.testing.clock import FakeClock

HOURLY = NewJob(prompt="What is new?", schedule="every 1h")
HOUR = timedelta(hours=1)
ADA = Viewer(
    address=Address(platform="telegram", kind=Kind.DM, chat="ada"), sender=Sender(id="ada")
)


@pytest.fixture(params=(FAST, POSTGRES))
def database_kind(request: pytest.FixtureRequest) -> str:
    """Choose the database."""
    return str(request.param)


@pytest.fixture
def clock() -> FakeClock:
    """Stand at a Monday morning."""
    return FakeClock()


@pytest.fixture
async def store(open_store: OpenStore, clock: FakeClock) -> Store:
    """Open a store whose time passes only when a test says so."""
    return await open_store(clock=clock)


@asynccontextmanager
async def working(scheduler: Scheduler) -> AsyncIterator[None]:
    """Let a scheduler work for as long as this lasts."""
    task = asyncio.create_task(scheduler.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def states(store: Store, job: Job) -> list[RunState]:
    """List what came of a job, the newest first."""
    return [run.state for run in await store.jobs.runs(job.id)]


async def comes_to(store: Store, job: Job, *wanted: RunState) -> None:
    """Wait until the runs of a job are so, the newest first."""

    async def is_so() -> bool:
        return await states(store, job) == list(wanted)

    await until(is_so, f"the runs are {wanted}")


async def answer(store: Store) -> None:
    """Answer the turn that waits."""
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "Nothing.")])


async def test_what_came_due_is_made_up_for(store: Store, clock: FakeClock) -> None:
    """A scheduler that begins after a long time starts what was due meanwhile, once."""
    job = await store.jobs.create(HOURLY)
    clock.advance(5 * HOUR)
    async with working(Scheduler(store.database, platforms=())):
        await comes_to(store, job, RunState.RUNNING)


async def test_the_feed_wakes_it(store: Store, clock: FakeClock) -> None:
    """It hears of a job that is made, and of a run that ends, without asking again and again."""
    async with working(Scheduler(store.database, platforms=())):
        soon = NewJob(prompt="?", schedule="at 2026-03-02T09:00:00.2+00:00")
        job = await store.jobs.create(soon)
        clock.advance(HOUR)
        await comes_to(store, job, RunState.RUNNING)
        await answer(store)
        await comes_to(store, job, RunState.DONE)


async def test_it_sleeps_while_nothing_is_due(store: Store) -> None:
    """A job of tomorrow is looked at once, and then left alone."""
    _, database = faulty(store)
    looks: list[object] = []

    async def looked(due: object) -> None:
        looks.append(due)

    database.after["list_due_jobs"] = looked
    await store.jobs.create(HOURLY)
    async with working(Scheduler(database, platforms=())):

        async def has_looked() -> bool:
            return bool(looks)

        await until(has_looked, "it looked")
        await asyncio.sleep(0.1)
        assert len(looks) == 1


async def test_a_job_that_breaks_harms_no_other(store: Store, clock: FakeClock) -> None:
    """Whatever goes wrong with one job becomes a run that says so; the next one starts."""
    broken = await store.jobs.create(HOURLY)
    whole = await store.jobs.create(HOURLY)
    clock.advance(HOUR)
    database = breaking(store, broken.id, ValueError("of no use"))
    meters = Metrics()
    await Scheduler(database, platforms=(), meters=meters).look()

    assert await states(store, broken) == [RunState.FAILED]
    (run,) = await store.jobs.runs(broken.id)
    assert run.why == "ValueError: of no use"
    assert await states(store, whole) == [RunState.RUNNING]
    assert b'threadline_job_runs_total{state="failed"} 1.0' in meters.text()


async def test_a_schedule_that_nobody_can_read_ends_its_job(
    store: Store, clock: FakeClock, database_factory: DatabaseFactory
) -> None:
    """A time zone that this machine does not know any more fails one run, and keeps none busy."""
    job = await store.jobs.create(HOURLY)
    database_factory.tamper("UPDATE jobs SET timezone = 'Mars/Base'")
    clock.advance(HOUR)
    await Scheduler(store.database, platforms=()).look()

    (run,) = await store.jobs.runs(job.id)
    assert run.state is RunState.FAILED
    assert run.why is not None
    assert "Mars/Base" in run.why
    assert (await store.jobs.get(job.id)).next_at is None


async def test_a_database_that_is_away_fails_no_job(store: Store, clock: FakeClock) -> None:
    """What could not be stored is due as long as it takes."""
    job = await store.jobs.create(HOURLY)
    clock.advance(HOUR)
    away = breaking(store, job.id, StorageError("It is away"))
    with pytest.raises(StorageError):
        await Scheduler(away, platforms=()).look()

    assert await states(store, job) == []
    assert await store.jobs.list_due() == [job.id]


async def test_two_schedulers_start_a_job_once(open_store: OpenStore, clock: FakeClock) -> None:
    """Two gateways on one store share the work, and do none of it twice."""
    stores = [await open_store(clock=clock) for _ in range(2)]
    jobs = [await stores[0].jobs.create(HOURLY) for _ in range(6)]
    clock.advance(HOUR)
    await asyncio.gather(*(Scheduler(one.database, platforms=()).look() for one in stores))

    for job in jobs:
        assert await states(stores[0], job) == [RunState.RUNNING]


async def test_whoever_may_not_speak_has_no_jobs_run(store: Store, clock: FakeClock) -> None:
    """The jobs of somebody whom the owner shut out do not run; those of others do."""
    job, owners = await store.jobs.create(HOURLY, ADA), await store.make_job(HOURLY)
    clock.advance(HOUR)
    nobody = Access(store.database, AccessRules())
    await Scheduler(store.database, platforms=["telegram"], access=nobody).look()

    (run,) = await store.jobs.runs(job.id)
    assert (run.state, run.turn_id) == (RunState.FAILED, None)
    assert run.why == "Whoever made this job may not speak any more."
    assert await states(store, owners) == [RunState.RUNNING]

    clock.advance(HOUR)
    everybody = Access(store.database, AccessRules(allow=["telegram:ada"]))
    await Scheduler(store.database, platforms=["telegram"], access=everybody).look()
    assert await states(store, job) == [RunState.RUNNING, RunState.FAILED]


async def test_a_platform_that_is_gone_is_told(store: Store, clock: FakeClock) -> None:
    """A job for a platform that the gateway has not is not run, and says why."""
    job = await store.jobs.create(HOURLY, ADA)
    clock.advance(HOUR)
    await Scheduler(store.database, platforms=["slack"]).look()

    (run,) = await store.jobs.runs(job.id)
    assert run.why is not None
    assert "There is no platform “telegram”" in run.why


def breaking(store: Store, id: JobId, error: Exception) -> FaultyDatabase:
    """Return a database in which one job cannot be started."""
    _, database = faulty(store)

    async def breaks(job_id: JobId, **_: object) -> None:
        if job_id == id:
            raise error

    database.before["start_due"] = breaks
    return database
