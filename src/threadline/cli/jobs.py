"""`threadline jobs`: prompts that are asked by themselves."""

import sys
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from threadline.cli.identity_argument import AsJson, Database, Limit, Profile
from threadline.cli.output import as_plain, local, show_result, show_table, show_text, write_json
from threadline.cli.shell_completion import complete_job, complete_target
from threadline.cli.store_context import in_store
from threadline.core.account import Actor
from threadline.core.errors import Invalid
from threadline.core.job import Job, JobRun, MirrorMode, NewJob, RunState, checked_job_id
from threadline.core.person import Viewer

if TYPE_CHECKING:
    from threadline.cli.platform_names import PlatformNames
    from threadline.cli.store_opener import Opened
    from threadline.store.jobs.job_runs import JobStart

T = TypeVar("T")

app = typer.Typer(name="jobs", help="Ask things by themselves, at set times.", no_args_is_help=True)

Number = Annotated[
    int, typer.Argument(metavar="N", help="Its number.", autocompletion=complete_job)
]
Cron = Annotated[
    str | None, typer.Option("--cron", metavar="EXPRESSION", help="As in '0 9 * * 1-5'.")
]
Every = Annotated[
    str | None,
    typer.Option("--every", metavar="SPAN|DAY TIME", help="As in 15m, 2h, 'day 9:00'."),
]
At = Annotated[
    str | None, typer.Option("--at", metavar="MOMENT", help="Once, as in 2026-03-01T09:00.")
]
Zone = Annotated[
    str | None,
    typer.Option("--timezone", metavar="NAME", help="As in Europe/Berlin; else this machine's."),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="TARGET",
        help="Where the answer goes: local, all, a platform, platform:chat, or a list.",
        autocompletion=complete_target,
    ),
]
Mirrored = Annotated[
    MirrorMode | None,
    typer.Option("--mirror", help="Also record it in the conversation that goes on there."),
]
Name = Annotated[str | None, typer.Option("--name", help="What its runs are called.")]


@app.command("list")
def list_jobs(database: Database = None, profile: Profile = None, as_json: AsJson = False) -> None:
    """List all jobs of a profile."""
    from threadline.store.jobs.jobs import list_jobs

    async def act(opened: "Opened") -> Sequence[Job]:
        return await opened.database.read(list_jobs, _owner(opened))

    found = in_store({"database": database, "profile": profile}, act)
    if as_json:
        write_json(as_plain(list(found)))
    elif not found:
        show_text(
            "There are no jobs yet. `threadline jobs add PROMPT --every 'day 9:00'` makes one."
        )
    else:
        rows = [(str(one.id), _next(one), one.schedule, one.target, one.name) for one in found]
        show_table(("N", "NEXT", "SCHEDULE", "TARGET", "NAME"), rows)


@app.command()
def add(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="What to ask; - reads it.")],
    *,
    cron: Cron = None,
    every: Every = None,
    at: At = None,
    timezone: Zone = None,
    target: Target = None,
    mirror: Mirrored = None,
    name: Name = None,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Make a job."""
    from msgspec.structs import replace

    from threadline.store.jobs.jobs import make_job
    from threadline.store.turns.pseudonyms import reveal_targets

    schedule = _schedule(cron, every, at)
    if schedule is None:
        raise Invalid("A job needs a time", hint="Give one of --cron, --every and --at")
    new = NewJob(
        prompt=sys.stdin.read() if prompt == "-" else prompt,
        schedule=schedule,
        timezone=timezone or _machine_zone(),
        target=target or "origin",
        mirror=mirror or MirrorMode.NONE,
        name=name or "",
    )

    async def act(opened: "Opened", around: "PlatformNames") -> Job:
        known = await around.known(opened.store)
        return await opened.database.write(
            make_job,
            replace(new, target=await reveal_targets(opened.database, new.target)),
            _owner(opened),
            platforms=known,
        )

    made = _with_platforms({"database": database, "profile": profile}, act, make=True)
    show_result(as_plain(made), f"Job {made.id} is there. Next: {_next(made)}.", as_json=as_json)


@app.command()
def change(
    number: Number,
    *,
    prompt: Annotated[str | None, typer.Option("--prompt", help="What to ask.")] = None,
    cron: Cron = None,
    every: Every = None,
    at: At = None,
    timezone: Zone = None,
    target: Target = None,
    mirror: Mirrored = None,
    name: Name = None,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Let a job ask something else, at other times, or for others."""
    schedule = _schedule(cron, every, at)

    async def act(opened: "Opened", around: "PlatformNames") -> Job:
        from msgspec.structs import replace

        from threadline.store.jobs.jobs import JobChange, change_job
        from threadline.store.turns.pseudonyms import reveal_targets

        wanted = JobChange(
            prompt=prompt,
            schedule=schedule,
            timezone=timezone,
            target=target,
            mirror=mirror,
            name=name,
        )
        known = await around.known(opened.store)
        if target is not None:
            wanted = replace(wanted, target=await reveal_targets(opened.database, target))
        return await opened.database.write(
            change_job, checked_job_id(number), wanted, _owner(opened), platforms=known, by=Actor()
        )

    changed = _with_platforms({"database": database, "profile": profile}, act)
    sentence = f"Job {number} is {changed.name}. Next: {_next(changed)}."
    show_result(as_plain(changed), sentence, as_json=as_json)


