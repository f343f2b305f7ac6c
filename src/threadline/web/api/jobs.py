"""Jobs: prompts that are asked by themselves; a member has their own."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from threadline.core.errors import NotFound, Refused
from threadline.core.job import ORIGIN, Job, JobId
from threadline.core.person import Asker
from threadline.core.text import COUNT_LIMIT
from threadline.sessions.runs import Start
from threadline.sessions.schedules import next_times
from threadline.sessions.store import Store
from threadline.web.api.asking import Exchanging, Reading, Writing
from threadline.web.api.deps import GatewayDep, StoreDep, path_key
from threadline.web.api.idempotency import OnceDep
from threadline.web.api.looking import profile_of, require_admin
from threadline.web.api.paging import PAGE, After, Most, Page, number_after
from threadline.web.api.problems import told
from threadline.web.api.profiles import OfProfile
from threadline.web.api.revisions import IfMatch, seen_in, tell_tag
from threadline.web.api.shapes.jobs import (
    SCHEDULE,
    JobEdit,
    JobShape,
    JobWish,
    RunShape,
    StartShape,
    TimesShape,
)
from threadline.web.served import Served
from threadline.web.visiting import Visitor

router = APIRouter(prefix="/jobs", tags=["jobs"])

_TIMES = 3
Number = Annotated[int, path_key("The number of a job.")]


async def _schedule(visitor: Writing) -> Visitor:
    """Let a member care for their own jobs; an owner's are those of everybody."""
    if visitor.is_owner:
        require_admin(visitor, "change jobs")
    return visitor


async def _rearrange(visitor: Exchanging) -> Visitor:
    return await _schedule(visitor)


Scheduling = Annotated[Visitor, Depends(_schedule)]
"""Somebody who may make, run and delete jobs."""
Rearranging = Annotated[Visitor, Depends(_rearrange)]
"""The same, where the answer tells what a job asks."""


@router.get("")
async def list_jobs(
    visitor: Reading,
    store: StoreDep,
    profile: OfProfile = None,
    after: After = None,
    most: Most = PAGE,
) -> Page[JobShape]:
    """List the jobs of a profile, oldest first; a member sees their own."""
    place = number_after(after) or 0
    found = await store.jobs(_asker(visitor, profile), after=place, most=most + 1)
    return Page.cut(found, most, JobShape.from_job, lambda job: job.id)


@router.post("", status_code=201, response_model=JobShape, responses=told(409))
async def make_job(
    wish: JobWish,
    visitor: Scheduling,
    gateway: GatewayDep,
    once: OnceDep,
    *,
    profile: OfProfile = None,
) -> Response:
    """Create a job. A member's job answers themselves: its target is `origin`."""
    _check_target(visitor, wish.target)

    async def make(store: Store) -> Job:
        known = await _platforms(store, gateway)
        return await store.make_job(wish.new_job(), _asker(visitor, profile), platforms=known)

    return await once.answer(visitor.account, make, JobShape.from_job)


@router.get("/times")
def list_times(
    _: Reading,
    store: StoreDep,
    schedule: Annotated[
        str,
        Query(min_length=1, max_length=200, description=SCHEDULE, examples=["every day 9:00"]),
    ],
    timezone: Annotated[str, Query(min_length=1, max_length=100)] = "UTC",
) -> TimesShape:
    """Tell when a schedule would run next, without creating a job.

    It is no coroutine, as a cron line that seldom comes is looked for far ahead.
    """
    return TimesShape(items=list(next_times(schedule, timezone, now=store.now(), most=_TIMES)))


@router.get("/{id}")
async def read_job(id: Number, visitor: Reading, store: StoreDep, response: Response) -> JobShape:
    """Read a job."""
    job, _ = await _find(store, visitor, id)
    return _shown(response, job)


@router.patch("/{id}", responses=told(409, 412, 428))
async def change_job(
    id: Number,
    wish: JobEdit,
    visitor: Rearranging,
    store: StoreDep,
    gateway: GatewayDep,
    *,
    response: Response,
    seen: IfMatch = None,
) -> JobShape:
    """Change what a job asks, when, or where its answers go."""
    job, asker = await _find(store, visitor, id)
    expected = seen_in(seen)
    _check_target(visitor, wish.target)
    known = await _platforms(store, gateway)
    changed = await store.change_job(
        job.id,
        wish.change(),
        asker,
        platforms=known,
        seen=expected,
        by=visitor.account.actor,
    )
    return _shown(response, changed)


@router.delete("/{id}", status_code=204, responses=told(412, 428))
async def delete_job(
    id: Number, visitor: Scheduling, store: StoreDep, seen: IfMatch = None
) -> None:
    """Delete a job and the record of its runs; their sessions are kept."""
    job, asker = await _find(store, visitor, id)
    await store.delete_job(job.id, asker, seen=seen_in(seen), by=visitor.account.actor)


@router.post("/{id}/pause")
async def pause_job(
    id: Number, visitor: Rearranging, store: StoreDep, response: Response
) -> JobShape:
    """Pause a job; a run under way continues."""
    job, asker = await _find(store, visitor, id)
    return _shown(response, await store.pause_job(job.id, asker, by=visitor.account.actor))


@router.post("/{id}/resume", responses=told(409))
async def resume_job(
    id: Number, visitor: Rearranging, store: StoreDep, response: Response
) -> JobShape:
    """Resume a job; runs it missed are not made up for."""
    job, asker = await _find(store, visitor, id)
    return _shown(response, await store.resume_job(job.id, asker, by=visitor.account.actor))


@router.post("/{id}/run", status_code=202, response_model=StartShape, responses=told(409))
async def run_job(
    id: Number, visitor: Scheduling, store: StoreDep, gateway: GatewayDep, once: OnceDep
) -> Response:
    """Run a job now, whatever its schedule says."""
    job, asker = await _find(store, visitor, id)

    async def run(store: Store) -> Start:
        known = await _platforms(store, gateway)
        return await store.run_job(job.id, asker, platforms=known)

    return await once.answer(visitor.account, run, StartShape.from_start, 202)


@router.get("/{id}/runs")
async def list_runs(
    id: Number, visitor: Reading, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[RunShape]:
    """List the runs of a job that are kept, the newest first."""
    place = number_after(after, 1)
    job, asker = await _find(store, visitor, id)
    before = COUNT_LIMIT if place is None else place
    found = await store.job_runs(job.id, asker, before=before, most=most + 1)
    return Page.cut(found, most, RunShape.from_run, lambda run: run.id)


def _asker(visitor: Visitor, profile: str | None) -> Asker:
    """Say in whose name a job is made or seen; the owner's are those of the installation."""
    named = profile_of(visitor, profile)
    return Asker.owner(named) if visitor.is_owner else visitor.asker(named)


async def _find(store: Store, visitor: Visitor, id: int) -> tuple[Job, Asker]:
    """Find a job that the visitor may see, whatever its profile, and who asks for it there."""
    job = await store.any_job(JobId(id))
    if not visitor.knows(job.profile):
        raise NotFound("There is no such job", id=str(id))
    asker = _asker(visitor, job.profile)
    return await store.job(job.id, asker), asker


def _check_target(visitor: Visitor, target: str | None) -> None:
    if visitor.is_owner or target is None or target.strip().lower() == ORIGIN:
        return
    raise Refused("The answers of your jobs come back to you", hint="Set target to origin")


async def _platforms(store: Store, gateway: Served) -> frozenset[str]:
    return await store.known_platforms() | frozenset(gateway.platforms)


def _shown(response: Response, job: Job) -> JobShape:
    tell_tag(response, job.revision)
    return JobShape.from_job(job)
