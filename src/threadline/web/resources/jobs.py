"""Jobs: prompts that are asked by themselves; a member has their own."""

from typing import Annotated, Any

from fastapi import Depends, Query, Response
from msgspec import Meta
from msgspec.structs import asdict

from threadline.core.errors import NotFound, Refused
from threadline.core.job import ORIGIN, PROMPT_LIMIT, Job, JobId, JobRun, MirrorMode, NewJob
from threadline.core.person import Viewer
from threadline.core.validation import COUNT_LIMIT
from threadline.store import Store
from threadline.store.jobs.job_runs import JobStart
from threadline.store.jobs.jobs import JobChange
from threadline.store.jobs.schedules import next_times
from threadline.web.authentication import Caller
from threadline.web.bodies import Body, Time, View
from threadline.web.gateway_protocol import GatewayPort
from threadline.web.resources.auth_deps import Exchanging, Reading, Writing
from threadline.web.resources.deps import GatewayDep, StoreDep, path_key
from threadline.web.resources.etags import IfMatch, seen_in, tell_tag
from threadline.web.resources.idempotency import OnceDep
from threadline.web.resources.pagination import PAGE, After, Most, Page, number_after
from threadline.web.resources.problems import problem_responses
from threadline.web.resources.profiles import OfProfile
from threadline.web.resources.router import Router
from threadline.web.resources.visibility import profile_of, require_admin


class RunView(View, frozen=True, kw_only=True):
    """One time that a job was due."""

    id: int
    state: str
    """`waiting`, `running`, `done`, `failed` or `skipped`."""
    due_at: Time
    started_at: Time
    ended_at: Time | None
    session: str | None
    turn: int | None
    why: str | None

    @classmethod
    def from_run(cls, run: JobRun) -> "RunView":
        """Return the view of a run."""
        return cls(
            id=run.id,
            state=run.shown_state,
            due_at=run.due_at,
            started_at=run.started_at,
            ended_at=run.ended_at,
            session=run.session_id,
            turn=run.turn_id,
            why=run.why,
        )


class JobView(View, frozen=True, kw_only=True):
    """A prompt that is asked by itself."""

    id: int
    profile: str
    name: str
    prompt: str
    schedule: str
    timezone: str
    target: str
    mirror: MirrorMode
    maker: str | None
    """Null: the owner of the installation."""
    made_at: Time
    paused_at: Time | None
    next_at: Time | None
    """When it is asked next; null: never again."""
    last_run: RunView | None
    """Null: there was none yet."""

    @classmethod
    def from_job(cls, job: Job) -> "JobView":
        """Return the view of a job."""
        told: dict[str, Any] = {
            "maker": None if job.maker is None else str(job.maker),
            "last_run": None if job.last_run is None else RunView.from_run(job.last_run),
        }
        same = {name: getattr(job, name) for name in cls.__struct_fields__ if name not in told}
        return cls(**same, **told)


class JobRequest(Body, frozen=True, kw_only=True):
    """A job to be made."""

    prompt: Annotated[
        str, Meta(min_length=1, max_length=PROMPT_LIMIT, examples=["What is new today?"])
    ]
    schedule: Annotated[str, Meta(min_length=1, max_length=200, examples=["every day 9:00"])]
    """As `every day 9:00`, `every 30m`, `at 2027-01-31 18:00` or a cron line."""
    timezone: Annotated[str, Meta(min_length=1, max_length=100, examples=["Europe/Berlin"])] = "UTC"
    target: Annotated[str, Meta(min_length=1, max_length=2000)] = "origin"
    """Where the answer goes, as `telegram:42`; several with commas between them."""
    mirror: MirrorMode = MirrorMode.NONE
    name: Annotated[str, Meta(max_length=200)] = ""
    """Empty: the first words of its prompt."""

    def new_job(self) -> NewJob:
        """Give it as the store wants it."""
        return NewJob(**asdict(self))


class JobUpdateRequest(Body, frozen=True, kw_only=True):
    """What shall be different about a job; what is left out stays."""

    prompt: Annotated[str, Meta(min_length=1, max_length=PROMPT_LIMIT)] | None = None
    schedule: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    """As `every day 9:00`, `every 30m`, `at 2027-01-31 18:00` or a cron line."""
    timezone: Annotated[str, Meta(min_length=1, max_length=100)] | None = None
    target: Annotated[str, Meta(min_length=1, max_length=2000)] | None = None
    mirror: MirrorMode | None = None
    name: Annotated[str, Meta(max_length=200)] | None = None
    """Empty: the first words of its prompt."""

    def change(self) -> JobChange:
        """Give it as the store wants it."""
        return JobChange(**asdict(self))


class TimesView(View, frozen=True, kw_only=True):
    """When a schedule comes next."""

    items: list[Time]
    """Empty: never again."""


class StartView(View, frozen=True, kw_only=True):
    """What came of starting a job."""

    job: int
    state: str
    turn: int | None
    why: str | None

    @classmethod
    def from_start(cls, start: JobStart) -> "StartView":
        """Return the view of a start."""
        return cls(job=start.job_id, state=start.state, turn=start.turn_id, why=start.why)


router = Router(prefix="/jobs", tags=["jobs"])

_TIMES = 3
Number = Annotated[int, path_key("The number of a job.")]


async def _schedule(visitor: Writing) -> Caller:
    """Let a member care for their own jobs; an owner's are those of everybody."""
    if visitor.is_owner:
        require_admin(visitor, "change jobs")
    return visitor


