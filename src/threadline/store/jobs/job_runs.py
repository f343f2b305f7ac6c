"""Job runs: a job that is due gets a session, and its answer goes to its targets."""

from collections.abc import Collection
from datetime import datetime

from msgspec import Struct

from threadline.core.account import Actor
from threadline.core.address import Address, Sender
from threadline.core.errors import Conflict, Invalid, Refused, ThreadlineError
from threadline.core.job import RUNS_KEPT, Job, JobId, MirrorMode, RunState, mirror_lines
from threadline.core.message import NewMessage, Part, Role, words
from threadline.core.person import Viewer
from threadline.core.route import Route, route
from threadline.core.session import Cause, TitleSource
from threadline.core.target import output_address
from threadline.core.turn import TurnId, TurnState
from threadline.database.port import Database, Transaction
from threadline.database.timestamps import stamp
from threadline.store.deliveries.targets import ResolvedTargets, TargetContext, reach
from threadline.store.jobs.jobs import note_job_act, read_job, require_job, sender_of_job, tell_job
from threadline.store.jobs.schedules import parse_schedule
from threadline.store.people.address_book import remember_address
from threadline.store.people.aliases import resolve_aliases
from threadline.store.projects import scheduled_project
from threadline.store.session_writer import SessionState, SessionWriter
from threadline.store.sessions.bindings import SessionOwner, create_unbound_session
from threadline.store.sessions.reset_check import find_reset_cause, read_load

OVERLAPPING = "The run before it was not over."
_STOPPED = "It was stopped."
_GONE = "Its conversation was deleted."
_SLICE = 50


class JobStart(Struct, frozen=True, kw_only=True):
    """What came of a job that was due."""

    job_id: JobId
    state: RunState
    turn_id: TurnId | None = None
    why: str | None = None


class _RunEnd(Struct, frozen=True, kw_only=True):
    """How the turn of a run that is under way has ended, if it has."""

    job_id: JobId
    turn_id: TurnId | None
    session_key: int | None
    why: str | None
    state: TurnState | None
    """None: the turn was deleted."""
    error: str | None
    ended_at: datetime | None


class _SaidMessage(Struct, frozen=True, kw_only=True):
    """What a message says."""

    parts: tuple[Part, ...]


def list_due_jobs(tx: Transaction, *, most: int) -> list[JobId]:
    """List jobs whose time has come, those that have waited longest first."""
    return tx.all("list_due_jobs", JobId, now=stamp(tx.now), most=most)


def start_due(
    tx: Transaction, id: JobId, *, platforms: Collection[str] | None = None
) -> JobStart | None:
    """Start a job whose time has come; None: somebody was quicker, or it rests by now.

    However often its time came while nobody looked, it is asked once. It is skipped while its
    last run is not over.
    """
    job = _lock_due(tx, id)
    if job is None or job.next_at is None:
        return None
    _plan_next(tx, job)
    running = tx.one("find_running_run", int, job_id=id)
    if running is not None and not close_run(tx, running):
        return _record(tx, job, RunState.SKIPPED, OVERLAPPING)
    return _start(tx, job, job.next_at, platforms)


def run_now(
    tx: Transaction,
    id: JobId,
    asker: Viewer,
    *,
    platforms: Collection[str] | None = None,
    by: Actor | None = None,
) -> JobStart:
    """Start a job at once, whatever its schedule says; that goes on as it was."""
    job = require_job(tx, id, asker)
    if job.needs_admin and not asker.sees_all:
        raise Refused("This job answers elsewhere, which is for admins", id=str(id))
    running = tx.one("find_running_run", int, job_id=id)
    if running is not None and not close_run(tx, running):
        raise Conflict("This job runs just now", id=str(id), hint="Wait until it has ended")
    note_job_act(tx, job, asker, by, "job.run")
    return _start(tx, job, tx.now, platforms)


def fail_due(tx: Transaction, id: JobId, why: str) -> JobStart | None:
    """Write down that a job whose time has come could not be started; it is tried next time.

    One of which nobody can tell the next time any more is over.
    """
    job = _lock_due(tx, id)
    if job is None:
        return None
    try:
        _plan_next(tx, job)
    except Invalid:
        tx.run("set_next_time", id=id, next_at=None)
    return _record(tx, job, RunState.FAILED, why)


def list_to_close(tx: Transaction, *, most: int) -> list[int]:
    """List the runs that are under way, of which the turn has ended."""
    return tx.all("list_runs_to_close", int, most=most)


def list_running(tx: Transaction) -> frozenset[TurnId]:
    """List the turns of the runs that are under way."""
    return frozenset(tx.all("list_running_runs", TurnId))


def close_run(tx: Transaction, id: int) -> bool:
    """Write down how a run ended, and mirror its answer, once; False: it is still under way."""
    run = tx.one("read_run_end", _RunEnd, id=id)
    if run is None:
        return True
    if run.state is not None and run.ended_at is None:
        return False
    state, why = _outcome(run)
    if tx.exists("end_job_run", id=id, state=state, why=why, now=stamp(tx.now)):
        job = read_job(tx, run.job_id)
        if state is RunState.DONE and job.mirror is MirrorMode.TARGET:
            _mirror(tx, job, run)
        tell_job(tx, job.id)
    return True


def _lock_due(tx: Transaction, id: JobId) -> Job | None:
    if not tx.exists("lock_job", id=id):
        return None
    job = read_job(tx, id)
    is_due = job.paused_at is None and job.next_at is not None and job.next_at <= tx.now
    return job if is_due else None


