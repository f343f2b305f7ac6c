"""Jobs in the long run: their limits, the feed, and what is left when something is forgotten."""

from datetime import timedelta
from decimal import Decimal

import pytest

from tests.databases import DatabaseFactory, OpenStore
from tests.store.job_setup import ADA, BOB, GROUP, HOME, HOURLY, ada, answer, hear, start
from threadline.core.budget import SpendCaps
from threadline.core.errors import CapReached, Invalid, Refused
from threadline.core.event import EventKind
from threadline.core.inbound import Inbound
from threadline.core.job import OWN_JOBS_LIMIT, RUNS_KEPT, RunState
from threadline.core.message import Role, say
from threadline.core.person import Identity, Viewer
from threadline.core.settings import Settings
from threadline.core.usage import CostStatus, Usage
from threadline.store import Store
from threadline.store.integrity import check_laws
from threadline.store.jobs.job_runs import fail_due
from threadline.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    """Stand at a Monday morning."""
    return FakeClock()


@pytest.fixture
async def store(open_store: OpenStore, clock: FakeClock) -> Store:
    """Open a store whose time passes only when a test says so."""
    return await open_store(clock=clock)


async def test_jobs_have_limits(store: Store) -> None:
    """Nobody fills the timetable; whoever has no id can make no job."""
    for _ in range(OWN_JOBS_LIMIT):
        await store.jobs.create(HOURLY, ada())
    with pytest.raises(Refused, match="at most"):
        await store.jobs.create(HOURLY, ada())
    await store.jobs.create(HOURLY)
    with pytest.raises(Refused, match="who you are"):
        await store.jobs.create(HOURLY, Viewer(address=GROUP))


async def test_only_the_latest_runs_are_kept(store: Store, clock: FakeClock) -> None:
    """The history of a job does not grow without end."""
    job = await store.jobs.create(HOURLY, ada())
    for _ in range(RUNS_KEPT + 3):
        clock.advance(timedelta(hours=1))
        await store.database.write(fail_due, job.id, "No.")

    runs = await store.jobs.runs(job.id, most=500)
    assert len(runs) == RUNS_KEPT
    assert runs[0].due_at == clock()


async def test_the_feed_tells_of_jobs(store: Store) -> None:
    """Whoever follows hears that a job was made, changed and deleted."""
    cursor = await store.feed.end()
    job = await store.jobs.create(HOURLY)
    await store.jobs.pause(job.id)
    await store.jobs.delete(job.id)

    events = (await store.feed.read(cursor)).events
    assert [(event.kind, event.subject) for event in events] == [
        (EventKind.JOB_CHANGED, job.id)
    ] * 3


async def test_forgetting_a_person_deletes_their_jobs(store: Store, clock: FakeClock) -> None:
    """With somebody go their jobs, the runs, and their sessions; nothing names what is gone."""
    await hear(store)
    job = await store.jobs.create(HOURLY, ada())
    others = await store.jobs.create(HOURLY, Viewer(address=GROUP, sender=BOB))
    clock.advance(timedelta(hours=1))
    await start(store, job)
    await answer(store, "Rain.")
    certificate = await store.people.delete(Identity(platform="telegram", id="ada"))

    assert certificate.counts["jobs"] == 1
    assert [one.id for one in await store.jobs.list()] == [others.id]
    assert await store.database.read(check_laws) == []


async def test_a_run_survives_its_session(store: Store, clock: FakeClock) -> None:
    """When the session of a run is forgotten the run stays, and says that it is gone."""
    job = await store.jobs.create(HOURLY, ada())
    clock.advance(timedelta(hours=1))
    await start(store, job)
    (run,) = await store.jobs.runs(job.id)
    assert run.session_id is not None
    await store.sessions.delete(run.session_id)
    await store.jobs.close_runs()

    (run,) = await store.jobs.runs(job.id)
    assert (run.state, run.session_id) == (RunState.FAILED, None)
    assert await store.database.read(check_laws) == []


async def test_a_run_of_a_session_that_is_gone_is_found(
    store: Store, database_factory: DatabaseFactory
) -> None:
    """Whoever checks the store is told of a run that names a session which is not there."""
    job = await store.jobs.create(HOURLY)
    await store.jobs.run(job.id)
    database_factory.tamper("UPDATE job_runs SET session_key = 99")

    (found,) = await store.database.read(check_laws)
    assert "a run of job 1" in found.what


async def test_the_cap_of_the_maker_holds(open_store: OpenStore, clock: FakeClock) -> None:
    """What somebody has spent in their chats counts for their jobs, and not for those of others."""
    rules = Settings(spend=SpendCaps(person_day=Decimal(1)))
    store = await open_store(clock=clock, rules=rules)
    await store.receive(Inbound.text("hello", address=HOME, sender=ADA, at=store.now()))
    claim = await store.turns.claim()
    assert claim is not None
    cost = Usage(provider="p", model="m", cost=Decimal(2), cost_status=CostStatus.EXACT)
    await store.turns.finish(claim.lease, [say(Role.ASSISTANT, "I see.")], usage=[cost])

    await store.jobs.run((await store.jobs.create(HOURLY, ada())).id)
    claim = await store.turns.claim()
    assert claim is not None
    with pytest.raises(CapReached):
        await store.usage.approve(claim.lease)
    await store.turns.fail(claim.lease, "It may cost no more.")
    await store.jobs.run((await store.jobs.create(HOURLY)).id)
    claim = await store.turns.claim()
    assert claim is not None
    await store.usage.approve(claim.lease)


@pytest.mark.parametrize("wrong", [0, -1, "1", None, True, 2**70])
async def test_what_is_no_number_of_a_job_is_refused(store: Store, wrong: object) -> None:
    """A number that no job can have is refused before the database is asked."""
    with pytest.raises(Invalid):
        await store.jobs.pause(wrong)  # type: ignore[arg-type]