async def _rearrange(visitor: Exchanging) -> Caller:
    return await _schedule(visitor)


Scheduling = Annotated[Caller, Depends(_schedule)]
"""Somebody who may make, run and delete jobs."""
Rearranging = Annotated[Caller, Depends(_rearrange)]
"""The same, where the answer tells what a job asks."""


@router.get("")
async def list_jobs(
    visitor: Reading,
    store: StoreDep,
    profile: OfProfile = None,
    after: After = None,
    most: Most = PAGE,
) -> Page[JobView]:
    """List the jobs of a profile, oldest first; a member sees their own."""
    place = number_after(after) or 0
    found = await store.jobs(_asker(visitor, profile), after=place, most=most + 1)
    return Page.cut(found, most, JobView.from_job, lambda job: job.id)


@router.post("", status_code=201, response_model=JobView, responses=problem_responses(409))
async def make_job(
    wish: JobRequest,
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

    return await once.answer(visitor.account, make, JobView.from_job)


@router.get("/times")
def list_times(
    _: Reading,
    store: StoreDep,
    schedule: Annotated[
        str,
        Query(
            min_length=1,
            max_length=200,
            description="As in the schedule of a job.",
            examples=["every day 9:00"],
        ),
    ],
    timezone: Annotated[str, Query(min_length=1, max_length=100)] = "UTC",
) -> TimesView:
    """Tell when a schedule would run next, without creating a job.

    It is no coroutine, as a cron line that seldom comes is looked for far ahead.
    """
    return TimesView(items=list(next_times(schedule, timezone, now=store.now(), most=_TIMES)))


@router.get("/{id}")
async def read_job(id: Number, visitor: Reading, store: StoreDep, response: Response) -> JobView:
    """Read a job."""
    job, _ = await _find(store, visitor, id)
    return _shown(response, job)


@router.patch("/{id}", responses=problem_responses(409, 412, 428))
async def change_job(
    id: Number,
    wish: JobUpdateRequest,
    visitor: Rearranging,
    store: StoreDep,
    gateway: GatewayDep,
    *,
    response: Response,
    seen: IfMatch = None,
) -> JobView:
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
        by=visitor.actor,
    )
    return _shown(response, changed)


@router.delete("/{id}", status_code=204, responses=problem_responses(412, 428))
async def delete_job(
    id: Number, visitor: Scheduling, store: StoreDep, seen: IfMatch = None
) -> None:
    """Delete a job and the record of its runs; their sessions are kept."""
    job, asker = await _find(store, visitor, id)
    await store.delete_job(job.id, asker, seen=seen_in(seen), by=visitor.actor)


@router.post("/{id}/pause")
async def pause_job(
    id: Number, visitor: Rearranging, store: StoreDep, response: Response
) -> JobView:
    """Pause a job; a run under way continues."""
    job, asker = await _find(store, visitor, id)
    return _shown(response, await store.pause_job(job.id, asker, by=visitor.actor))


@router.post("/{id}/resume", responses=problem_responses(409))
async def resume_job(
    id: Number, visitor: Rearranging, store: StoreDep, response: Response
) -> JobView:
    """Resume a job; runs it missed are not made up for."""
    job, asker = await _find(store, visitor, id)
    return _shown(response, await store.resume_job(job.id, asker, by=visitor.actor))


@router.post(
    "/{id}/run", status_code=202, response_model=StartView, responses=problem_responses(409)
)
async def run_job(
    id: Number, visitor: Scheduling, store: StoreDep, gateway: GatewayDep, once: OnceDep
) -> Response:
    """Run a job now, whatever its schedule says."""
    job, asker = await _find(store, visitor, id)

    async def run(store: Store) -> JobStart:
        known = await _platforms(store, gateway)
        return await store.run_job(job.id, asker, platforms=known, by=visitor.actor)

    return await once.answer(visitor.account, run, StartView.from_start, 202)


@router.get("/{id}/runs")
async def list_runs(
    id: Number, visitor: Reading, store: StoreDep, after: After = None, most: Most = PAGE
) -> Page[RunView]:
    """List the runs of a job that are kept, the newest first."""
    place = number_after(after, 1)
    job, asker = await _find(store, visitor, id)
    before = COUNT_LIMIT if place is None else place
    found = await store.job_runs(job.id, asker, before=before, most=most + 1)
    return Page.cut(found, most, RunView.from_run, lambda run: run.id)


def _asker(visitor: Caller, profile: str | None) -> Viewer:
    """Say in whose name a job is made or seen; the owner's are those of the installation."""
    named = profile_of(visitor, profile)
    return Viewer.owner(named) if visitor.is_owner else visitor.asker(named)


async def _find(store: Store, visitor: Caller, id: int) -> tuple[Job, Viewer]:
    """Find a job that the visitor may see, whatever its profile, and who asks for it there."""
    job = await store.any_job(JobId(id))
    if not visitor.knows(job.profile):
        raise NotFound("There is no such job", id=str(id))
    asker = _asker(visitor, job.profile)
    return await store.job(job.id, asker), asker


def _check_target(visitor: Caller, target: str | None) -> None:
    if visitor.is_owner or target is None or target.strip().lower() == ORIGIN:
        return
    raise Refused("The answers of your jobs come back to you", hint="Set target to origin")


async def _platforms(store: Store, gateway: GatewayPort) -> frozenset[str]:
    return await store.known_platforms() | frozenset(gateway.platforms)


def _shown(response: Response, job: Job) -> JobView:
    tell_tag(response, job.revision)
    return JobView.from_job(job)
