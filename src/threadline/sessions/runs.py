"""Runs: a job whose time has come gets a session of its own, and its answer goes to its targets."""

from dataclasses import dataclass
from datetime import datetime

from threadline.core.address import Address, Sender
from threadline.core.errors import Conflict, Invalid, Refused, ThreadlineError
from threadline.core.job import RUNS_KEPT, Job, JobId, Mirror, RunState, mirror_lines
from threadline.core.message import NewMessage, Part, Role, unpack, words
from threadline.core.person import Asker
from threadline.core.route import Route, route
from threadline.core.rules import Rules
from threadline.core.session import Cause, TitleSource
from threadline.core.target import output_address
from threadline.core.turn import TurnId, TurnState
from threadline.sessions.arrivals.places import remember_address
from threadline.sessions.chronicle import Chronicle, is_read_only
from threadline.sessions.conversations import NewId, Seat, begin_session
from threadline.sessions.jobs import read_job, require_job, tell_job
from threadline.sessions.people.aliases import resolve
from threadline.sessions.projects import scheduled_project
from threadline.sessions.records import address_from_row
from threadline.sessions.schedules import parse_schedule
from threadline.sessions.targets import Reach, Standpoint, reach
from threadline.sessions.verdicts import why_new
from threadline.storage.database import Row, Transaction, expect
from threadline.storage.moments import stamp

OVERLAPPING = "The run before it was not over."
_STOPPED = "It was stopped."
_GONE = "Its conversation was deleted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What came of a job that was due."""

    job_id: JobId
    state: RunState
    turn_id: TurnId | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What a run has to know of the gateway that starts it, or closes it."""

    rules: Rules
    platforms: frozenset[str] | None = None


def list_due(tx: Transaction, *, now: datetime, most: int) -> list[JobId]:
    """List jobs whose time has come, those that have waited longest first."""
    rows = tx.all("list_due_jobs", now=stamp(now), most=most)
    return [JobId(row.number("id")) for row in rows]


def start_due(
    tx: Transaction, id: JobId, world: World, *, now: datetime, new_id: NewId
) -> Start | None:
    """Start a job whose time has come; None: somebody was quicker, or it rests by now.

    However often its time came while nobody looked, it is asked once. It is skipped while its
    last run is not over.
    """
    job = _lock_due(tx, id, now)
    if job is None or job.next_at is None:
        return None
    _plan_next(tx, job, now)
    running = tx.one("find_running_run", job_id=id)
    if running is not None and not close_run(tx, running.number("id"), world, now=now):
        return _record(tx, job, RunState.SKIPPED, OVERLAPPING, now=now)
    return _start(tx, job, job.next_at, world, now=now, new_id=new_id)


def run_now(
    tx: Transaction, id: JobId, asker: Asker, world: World, *, now: datetime, new_id: NewId
) -> Start:
    """Start a job at once, whatever its schedule says; that goes on as it was."""
    job = require_job(tx, id, asker)
    if job.needs_admin and not asker.sees_all:
        raise Refused("This job answers elsewhere, which is for admins", id=str(id))
    running = tx.one("find_running_run", job_id=id)
    if running is not None and not close_run(tx, running.number("id"), world, now=now):
        raise Conflict("This job runs just now", id=str(id), hint="Wait until it has ended")
    return _start(tx, job, now, world, now=now, new_id=new_id)


def fail_due(tx: Transaction, id: JobId, why: str, *, now: datetime) -> Start | None:
    """Write down that a job whose time has come could not be started; it is tried next time.

    One of which nobody can tell the next time any more is over.
    """
    job = _lock_due(tx, id, now)
    if job is None:
        return None
    try:
        _plan_next(tx, job, now)
    except Invalid:
        tx.run("set_next_time", id=id, next_at=None)
    return _record(tx, job, RunState.FAILED, why, now=now)


def list_to_close(tx: Transaction, *, most: int) -> list[int]:
    """List the runs that are under way, of which the turn has ended."""
    return [row.number("id") for row in tx.all("list_runs_to_close", most=most)]


def list_running(tx: Transaction) -> frozenset[TurnId]:
    """List the turns of the runs that are under way."""
    return frozenset(TurnId(row.number("turn_id")) for row in tx.all("list_running_runs"))


def close_run(tx: Transaction, id: int, world: World, *, now: datetime) -> bool:
    """Write down how a run ended, and mirror its answer, once; False: it is still under way."""
    run = tx.one("read_run_end", id=id)
    if run is None:
        return True
    if run["state"] is not None and run["ended_at"] is None:
        return False
    state, why = _outcome(run)
    if tx.one("end_job_run", id=id, state=state, why=why, now=stamp(now)) is not None:
        job = read_job(tx, JobId(run.number("job_id")))
        if state is RunState.DONE and job.mirror is Mirror.TARGET:
            _mirror(tx, job, run, world.rules, now)
        tell_job(tx, job.id, now)
    return True


def _lock_due(tx: Transaction, id: JobId, now: datetime) -> Job | None:
    if tx.one("lock_job", id=id) is None:
        return None
    job = read_job(tx, id)
    is_due = job.paused_at is None and job.next_at is not None and job.next_at <= now
    return job if is_due else None


def plan_again(tx: Transaction, id: JobId, *, now: datetime) -> None:
    """Plan the next run of a job that was planned before the clock was set back."""
    if tx.one("lock_job", id=id) is not None:
        _plan_next(tx, read_job(tx, id), now)
        tell_job(tx, id, now)


def _plan_next(tx: Transaction, job: Job, now: datetime) -> None:
    since = min(job.made_at, now)
    next_at = parse_schedule(job.schedule, job.timezone).after(now, since=since)
    tx.run("set_next_time", id=job.id, next_at=None if next_at is None else stamp(next_at))


def _start(
    tx: Transaction, job: Job, due_at: datetime, world: World, *, now: datetime, new_id: NewId
) -> Start:
    reached = _reach(tx, job, world)
    problems = " ".join(reached.problems) or None
    if not reached.addresses:
        why = f"Nobody could be reached, so nothing was asked. {problems or ''}".rstrip()
        return _record(tx, job, RunState.FAILED, why, due_at=due_at, now=now)
    seat = _seat_of(tx, job)
    with _open(tx, job, seat, world.rules, now=now, new_id=new_id) as chronicle:
        turn_id = chronicle.queue_turn(seat.address_key)
        prompt = NewMessage(role=Role.USER, parts=words(job.prompt))
        chronicle.keep(prompt, turn_id, seat.sender_key)
    for address in reached.addresses:
        key = remember_address(tx, address)
        tx.run("add_turn_target", turn_id=turn_id, address_key=key)
    return _record(
        tx,
        job,
        RunState.RUNNING,
        problems,
        due_at=due_at,
        session_key=chronicle.key,
        turn_id=turn_id,
        now=now,
    )


def _reach(tx: Transaction, job: Job, world: World) -> Reach:
    around = Standpoint(
        profile=job.profile,
        origin=job.address,
        platforms=world.platforms,
        homes=world.rules.homes,
    )
    try:
        return reach(tx, job.target, around)
    except ThreadlineError as error:
        return Reach(addresses=(), problems=(str(error),))


def _open(
    tx: Transaction, job: Job, seat: Seat, rules: Rules, *, now: datetime, new_id: NewId
) -> Chronicle:
    """Begin the session of a run: called after its job, whose maker's it is, among the others."""
    project = scheduled_project(tx, profile=job.profile, now=now)
    opening = begin_session(
        tx,
        seat,
        None,
        Cause.FIRST,
        rules=rules,
        now=now,
        new_id=new_id,
        title=job.name,
        titled_by=TitleSource.PERSON,
    )
    tx.run("make_scheduled", key=opening.chronicle.key, project_key=project.key)
    return opening.chronicle


