"""Jobs: made, changed, paused and deleted, by whoever may; their runs are beside this."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.access import AccessSponsor
from threadline.core.account import Actor
from threadline.core.errors import Conflict, Invalid, NotFound, Refused
from threadline.core.event import EventKind
from threadline.core.job import (
    JOBS_LIMIT,
    OWN_JOBS_LIMIT,
    Job,
    JobId,
    JobRun,
    MirrorMode,
    NewJob,
    RunState,
)
from threadline.core.person import Identity, Viewer
from threadline.core.revision import Seen, require_seen
from threadline.core.route import canonical_sender
from threadline.core.session import SessionId
from threadline.core.turn import TurnId, TurnState
from threadline.core.validation import COUNT_LIMIT
from threadline.database.port import Row, Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.accounts.accounts import note_act
from threadline.store.audit import note_audit
from threadline.store.deliveries.targets import TargetContext, reach
from threadline.store.jobs.schedules import parse_schedule
from threadline.store.people.address_book import add_sender, remember_address
from threadline.store.people.aliases import resolve_aliases
from threadline.store.people.visibility import asker_keys, find_sender
from threadline.store.row_mappers import address_from_row
from threadline.store.session_writer import add_global_event


class JobChange(Struct, frozen=True, kw_only=True):
    """What shall be different about a job; what is None stays."""

    prompt: str | None = None
    schedule: str | None = None
    timezone: str | None = None
    target: str | None = None
    mirror: MirrorMode | None = None
    name: str | None = None


class JobSight(Struct, frozen=True, kw_only=True):
    """Which of some jobs are there, and who may see which of them."""

    there: frozenset[JobId]
    seen: Mapping[Viewer, frozenset[JobId]]


def make_job(
    tx: Transaction, new: NewJob, asker: Viewer, *, platforms: Collection[str] | None = None
) -> Job:
    """Make a job in the name of whoever asks; its runs are theirs, and so is what they spend."""
    address_key = None if asker.address is None else remember_address(tx, asker.address)
    sender_key = _maker(tx, asker)
    counted = expect(tx, "count_jobs", profile=asker.profile, sender_key=sender_key)
    if counted.number("own") >= OWN_JOBS_LIMIT and not asker.sees_all:
        raise Refused(f"You can have at most {OWN_JOBS_LIMIT} jobs", hint="Delete one first")
    if counted.number("jobs") >= JOBS_LIMIT:
        raise Refused(f"A profile can have at most {JOBS_LIMIT} jobs", hint="Delete one first")
    around = TargetContext(profile=asker.profile, origin=asker.address, platforms=platforms)
    reach(tx, new.target, around, strictly=True)
    next_at = _first_time(new.schedule, new.timezone, since=tx.now, now=tx.now)
    row = expect(
        tx,
        "add_job",
        profile=asker.profile,
        name=new.name,
        prompt=new.prompt,
        schedule=new.schedule,
        timezone=new.timezone,
        target=new.target,
        mirror=new.mirror,
        address_key=address_key,
        sender_key=sender_key,
        next_at=stamp(next_at),
        now=stamp(tx.now),
    )
    return _changed(tx, JobId(row.number("id")))


def change_job(
    tx: Transaction,
    id: JobId,
    change: JobChange,
    asker: Viewer,
    *,
    platforms: Collection[str] | None = None,
    seen: Seen | None = None,
    by: Actor | None = None,
) -> Job:
    """Let a job ask something else, at other times, or for others.

    Who writes another prompt for the job of another sender makes it their own: nobody speaks in the
    name of others, or lets them pay for it.
    """
    job = require_job(tx, id, asker, seen)
    given = {
        name: value
        for name in change.__struct_fields__
        if (value := getattr(change, name)) is not None
    }
    wanted = replace(_wanted(job), **given)
    if wanted.target != job.target:
        around = TargetContext(profile=job.profile, origin=job.address, platforms=platforms)
        reach(tx, wanted.target, around, strictly=True)
    next_at = job.next_at
    if (wanted.schedule, wanted.timezone) != (job.schedule, job.timezone):
        next_at = _first_time(wanted.schedule, wanted.timezone, since=job.made_at, now=tx.now)
    is_own_prompt = wanted.prompt == job.prompt or _is_made_by(tx, asker, job.maker)
    tx.run(
        "change_job",
        id=id,
        sender_key=_sender_key(tx, id) if is_own_prompt else _maker(tx, asker),
        name=wanted.name,
        prompt=wanted.prompt,
        schedule=wanted.schedule,
        timezone=wanted.timezone,
        target=wanted.target,
        mirror=wanted.mirror,
        next_at=None if next_at is None else stamp(next_at),
    )
    note_job_act(tx, job, asker, by, "job.changed")
    return _changed(tx, id)


def pause_job(tx: Transaction, id: JobId, asker: Viewer, *, by: Actor | None = None) -> Job:
    """Let a job rest; what has begun goes on."""
    job = require_job(tx, id, asker)
    tx.one("pause_job", id=id, now=stamp(tx.now))
    note_job_act(tx, job, asker, by, "job.paused")
    return _changed(tx, id)


def resume_job(tx: Transaction, id: JobId, asker: Viewer, *, by: Actor | None = None) -> Job:
    """Let a job go on; what it missed meanwhile is not made up for."""
    job = require_job(tx, id, asker)
    if job.paused_at is not None:
        next_at = parse_schedule(job.schedule, job.timezone).after(tx.now, since=job.made_at)
        if next_at is None:
            raise Conflict(
                "This job has no next run", id=str(id), hint="Give it another schedule first"
            )
        tx.one("resume_job", id=id, next_at=stamp(next_at))
        note_job_act(tx, job, asker, by, "job.resumed")
    return _changed(tx, id)


def delete_job(
    tx: Transaction, id: JobId, asker: Viewer, *, seen: Seen | None = None, by: Actor | None = None
) -> Job:
    """Delete a job, and what is known of its runs; their sessions stay."""
    job = require_job(tx, id, asker, seen)
    note_job_act(tx, job, asker, by, "job.deleted")
    _drop(tx, id)
    return job


def forget_jobs(tx: Transaction, sender_key: int) -> int:
    """Delete all jobs of somebody who is being forgotten; answer how many there were."""
    rows = tx.all("list_jobs_of_sender", sender_key=sender_key)
    for row in rows:
        tx.one("lock_job", id=row.number("id"))
        _drop(tx, JobId(row.number("id")))
    return len(rows)


def read_job(tx: Transaction, id: JobId) -> Job:
    """Read a job."""
    row = tx.one("read_job", id=id)
    if row is None:
        raise _no_job(id)
    return _job_from(row)


def see_job(tx: Transaction, id: JobId, asker: Viewer) -> Job:
    """Read a job that the asker may see; one of somebody else is not there for them."""
    row = tx.one("read_job", id=id)
    if row is None or row["profile"] != asker.profile:
        raise _no_job(id)
    if not asker.sees_all and row["sender_key"] not in asker_keys(tx, asker).sender_keys:
        raise _no_job(id)
    return _job_from(row)


def require_job(tx: Transaction, id: JobId, asker: Viewer, seen: Seen | None = None) -> Job:
    """Take a job for this transaction that the asker may change, if it is as they have seen it."""
    tx.one("lock_job", id=id)
    job = see_job(tx, id, asker)
    require_seen(job.revision, seen, str(id))
    return job


def list_jobs(
    tx: Transaction, asker: Viewer, *, after: int = 0, most: int = JOBS_LIMIT
) -> Sequence[Job]:
    """List the asker's jobs, in the order in which they were made; the owner's are all."""
    keys = None if asker.sees_all else json.dumps(sorted(asker_keys(tx, asker).sender_keys))
    rows = tx.all("list_jobs", profile=asker.profile, sender_keys=keys, after=after, most=most)
    return [_job_from(row) for row in rows]


def list_jobs_seen_by(
    tx: Transaction, askers: Collection[Viewer], ids: Collection[JobId]
) -> JobSight:
    """Name those of some jobs that are there, and of these the ones that each asker may see."""
    rows = tx.all("find_makers", ids=json.dumps(sorted(ids)))
    seen = {}
    for asker in askers:
        keys = asker_keys(tx, asker)
        seen[asker] = frozenset(
            JobId(row.number("id"))
            for row in rows
            if row["profile"] == asker.profile
            and (asker.sees_all or row["sender_key"] in keys.sender_keys)
        )
    return JobSight(there=frozenset(JobId(row.number("id")) for row in rows), seen=seen)


def list_runs(
    tx: Transaction, id: JobId, asker: Viewer, *, before: int = COUNT_LIMIT, most: int
) -> Sequence[JobRun]:
    """List the latest runs of a job, the newest first."""
    see_job(tx, id, asker)
    rows = tx.all("list_job_runs", job_id=id, before=before, most=most)
    return [_run_from(row) for row in rows]


def next_job_due(tx: Transaction) -> datetime | None:
    """Tell when the next job is due; None: none is."""
    return expect(tx, "read_next_job").moment_or_none("next_at")


def tell_job(tx: Transaction, id: JobId) -> None:
    """Add to the feed that a job was made, changed, run or deleted."""
    add_global_event(tx, EventKind.JOB_CHANGED, id)


def _maker(tx: Transaction, asker: Viewer) -> int | None:
    """Find the sender in whose name a job is made; None: the owner, who came from nowhere."""
    if asker.address is None:
        return None
    address, sender = resolve_aliases(tx, asker.address, asker.sender)
    who = canonical_sender(address.platform, sender)
    if who is None:
        raise Refused("It is not known who you are here, so nothing can be done in your name")
    found = find_sender(tx, address, sender)
    return add_sender(tx, address.platform, who) if found is None else found.number("key")


def note_job_act(tx: Transaction, job: Job, asker: Viewer, by: Actor | None, act: str) -> None:
    """Write down what somebody did to the job of somebody else: only an admin can."""
    maker = job.maker
    if maker is None or not asker.sees_all or _is_theirs(tx, asker, maker):
        return
    if by is None:
        subject = str(job.id)
        note_act(tx, asker.address, asker.sender, act, subject, token=asker.token)
    else:
        note_audit(tx, by, act, str(job.id))


def _is_made_by(tx: Transaction, asker: Viewer, maker: Identity | None) -> bool:
    return asker.address is None if maker is None else _is_theirs(tx, asker, maker)


def _sender_key(tx: Transaction, id: JobId) -> int | None:
    return expect(tx, "read_job", id=id).number_or_none("sender_key")


def _is_theirs(tx: Transaction, asker: Viewer, maker: Identity) -> bool:
    if asker.address is None:
        return False
    row = tx.one("find_sender", platform=maker.platform, id=maker.id)
    own = asker_keys(tx, replace(asker, sees_all=False)).sender_keys
    return row is not None and row.number("key") in own


def _changed(tx: Transaction, id: JobId) -> Job:
    tell_job(tx, id)
    return read_job(tx, id)


def _drop(tx: Transaction, id: JobId) -> None:
    tx.run("drop_runs_of_job", job_id=id)
    tx.run("drop_job", id=id)
    tell_job(tx, id)


def _first_time(schedule: str, timezone: str, *, since: datetime, now: datetime) -> datetime:
    due = parse_schedule(schedule, timezone).after(now, since=since)
    if due is None:
        raise Invalid(f"“{schedule[:60]}” never occurs", hint="It must be in the future")
    return due


def _wanted(job: Job) -> NewJob:
    return NewJob(
        prompt=job.prompt,
        schedule=job.schedule,
        timezone=job.timezone,
        target=job.target,
        mirror=job.mirror,
        name=job.name,
    )


def _no_job(id: JobId) -> NotFound:
    return NotFound("There is no such job", id=str(id))


def _job_from(row: Row) -> Job:
    maker = row.text_or_none("maker_id")
    return Job(
        id=JobId(row.number("id")),
        profile=row.text("profile"),
        name=row.text("name"),
        prompt=row.text("prompt"),
        schedule=row.text("schedule"),
        timezone=row.text("timezone"),
        target=row.text("target"),
        mirror=MirrorMode(row.text("mirror")),
        address=None if row["platform"] is None else address_from_row(row),
        maker=None if maker is None else Identity(platform=row.text("maker_platform"), id=maker),
        voucher=None if row["vouched_by"] is None else AccessSponsor(row.text("vouched_by")),
        made_at=row.moment("made_at"),
        paused_at=row.moment_or_none("paused_at"),
        next_at=row.moment_or_none("next_at"),
        last_run=None if row["run_id"] is None else _run_from(row, "run_"),
    )


def _run_from(row: Row, of: str = "") -> JobRun:
    """Read a run; within the row of its job, the names of its columns begin with a word."""
    session_id = row.text_or_none(f"{of}session_id")
    turn_id, turn_state = row.number_or_none(f"{of}turn_id"), row.text_or_none(f"{of}turn_state")
    return JobRun(
        id=row.number(f"{of}id"),
        state=RunState(row.text(f"{of}state")),
        due_at=row.moment(f"{of}due_at"),
        started_at=row.moment(f"{of}started_at"),
        ended_at=row.moment_or_none(f"{of}ended_at"),
        session_id=None if session_id is None else SessionId(session_id),
        turn_id=None if turn_id is None else TurnId(turn_id),
        why=row.text_or_none(f"{of}why"),
        turn_state=None if turn_state is None else TurnState(turn_state),
    )
