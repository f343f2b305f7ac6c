"""Jobs on every database: who may what, when they run, and that they run once."""

import asyncio
from datetime import timedelta

import pytest

from tests.databases import OpenStore
from tests.store.job_setup import BOB, GROUP, HOME, HOURLY, TELEGRAM, ada, answer, hear, start
from threadline.core.address import Address, Kind
from threadline.core.errors import Conflict, Invalid, NotFound
from threadline.core.job import JobId, MirrorMode, NewJob, RunState
from threadline.core.message import Role
from threadline.core.person import Viewer
from threadline.core.session import Origin
from threadline.core.target import output_address
from threadline.core.turn import TurnState
from threadline.store import Store
from threadline.store.jobs.job_runs import OVERLAPPING
from threadline.store.jobs.jobs import JobChange, next_job_due
from threadline.testing.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    """Stand at a Monday morning."""
    return FakeClock()


@pytest.fixture
async def store(open_store: OpenStore, clock: FakeClock) -> Store:
    """Open a store whose time passes only when a test says so."""
    return await open_store(clock=clock)


async def test_a_job_runs_in_a_session_of_its_own(store: Store, clock: FakeClock) -> None:
    """When its time comes a job asks its prompt in a scheduled session that is its maker's."""
    job = await store.jobs.create(HOURLY, ada())
    assert await store.jobs.list_due() == []
    assert await store.database.read(next_job_due) == job.next_at == clock() + timedelta(hours=1)

    clock.advance(timedelta(hours=1))
    assert await store.jobs.list_due() == [job.id]
    await start(store, job)

    (run,) = await store.jobs.runs(job.id)
    assert (run.state, run.due_at, run.ended_at) == (RunState.RUNNING, job.next_at, None)
    assert run.session_id is not None
    session = await store.sessions.get(run.session_id)
    assert (session.origin, session.title, session.platform) == (Origin.JOB, "News", "telegram")
    (counted,) = await store.projects()
    assert (counted.project.name, session.project) == ("Scheduled", counted.project.key)
    claim = await store.turns.claim()
    assert claim is not None
    (line,) = await store.transcripts.read(run.session_id)
    assert (line.text, line.sender_id) == ("What is new?", "ada")


async def test_the_answer_goes_to_all_targets(store: Store, clock: FakeClock) -> None:
    """What a run says is owed to each of its targets, once."""
    await hear(store, at=GROUP)
    for parcel in await store.deliveries.lease(TELEGRAM):
        await store.deliveries.record_sent(parcel.delivery)
    new = NewJob(prompt="?", schedule="every 1h", target="origin, local, telegram:g, telegram:g")
    job = await store.jobs.create(new, ada())
    clock.advance(timedelta(hours=1))
    await start(store, job)
    await answer(store, "Rain.")

    parcels = await store.deliveries.lease(TELEGRAM)
    addresses = [parcel.delivery.address for parcel in parcels]
    assert {(one.platform, one.kind, one.chat) for one in addresses} == {
        (one.platform, one.kind, one.chat) for one in (HOME, GROUP, output_address("main"))
    }
    assert len(addresses) == 3


async def test_a_run_closes_with_its_turn(store: Store, clock: FakeClock) -> None:
    """A run is over when its turn is, well or badly, and says why it failed."""
    job = await store.jobs.create(HOURLY, ada())
    clock.advance(timedelta(hours=1))
    await start(store, job)
    assert await store.jobs.close_runs() == 0
    await answer(store, "Nothing.")
    assert await store.jobs.close_runs() == 1
    assert await store.jobs.close_runs() == 0

    clock.advance(timedelta(hours=1))
    await start(store, job)
    claim = await store.turns.claim()
    assert claim is not None
    await store.turns.fail(claim.lease, "The model is away.")
    await store.jobs.close_runs()

    failed, done = await store.jobs.runs(job.id)
    assert (job.last_run, (await store.jobs.get(job.id)).last_run) == (None, failed)
    assert [one.last_run for one in await store.jobs.list()] == [failed]
    assert (done.state, done.why) == (RunState.DONE, None)
    assert (failed.state, failed.why) == (RunState.FAILED, "The model is away.")
    assert failed.ended_at == clock()


async def test_missed_runs_run_once(store: Store, clock: FakeClock) -> None:
    """After a week of silence an hourly job is asked once, and goes on in its beat."""
    job = await store.jobs.create(HOURLY, ada())
    clock.advance(timedelta(days=7, minutes=20))
    await start(store, job)

    assert await store.jobs.list_due() == []
    later = await store.jobs.get(job.id)
    assert later.next_at == clock() + timedelta(minutes=40)
    assert len(await store.jobs.runs(job.id)) == 1


