"""Jobs: made, changed, paused and deleted, by whoever may; their runs are beside this."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

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
)
from threadline.core.person import Identity, Viewer
from threadline.core.revision import Seen, require_seen
from threadline.core.route import canonical_sender
from threadline.core.validation import COUNT_LIMIT
from threadline.database.port import Transaction, expect
from threadline.database.timestamps import stamp
from threadline.store.accounts.accounts import note_act
from threadline.store.audit import note_audit
from threadline.store.deliveries.targets import TargetContext, reach
from threadline.store.jobs.schedules import parse_schedule
from threadline.store.people.address_book import add_sender, remember_address
from threadline.store.people.aliases import resolve_aliases
from threadline.store.people.visibility import asker_keys, find_sender, find_sender_by_id
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


class _JobCount(Struct, frozen=True, kw_only=True):
    """How many jobs a profile has, and how many of them one sender made."""

    jobs: int
    own: int


class _Maker(Struct, frozen=True, kw_only=True):
    """Whose a job is."""

    id: JobId
    profile: str
    sender_key: int | None


def make_job(
    tx: Transaction, new: NewJob, asker: Viewer, *, platforms: Collection[str] | None = None
) -> Job:
    """Make a job in the name of whoever asks; its runs are theirs, and so is what they spend."""
    address_key = None if asker.address is None else remember_address(tx, asker.address)
    sender_key = _maker(tx, asker)
    counted = expect(tx, "count_jobs", _JobCount, profile=asker.profile, sender_key=sender_key)
    if counted.own >= OWN_JOBS_LIMIT and not asker.sees_all:
        raise Refused(f"You can have at most {OWN_JOBS_LIMIT} jobs", hint="Delete one first")
    if counted.jobs >= JOBS_LIMIT:
        raise Refused(f"A profile can have at most {JOBS_LIMIT} jobs", hint="Delete one first")
    around = TargetContext(profile=asker.profile, origin=asker.address, platforms=platforms)
    reach(tx, new.target, around, strictly=True)
    next_at = _first_time(new.schedule, new.timezone, since=tx.now, now=tx.now)
    id = expect(
        tx,
        "add_job",
        JobId,
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
    return _changed(tx, id)


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
        sender_key=sender_of_job(tx, id) if is_own_prompt else _maker(tx, asker),
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
    tx.exists("pause_job", id=id, now=stamp(tx.now))
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
        tx.exists("resume_job", id=id, next_at=stamp(next_at))
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
    ids = tx.all("list_jobs_of_sender", JobId, sender_key=sender_key)
    for id in ids:
        tx.exists("lock_job", id=id)
        _drop(tx, id)
    return len(ids)


def read_job(tx: Transaction, id: JobId) -> Job:
    """Read a job."""
    job = tx.one("read_job", Job, id=id)
    if job is None:
        raise _no_job(id)
    return job


def see_job(tx: Transaction, id: JobId, asker: Viewer) -> Job:
    """Read a job that the asker may see; one of somebody else is not there for them."""
    job = read_job(tx, id)
    if job.profile != asker.profile:
        raise _no_job(id)
    if not asker.sees_all and sender_of_job(tx, id) not in asker_keys(tx, asker).sender_keys:
        raise _no_job(id)
    return job


def require_job(tx: Transaction, id: JobId, asker: Viewer, seen: Seen | None = None) -> Job:
    """Take a job for this transaction that the asker may change, if it is as they have seen it."""
    tx.exists("lock_job", id=id)
    job = see_job(tx, id, asker)
    require_seen(job.revision, seen, str(id))
    return job


def list_jobs(
    tx: Transaction, asker: Viewer, *, after: int = 0, most: int = JOBS_LIMIT
) -> Sequence[Job]:
    """List the asker's jobs, in the order in which they were made; the owner's are all."""
    keys = None if asker.sees_all else json.dumps(sorted(asker_keys(tx, asker).sender_keys))
    return tx.all("list_jobs", Job, profile=asker.profile, sender_keys=keys, after=after, most=most)


def list_jobs_seen_by(
    tx: Transaction, askers: Collection[Viewer], ids: Collection[JobId]
) -> JobSight:
    """Name those of some jobs that are there, and of these the ones that each asker may see."""
    found = tx.all("find_makers", _Maker, ids=json.dumps(sorted(ids)))
    seen = {}
    for asker in askers:
        keys = asker_keys(tx, asker)
        seen[asker] = frozenset(
            one.id
            for one in found
            if one.profile == asker.profile
            and (asker.sees_all or one.sender_key in keys.sender_keys)
        )
    return JobSight(there=frozenset(one.id for one in found), seen=seen)


def list_runs(
    tx: Transaction, id: JobId, asker: Viewer, *, before: int = COUNT_LIMIT, most: int
) -> Sequence[JobRun]:
    """List the latest runs of a job, the newest first."""
    see_job(tx, id, asker)
    return tx.all("list_job_runs", JobRun, job_id=id, before=before, most=most)


def next_job_due(tx: Transaction) -> datetime | None:
    """Tell when the next job is due; None: none is."""
    return tx.one("read_next_job", datetime)


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
    return add_sender(tx, address.platform, who) if found is None else found.key


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


def sender_of_job(tx: Transaction, id: JobId) -> int | None:
    """Return the key of the sender in whose name a job runs; None: the owner."""
    return tx.one("read_sender_of_job", int, id=id)


def _is_theirs(tx: Transaction, asker: Viewer, maker: Identity) -> bool:
    if asker.address is None:
        return False
    found = find_sender_by_id(tx, maker.platform, maker.id)
    own = asker_keys(tx, replace(asker, sees_all=False)).sender_keys
    return found is not None and found.key in own


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