def plan_again(tx: Transaction, id: JobId) -> None:
    """Plan the next run of a job that was planned before the clock was set back."""
    if tx.exists("lock_job", id=id):
        _plan_next(tx, read_job(tx, id))
        tell_job(tx, id)


def _plan_next(tx: Transaction, job: Job) -> None:
    since = min(job.made_at, tx.now)
    next_at = parse_schedule(job.schedule, job.timezone).after(tx.now, since=since)
    tx.run("set_next_time", id=job.id, next_at=None if next_at is None else stamp(next_at))


def _start(
    tx: Transaction, job: Job, due_at: datetime, platforms: Collection[str] | None
) -> JobStart:
    reached = _reach(tx, job, platforms)
    problems = " ".join(reached.problems) or None
    if not reached.addresses:
        why = f"Nobody could be reached, so nothing was asked. {problems or ''}".rstrip()
        return _record(tx, job, RunState.FAILED, why, due_at=due_at)
    seat = _seat_of(tx, job)
    with _open(tx, job, seat) as writer:
        turn_id = writer.queue_turn(seat.address_key)
        prompt = NewMessage(role=Role.USER, parts=words(job.prompt))
        writer.keep(prompt, turn_id, seat.sender_key)
    for address in reached.addresses:
        key = remember_address(tx, address)
        tx.run("add_turn_target", turn_id=turn_id, address_key=key)
    return _record(
        tx,
        job,
        RunState.RUNNING,
        problems,
        due_at=due_at,
        session_key=writer.key,
        turn_id=turn_id,
    )


def _reach(tx: Transaction, job: Job, platforms: Collection[str] | None) -> ResolvedTargets:
    around = TargetContext(profile=job.profile, origin=job.address, platforms=platforms)
    try:
        return reach(tx, job.target, around)
    except ThreadlineError as error:
        return ResolvedTargets(addresses=(), problems=(str(error),))


def _open(tx: Transaction, job: Job, seat: SessionOwner) -> SessionWriter:
    """Begin the session of a run: called after its job, whose maker's it is, among the others."""
    project = scheduled_project(tx, profile=job.profile)
    opening = create_unbound_session(
        tx, seat, None, Cause.FIRST, title=job.name, titled_by=TitleSource.PERSON
    )
    tx.run("make_scheduled", key=opening.writer.key, project_key=project.key)
    return opening.writer


def _seat_of(tx: Transaction, job: Job) -> SessionOwner:
    """Answer where the sessions of a job are at home: where it was made, else with the files."""
    address = job.address or output_address(job.profile)
    return SessionOwner(
        profile=job.profile,
        platform=address.platform,
        kind=address.kind,
        address_key=remember_address(tx, address),
        sender_key=sender_of_job(tx, job.id),
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
) -> JobStart:
    tx.exists(
        "add_job_run",
        job_id=job.id,
        state=state,
        due_at=stamp(due_at or job.next_at or tx.now),
        ended_at=None if state is RunState.RUNNING else stamp(tx.now),
        session_key=session_key,
        turn_id=turn_id,
        why=why,
        now=stamp(tx.now),
    )
    tx.run("prune_job_runs", job_id=job.id, keep=RUNS_KEPT)
    tell_job(tx, job.id)
    return JobStart(job_id=job.id, state=state, turn_id=turn_id, why=why)


def _outcome(run: _RunEnd) -> tuple[RunState, str | None]:
    match run.state:
        case TurnState.DONE:
            return RunState.DONE, run.why
        case TurnState.FAILED:
            return RunState.FAILED, run.error or "Its turn failed."
        case None:
            return RunState.FAILED, _GONE
        case _:
            return RunState.FAILED, _STOPPED


def _mirror(tx: Transaction, job: Job, run: _RunEnd) -> None:
    """Record an answer in the conversations that go on at its targets; where none does, nowhere."""
    said = tx.all("list_said", _SaidMessage, session_key=run.session_key, turn_id=run.turn_id)
    lines = mirror_lines(job.name, [part for message in said for part in message.parts])
    places = tx.all("list_turn_targets", Address, turn_id=run.turn_id)
    routes = sorted({_route(tx, job, place) for place in places})
    # All routes before any session, and sessions by their keys, as everywhere.
    bound = {key for at in routes if (key := tx.one("lock_binding", int, route=at)) is not None}
    for key in sorted(bound):
        session = tx.one("lock_session_by_key", SessionState, key=key)
        if session is not None and lines:
            _add_lines(SessionWriter(tx, session), lines)


def _add_lines(writer: SessionWriter, lines: list[NewMessage]) -> None:
    """Add what a job said, unless the next message begins a new session there anyway.

    An imported conversation stays as it is.
    """
    if writer.session.is_read_only:
        return
    load = read_load(writer.tx, writer.key)
    if find_reset_cause(writer.tx, writer.session, load) is None:
        with writer:
            writer.add(lines, None)
            writer.touch()


def _route(tx: Transaction, job: Job, place: Address) -> Route:
    """Answer which conversation goes on at a target: that of everybody there, or the maker's."""
    is_theirs = job.maker is not None and job.maker.platform == place.platform
    maker = Sender(id=job.maker.id) if job.maker is not None and is_theirs else Sender()
    address, sender = resolve_aliases(tx, place, maker)
    return route(address, sender, tx.settings.scopes_for(place.platform), job.profile)


async def close_runs(db: Database) -> int:
    """Record how runs have ended, and copy their replies to their targets; return how many."""
    closed = 0
    while ended := await db.read(list_to_close, most=_SLICE):
        for run_id in ended:
            await db.write(close_run, run_id)
        closed += len(ended)
    return closed