async def test_an_overlapping_run_is_skipped(store: Store, clock: FakeClock) -> None:
    """While a run is not over, the next one is recorded as skipped, with the reason."""
    job = await store.jobs.create(HOURLY, ada())
    clock.advance(timedelta(hours=1))
    await start(store, job)
    clock.advance(timedelta(hours=1))
    begun = await store.jobs.start_due(job.id)

    assert begun is not None
    assert (begun.state, begun.why) == (RunState.SKIPPED, OVERLAPPING)
    skipped, running = await store.jobs.runs(job.id)
    assert (skipped.state, running.state) == (RunState.SKIPPED, RunState.RUNNING)
    with pytest.raises(Conflict, match="runs just now"):
        await store.jobs.run(job.id)


async def test_a_run_that_has_just_ended_is_in_nobodys_way(store: Store, clock: FakeClock) -> None:
    """A run whose turn is over is closed by the next one, if nobody did so before."""
    job = await store.jobs.create(HOURLY, ada())
    clock.advance(timedelta(hours=1))
    await start(store, job)
    await answer(store, "Nothing.")
    clock.advance(timedelta(hours=1))
    await start(store, job)

    states = [run.state for run in await store.jobs.runs(job.id)]
    assert states == [RunState.RUNNING, RunState.DONE]


async def test_two_schedulers_start_a_job_once(open_store: OpenStore, clock: FakeClock) -> None:
    """However many processes find a job due at once, one of them starts it."""
    stores = [await open_store(clock=clock) for _ in range(3)]
    jobs = [await stores[0].jobs.create(HOURLY) for _ in range(4)]
    clock.advance(timedelta(hours=1))
    begun = await asyncio.gather(
        *(one.jobs.start_due(job.id, platforms=TELEGRAM) for job in jobs for one in stores * 2)
    )

    assert len([one for one in begun if one is not None]) == len(jobs)
    for job in jobs:
        assert len(await stores[0].jobs.runs(job.id)) == 1


async def test_two_schedulers_close_a_run_once(open_store: OpenStore, clock: FakeClock) -> None:
    """However many processes find a run over at once, its answer is mirrored once."""
    stores = [await open_store(clock=clock) for _ in range(3)]
    session_id = await hear(stores[0])
    job = await stores[0].jobs.create(
        NewJob(prompt="?", schedule="every 1h", mirror=MirrorMode.TARGET), ada()
    )
    clock.advance(timedelta(hours=1))
    await start(stores[0], job)
    await answer(stores[0], "Rain.")
    await asyncio.gather(*(one.jobs.close_runs() for one in stores * 2))

    lines = [line.text for line in await stores[0].transcripts.read(session_id)]
    assert lines.count("Rain.") == 1


async def test_an_answer_is_mirrored_where_a_conversation_goes_on(
    store: Store, clock: FakeClock
) -> None:
    """The target's conversation shows what the job said, marked, and without a turn."""
    session_id = await hear(store)
    job = await store.jobs.create(
        NewJob(prompt="?", schedule="every 1h", name="Sky", mirror=MirrorMode.TARGET), ada()
    )
    clock.advance(timedelta(hours=1))
    await start(store, job)
    await answer(store, "Rain.")
    await store.jobs.close_runs()

    *_, note, said = await store.transcripts.read(session_id)
    assert (note.role, said.role, said.text) == (Role.SYSTEM, Role.ASSISTANT, "Rain.")
    assert "“Sky”" in note.text
    assert (note.turn_id, said.turn_id) == (None, None)
    assert len(await store.turns.list(session_id)) == 1


async def test_nothing_is_mirrored_where_nobody_speaks(store: Store, clock: FakeClock) -> None:
    """Where no conversation goes on, none is begun for the answer of a job."""
    await store.jobs.create(
        NewJob(prompt="?", schedule="every 1h", mirror=MirrorMode.TARGET), ada()
    )
    clock.advance(timedelta(hours=1))
    (job_id,) = await store.jobs.list_due()
    await store.jobs.start_due(job_id, platforms=TELEGRAM)
    await answer(store, "Rain.")
    await store.jobs.close_runs()

    page = await store.sessions.list()
    assert list(page.rows) == []


async def test_a_moment_comes_once(store: Store, clock: FakeClock) -> None:
    """A job for one moment is over after it, and can be given another."""
    job = await store.jobs.create(NewJob(prompt="?", schedule="at 2026-03-02T10:00"), ada())
    clock.advance(timedelta(hours=2))
    await start(store, job)

    over = await store.jobs.get(job.id)
    assert over.next_at is None
    assert await store.database.read(next_job_due) is None
    again = await store.jobs.update(job.id, JobChange(schedule="at 2026-03-03T10:00"))
    assert again.next_at is not None


