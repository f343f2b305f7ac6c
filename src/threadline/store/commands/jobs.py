"""The command about jobs.

    /job                                              lists them
    /job add "every day 9:00" What is new?            makes one; the time stands in quotes
    /job add "0 9 * * 1-5" tz=Europe/Berlin to=slack name="Morning" mirror=target What is new?
    /job pause|resume|run|runs|delete 3               the number is the one of the list

Everybody has their own jobs, which answer where they were made. Admins see all jobs, and may send
answers elsewhere.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from threadline.core.access_level import AccessLevel
from threadline.core.errors import Invalid, Refused
from threadline.core.job import ORIGIN, Job, JobId, JobRun, MirrorMode, NewJob, RunState
from threadline.core.person import Viewer
from threadline.core.reset_policy import zone
from threadline.core.validation import checked_choice, clean_title
from threadline.store.commands.context import CommandContext, CommandReply
from threadline.store.formatting import ago
from threadline.store.jobs import job_runs, jobs

SHOWN_RUNS = 10
_EXAMPLE = '/job add "every day 9:00" What is new?'
_USAGE = f"{_EXAMPLE}, or /job pause, resume, run, runs or delete with a number"

# A phone makes typographic quotes of plain ones.
_OPEN, _CLOSE = "\"'“”„‚‘’«»", "\"'“”‘’«»"
_QUOTED = rf"[{_OPEN}](?P<{{name}}>[^{_CLOSE}]*)[{_CLOSE}]"
_TIMED = re.compile(_QUOTED.format(name="time") + r"\s*(?P<rest>.*)", re.DOTALL)
_OPTION = re.compile(
    r"(?P<key>to|tz|name|mirror)=(?:" + _QUOTED.format(name="quoted") + r"|(?P<plain>\S*))\s*",
    re.IGNORECASE,
)


def job(ask: CommandContext) -> CommandReply:
    """List jobs, make one, or do something with one."""
    what, rest = (*ask.argument.split(maxsplit=1), "", "")[:2]
    if not what:
        return _list(ask)
    if what.lower() == "add":
        return _add(ask, rest.strip())
    verb = _VERBS.get(what.lower())
    if verb is None:
        said = clean_title(what, 30)
        raise Invalid(f"“{said}” is not something a job can do", hint=_USAGE)
    number = rest.strip().removeprefix("#")
    if not number.isascii() or not number.isdigit() or not 0 < len(number) < 12:
        raise Invalid("Which job? Say its number", hint=f"/job lists them; then /job {what} 1")
    return CommandReply(text=verb(ask, _asker(ask), JobId(int(number))))


def _asker(ask: CommandContext) -> Viewer:
    inbound = ask.inbound
    return Viewer(
        address=inbound.address,
        sender=inbound.sender,
        profile=inbound.profile,
        sees_all=ask.rank.may(AccessLevel.ADMIN),
    )


def _list(ask: CommandContext) -> CommandReply:
    found = jobs.list_jobs(ask.tx, _asker(ask))
    if not found:
        return CommandReply(text=f"There are no jobs. To make one: {_EXAMPLE}")
    return CommandReply(text="\n".join(_line(one) for one in found))


def _add(ask: CommandContext, written: str) -> CommandReply:
    timed = _TIMED.fullmatch(written)
    if timed is None:
        raise Invalid("Put the time in quotes, before the prompt", hint=_EXAMPLE)
    options, prompt = _options(timed["rest"])
    target = options.get("to", ORIGIN)
    if target.strip().lower() != ORIGIN and not ask.rank.may(AccessLevel.ADMIN):
        raise Refused("Your jobs answer where they were created", hint="Leave to=… out")
    new = NewJob(
        prompt=prompt,
        schedule=" ".join(timed["time"].split()),
        timezone=options.get("tz", _usual_zone(ask)),
        target=target,
        mirror=checked_choice(options.get("mirror", MirrorMode.NONE).lower(), "mirror", MirrorMode),
        name=options.get("name", ""),
    )
    made = jobs.make_job(ask.tx, new, _asker(ask))
    return CommandReply(text=f"Job {made.id} is there. {_next(made)}")


def _options(written: str) -> tuple[dict[str, str], str]:
    """Read what stands between the time and the prompt, which begins with the first other word."""
    options: dict[str, str] = {}
    while (option := _OPTION.match(written)) is not None:
        quoted = option["quoted"]
        options[option["key"].lower()] = option["plain"] if quoted is None else quoted
        written = written[option.end() :]
    return options, written.strip()


def _usual_zone(ask: CommandContext) -> str:
    """Name the time zone by which days turn in this chat."""
    at = ask.inbound.address
    usual = ask.tx.settings.policies.resolve(at.platform, at.kind).timezone
    return usual.key if isinstance(usual, ZoneInfo) else "UTC"


def _pause(ask: CommandContext, asker: Viewer, id: JobId) -> str:
    jobs.pause_job(ask.tx, id, asker)
    return f"Job {id} rests. /job resume {id} lets it go on."


def _resume(ask: CommandContext, asker: Viewer, id: JobId) -> str:
    return f"Job {id} goes on. {_next(jobs.resume_job(ask.tx, id, asker))}"


def _delete(ask: CommandContext, asker: Viewer, id: JobId) -> str:
    gone = jobs.delete_job(ask.tx, id, asker)
    return f"Job {id} is gone: {gone.name}."


def _run(ask: CommandContext, asker: Viewer, id: JobId) -> str:
    begun = job_runs.run_now(ask.tx, id, asker)
    if begun.state is RunState.RUNNING:
        return f"Job {id} runs now."
    return f"Job {id} did not run. {begun.why or ''}".rstrip()


def _history(ask: CommandContext, asker: Viewer, id: JobId) -> str:
    found = jobs.list_runs(ask.tx, id, asker, most=SHOWN_RUNS)
    return _runs(found, ask.tx.now) or f"Job {id} has not run yet."


def _runs(found: Sequence[JobRun], now: datetime) -> str:
    return "\n".join(
        f"{ago(run.started_at, now)}: {run.shown_state}{f' ({run.why})' if run.why else ''}"
        for run in found
    )


def _line(job: Job) -> str:
    target = "" if job.target == ORIGIN else f" → {job.target}"
    return f"{job.id}. {job.name} — {job.schedule}{target}. {_next(job)}"


def _next(job: Job) -> str:
    if job.paused_at is not None:
        return "It rests."
    if job.next_at is None:
        return "Its time is over."
    at = job.next_at.astimezone(zone(job.timezone))
    return f"Next: {at:%Y-%m-%d %H:%M} ({job.timezone})."


_VERBS: Mapping[str, Callable[[CommandContext, Viewer, JobId], str]] = {
    "pause": _pause,
    "resume": _resume,
    "run": _run,
    "runs": _history,
    "delete": _delete,
}
