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

from threadline.core.errors import Invalid, Refused
from threadline.core.job import ORIGIN, Job, JobId, JobRun, Mirror, NewJob, RunState
from threadline.core.person import Asker
from threadline.core.policy import zone
from threadline.core.rank import Rank
from threadline.core.text import checked_choice, clean_title
from threadline.sessions import jobs, runs
from threadline.sessions.commands.ask import Ask, Reply
from threadline.sessions.phrases import ago
from threadline.sessions.runs import World

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


def job(ask: Ask) -> Reply:
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
    return Reply(text=verb(ask, _asker(ask), JobId(int(number))))


def _asker(ask: Ask) -> Asker:
    inbound = ask.inbound
    return Asker(
        address=inbound.address,
        sender=inbound.sender,
        profile=inbound.profile,
        sees_all=ask.rank.may(Rank.ADMIN),
    )


def _list(ask: Ask) -> Reply:
    found = jobs.list_jobs(ask.tx, _asker(ask))
    if not found:
        return Reply(text=f"There are no jobs. To make one: {_EXAMPLE}")
    return Reply(text="\n".join(_line(one) for one in found))


def _add(ask: Ask, written: str) -> Reply:
    timed = _TIMED.fullmatch(written)
    if timed is None:
        raise Invalid("Put the time in quotes, before the prompt", hint=_EXAMPLE)
    options, prompt = _options(timed["rest"])
    target = options.get("to", ORIGIN)
    if target.strip().lower() != ORIGIN and not ask.rank.may(Rank.ADMIN):
        raise Refused("Your jobs answer where they were created", hint="Leave to=… out")
    new = NewJob(
        prompt=prompt,
        schedule=" ".join(timed["time"].split()),
        timezone=options.get("tz", _usual_zone(ask)),
        target=target,
        mirror=checked_choice(options.get("mirror", Mirror.NONE).lower(), "mirror", Mirror),
        name=options.get("name", ""),
    )
    made = jobs.make_job(ask.tx, new, _asker(ask), homes=ask.rules.homes, now=ask.now)
    return Reply(text=f"Job {made.id} is there. {_next(made)}")


def _options(written: str) -> tuple[dict[str, str], str]:
    """Read what stands between the time and the prompt, which begins with the first other word."""
    options: dict[str, str] = {}
    while (option := _OPTION.match(written)) is not None:
        quoted = option["quoted"]
        options[option["key"].lower()] = option["plain"] if quoted is None else quoted
        written = written[option.end() :]
    return options, written.strip()


def _usual_zone(ask: Ask) -> str:
    """Name the time zone by which days turn in this chat."""
    at = ask.inbound.address
    usual = ask.rules.policies.resolve(at.platform, at.kind).timezone
    return usual.key if isinstance(usual, ZoneInfo) else "UTC"


def _pause(ask: Ask, asker: Asker, id: JobId) -> str:
    jobs.pause_job(ask.tx, id, asker, now=ask.now)
    return f"Job {id} rests. /job resume {id} lets it go on."


def _resume(ask: Ask, asker: Asker, id: JobId) -> str:
    return f"Job {id} goes on. {_next(jobs.resume_job(ask.tx, id, asker, now=ask.now))}"


def _delete(ask: Ask, asker: Asker, id: JobId) -> str:
    gone = jobs.delete_job(ask.tx, id, asker, now=ask.now)
    return f"Job {id} is gone: {gone.name}."


def _run(ask: Ask, asker: Asker, id: JobId) -> str:
    world = World(rules=ask.rules)
    begun = runs.run_now(ask.tx, id, asker, world, now=ask.now, new_id=ask.new_id)
    if begun.state is RunState.RUNNING:
        return f"Job {id} runs now."
    return f"Job {id} did not run. {begun.why or ''}".rstrip()


def _history(ask: Ask, asker: Asker, id: JobId) -> str:
    found = jobs.list_runs(ask.tx, id, asker, most=SHOWN_RUNS)
    return _runs(found, ask.now) or f"Job {id} has not run yet."


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


_VERBS: Mapping[str, Callable[[Ask, Asker, JobId], str]] = {
    "pause": _pause,
    "resume": _resume,
    "run": _run,
    "runs": _history,
    "delete": _delete,
}