def _seat_of(tx: Transaction, job: Job) -> Seat:
    """Answer where the sessions of a job are at home: where it was made, else with the files."""
    address = job.address or output_address(job.profile)
    row = expect(tx, "read_job", id=job.id)
    return Seat(
        profile=job.profile,
        platform=address.platform,
        kind=address.kind,
        address_key=remember_address(tx, address),
        sender_key=row.number_or_none("sender_key"),
    )


def _record(
    tx: Transaction,
    job: Job,
    state: RunState,
    why: str | None,
    *,
    due_at: datetime | None = None,
    session_key: int | None = None,
    turn_id: TurnId | None = None,
    now: datetime,
) -> Start:
    tx.one(
        "add_job_run",
        job_id=job.id,
        state=state,
        due_at=stamp(due_at or job.next_at or now),
        ended_at=None if state is RunState.RUNNING else stamp(now),
        session_key=session_key,
        turn_id=turn_id,
        why=why,
        now=stamp(now),
    )
    tx.run("prune_job_runs", job_id=job.id, keep=RUNS_KEPT)
    tell_job(tx, job.id, now)
    return Start(job_id=job.id, state=state, turn_id=turn_id, why=why)


def _outcome(run: Row) -> tuple[RunState, str | None]:
    told = run.text_or_none("why")
    match run.text_or_none("state"):
        case TurnState.DONE:
            return RunState.DONE, told
        case TurnState.FAILED:
            return RunState.FAILED, run.text_or_none("error") or "Its turn failed."
        case None:
            return RunState.FAILED, _GONE
        case _:
            return RunState.FAILED, _STOPPED


def _mirror(tx: Transaction, job: Job, run: Row, rules: Rules, now: datetime) -> None:
    """Record an answer in the conversations that go on at its targets; where none does, nowhere."""
    turn_id = run.number("turn_id")
    lines = mirror_lines(job.name, _answer(tx, run.number("session_key"), turn_id))
    places = [address_from_row(row) for row in tx.all("list_turn_targets", turn_id=turn_id)]
    routes = sorted({_route(tx, job, place, rules) for place in places})
    # All routes before any session, and sessions by their keys, as everywhere.
    bound = [binding for at in routes if (binding := tx.one("lock_binding", route=at))]
    for key in sorted({binding.number("session_key") for binding in bound}):
        session = tx.one("lock_session_by_key", key=key)
        if session is not None and lines:
            _add_lines(Chronicle(tx, session, now), lines, rules)


def _add_lines(chronicle: Chronicle, lines: list[NewMessage], rules: Rules) -> None:
    """Add what a job said, unless the next message begins a new session there anyway.

    An imported conversation stays as it is.
    """
    if is_read_only(chronicle.row):
        return
    load = expect(chronicle.tx, "read_load", session_key=chronicle.key)
    if why_new(chronicle.tx, chronicle.row, load, rules=rules, now=chronicle.now) is None:
        with chronicle:
            chronicle.add(lines, None)
            chronicle.touch()


def _answer(tx: Transaction, session_key: int, turn_id: int) -> list[Part]:
    rows = tx.all("list_said", session_key=session_key, turn_id=turn_id)
    return [part for row in rows for part in unpack(row.text("text"), row.text_or_none("parts"))]


def _route(tx: Transaction, job: Job, place: Address, rules: Rules) -> Route:
    """Answer which conversation goes on at a target: that of everybody there, or the maker's."""
    is_theirs = job.maker is not None and job.maker.platform == place.platform
    maker = Sender(id=job.maker.id) if job.maker is not None and is_theirs else Sender()
    address, sender = resolve(tx, place, maker)
    return route(address, sender, rules.scopes_for(place.platform), job.profile)