async def test_what_a_job_cannot_reach_is_told(store: Store, clock: FakeClock) -> None:
    """A target that is gone fails the run before anything is spent; others are reached."""
    await hear(store)
    await hear(store, at=Address(platform="slack", kind=Kind.DM, chat="s"))
    gone = await store.jobs.create(NewJob(prompt="?", schedule="every 1h", target="slack:s"), ada())
    some = await store.jobs.create(
        NewJob(prompt="?", schedule="every 1h", target="slack:s,origin"), ada()
    )
    clock.advance(timedelta(hours=1))
    failed = await store.jobs.start_due(gone.id, platforms=TELEGRAM)
    begun = await store.jobs.start_due(some.id, platforms=TELEGRAM)

    assert failed is not None
    assert (failed.state, failed.turn_id) == (RunState.FAILED, None)
    assert failed.why is not None
    assert "no platform “slack”" in failed.why
    assert begun is not None
    assert begun.state is RunState.RUNNING
    assert begun.why is not None
    assert "slack" in begun.why


async def test_a_job_is_its_makers_alone(store: Store) -> None:
    """Others find nothing under its number; the owner sees and changes all."""
    job = await store.jobs.create(HOURLY, ada())
    bob = Viewer(address=GROUP, sender=BOB)

    assert [one.id for one in await store.jobs.list(ada(GROUP))] == [job.id]
    assert await store.jobs.list(bob) == []
    assert [one.id for one in await store.jobs.list()] == [job.id]
    assert await store.jobs.list(Viewer.owner("work")) == []
    for verb in (
        store.jobs.pause,
        store.jobs.resume,
        store.jobs.delete,
        store.jobs.run,
        store.jobs.get,
    ):
        with pytest.raises(NotFound, match="no such job"):
            await verb(job.id, bob)
        with pytest.raises(NotFound):
            await verb(JobId(99))
    with pytest.raises(NotFound):
        await store.jobs.runs(job.id, bob)


async def test_a_job_rests_and_goes_on(store: Store, clock: FakeClock) -> None:
    """A job that rests is not due; when it goes on, nothing is made up for."""
    job = await store.jobs.create(HOURLY, ada())
    assert (await store.jobs.pause(job.id, ada())).paused_at == clock()
    clock.advance(timedelta(hours=3, minutes=30))
    assert await store.jobs.list_due() == []
    assert await store.jobs.start_due(job.id) is None

    resumed = await store.jobs.resume(job.id, ada())
    assert (resumed.paused_at, resumed.next_at) == (None, clock() + timedelta(minutes=30))
    assert await store.jobs.runs(job.id) == []


async def test_a_job_is_changed(store: Store, clock: FakeClock) -> None:
    """What is changed changes, what is not named stays, and what cannot be is refused."""
    job = await store.jobs.create(HOURLY, ada())
    changed = await store.jobs.update(
        job.id, JobChange(schedule="every day 9:00", timezone="Europe/Berlin", name="Morning")
    )

    assert (changed.name, changed.prompt) == ("Morning", "What is new?")
    assert changed.next_at == clock() + timedelta(hours=23)
    for wrong in (
        JobChange(schedule="never"),
        JobChange(prompt=" "),
        JobChange(target="telegarm"),
        JobChange(timezone="Mars/Base"),
        JobChange(schedule="at 2020-01-01T00:00"),
    ):
        with pytest.raises(Invalid):
            await store.jobs.update(job.id, wrong)
    assert await store.jobs.get(job.id) == changed


async def test_another_prompt_makes_a_job_its_editors(store: Store) -> None:
    """Words change the maker, and a schedule does not; a maker who edits the words stays it."""
    job = await store.jobs.create(HOURLY, ada())
    for change, asker, maker in (
        (JobChange(schedule="every 2h", prompt=job.prompt), Viewer.owner(), job.maker),
        (JobChange(prompt="What is old?"), ada(), job.maker),
        (JobChange(prompt="Pay for this"), Viewer.owner(), None),
        (JobChange(prompt="And for this"), Viewer.owner(), None),
    ):
        assert (await store.jobs.update(job.id, change, asker)).maker == maker
    with pytest.raises(NotFound):
        await store.jobs.get(job.id, ada())


async def test_a_deleted_job_leaves_its_sessions(store: Store, clock: FakeClock) -> None:
    """With a job goes what is known of its runs; what they said stays."""
    job = await store.jobs.create(HOURLY, ada())
    clock.advance(timedelta(hours=1))
    await start(store, job)
    (run,) = await store.jobs.runs(job.id)
    await store.jobs.delete(job.id, ada())

    assert await store.jobs.list() == []
    assert run.session_id is not None
    await answer(store, "Nothing.")
    assert await store.jobs.close_runs() == 0
    (turn,) = await store.turns.list(run.session_id)
    assert turn.state is TurnState.DONE


async def test_a_job_can_be_run_at_once(store: Store, clock: FakeClock) -> None:
    """A job that is asked for by hand runs now, and keeps its times."""
    job = await store.jobs.create(HOURLY, ada())
    begun = await store.jobs.run(job.id, ada())

    assert begun.state is RunState.RUNNING
    (run,) = await store.jobs.runs(job.id)
    assert run.due_at == clock()
    assert (await store.jobs.get(job.id)).next_at == job.next_at