@app.command()
def show(
    number: Number, database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Show a job."""
    from threadline.store.jobs.jobs import see_job

    async def act(opened: "Opened") -> Job:
        return await opened.database.read(see_job, checked_job_id(number), _owner(opened))

    job = in_store({"database": database, "profile": profile}, act)
    mirrored = ", and into the conversation there" if job.mirror is MirrorMode.TARGET else ""
    lines = [
        f"{job.name} (job {job.id}, profile {job.profile})",
        f"when    {job.schedule} ({job.timezone})",
        f"next    {_next(job)}",
        f"target  {job.target}{mirrored}",
        f"made    {local(job.made_at)} by {job.maker or 'the owner'}",
        "",
        job.prompt,
    ]
    show_result(as_plain(job), "\n".join(lines), as_json=as_json)


@app.command()
def pause(
    number: Number, database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Let a job rest."""
    from threadline.store.jobs.jobs import pause_job

    job = _with_job(number, database, profile, pause_job)
    show_result(as_plain(job), f"Job {number} rests.", as_json=as_json)


@app.command()
def resume(
    number: Number, database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Let a job go on."""
    from threadline.store.jobs.jobs import resume_job

    job = _with_job(number, database, profile, resume_job)
    show_result(as_plain(job), f"Job {number} goes on. Next: {_next(job)}.", as_json=as_json)


@app.command()
def run(
    number: Number, database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Start a job now; a running gateway answers it."""
    from threadline.store.gateways import list_live_gateways
    from threadline.store.jobs.job_runs import run_now

    async def act(opened: "Opened", around: "PlatformNames") -> "tuple[JobStart, bool]":
        known = await around.known(opened.store)
        begun = await opened.database.write(
            run_now, checked_job_id(number), _owner(opened), platforms=known, by=Actor()
        )
        return begun, bool(await list_live_gateways(opened.database))

    begun, is_served = _with_platforms({"database": database, "profile": profile}, act)
    if begun.state is not RunState.RUNNING:
        sentence = f"Job {number} did not run. {begun.why or ''}".rstrip()
    elif is_served:
        sentence = f"Job {number} runs now."
    else:
        sentence = f"Job {number} waits: no gateway serves. `threadline serve` starts one."
    show_result(as_plain(begun), sentence, as_json=as_json)


@app.command()
def runs(
    number: Number,
    limit: Limit = 20,
    database: Database = None,
    profile: Profile = None,
    as_json: AsJson = False,
) -> None:
    """Show when a job was due, and what came of it."""
    from threadline.store.jobs.jobs import list_runs

    async def act(opened: "Opened") -> Sequence[JobRun]:
        return await opened.database.read(
            list_runs, checked_job_id(number), _owner(opened), most=limit
        )

    found = in_store({"database": database, "profile": profile}, act)
    if as_json:
        write_json(as_plain(list(found)))
    elif not found:
        show_text(f"Job {number} has not run yet.")
    else:
        rows = [
            (local(one.due_at), one.shown_state, one.session_id or "", one.why or "")
            for one in found
        ]
        show_table(("DUE", "STATE", "SESSION", "WHY"), rows)


@app.command()
def delete(
    number: Number, database: Database = None, profile: Profile = None, as_json: AsJson = False
) -> None:
    """Delete a job; the sessions of its runs stay."""
    from threadline.store.jobs.jobs import delete_job

    gone = _with_job(number, database, profile, delete_job)
    show_result(as_plain(gone), f"Job {number} is gone. Its sessions stay.", as_json=as_json)


def _with_job(
    number: int,
    database: str | None,
    profile: str | None,
    verb: "Callable[..., Job]",
) -> Job:
    """Do something with a job in the owner's name."""

    async def act(opened: "Opened") -> Job:
        return await opened.database.write(verb, checked_job_id(number), _owner(opened), by=Actor())

    return in_store({"database": database, "profile": profile}, act)


def _with_platforms(
    settings: dict[str, str | None],
    act: "Callable[[Opened, PlatformNames], Awaitable[T]]",
    *,
    make: bool = False,
) -> T:
    from threadline.cli.platform_names import read_platform_names

    around = read_platform_names(settings)
    return in_store(settings, lambda opened: act(opened, around), make=make)


def _owner(opened: "Opened") -> Viewer:
    return Viewer.owner(opened.profile)


def _schedule(cron: str | None, every: str | None, at: str | None) -> str | None:
    given = [
        text
        for text in (
            cron,
            None if every is None else f"every {every}",
            None if at is None else f"at {at}",
        )
        if text is not None
    ]
    if len(given) > 1:
        raise Invalid("A job has one schedule", hint="Give one of --cron, --every and --at")
    return given[0] if given else None


def _machine_zone() -> str:
    from zoneinfo import ZoneInfo

    from threadline.config import machine_zone

    found = machine_zone()
    return found.key if isinstance(found, ZoneInfo) else "UTC"


def _next(job: Job) -> str:
    if job.paused_at is not None:
        return "rests"
    return "over" if job.next_at is None else local(job.next_at)
