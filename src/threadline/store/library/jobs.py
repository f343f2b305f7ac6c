"""Jobs: prompts on a schedule."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from threadline.core.account import Actor
from threadline.core.job import JOBS_LIMIT, Job, JobId, JobRun, NewJob, checked_job_id
from threadline.core.person import Viewer
from threadline.core.revision import Seen
from threadline.core.validation import COUNT_LIMIT, checked_count, checked_type
from threadline.store.jobs import job_runs, jobs
from threadline.store.jobs.job_runs import JobStart
from threadline.store.jobs.jobs import JobChange
from threadline.store.library.group import Group
from threadline.store.queries import LARGEST_PAGE
from threadline.store.turns.pseudonyms import reveal_targets

_SLICE = 50


class JobGroup(Group):
    """Prompts on a schedule. Without a viewer they act for the owner."""

    async def create(
        self,
        new: NewJob,
        asker: Viewer | None = None,
        *,
        platforms: Collection[str] | None = None,
    ) -> Job:
        """Create a job.

        >>> new = NewJob(name="Weather", prompt="Rain?", schedule="every 1h", target="local")
        >>> job = await store.jobs.create(new)
        """
        new = checked_type(new, "job", NewJob)
        return await self._db.write(
            jobs.make_job,
            replace(new, target=await reveal_targets(self._db, new.target)),
            _checked(asker),
            platforms=platforms,
        )

    async def get(self, id: JobId, asker: Viewer | None = None) -> Job:
        """Return a job.

        >>> await store.jobs.get(job.id) == job
        True
        """
        return await self._db.read(jobs.see_job, checked_job_id(id), _checked(asker))

    async def list(
        self, asker: Viewer | None = None, *, after: int = 0, most: int = JOBS_LIMIT
    ) -> Sequence[Job]:
        """Return the jobs that a viewer may see, in the order in which they were created.

        >>> [one.name for one in await store.jobs.list()]
        ['Weather']
        """
        after, most = checked_count(after, "job"), checked_count(most, "number of jobs", 1)
        return await self._db.read(jobs.list_jobs, _checked(asker), after=after, most=most)

    async def update(
        self,
        id: JobId,
        change: JobChange,
        asker: Viewer | None = None,
        *,
        platforms: Collection[str] | None = None,
        seen: Seen | None = None,
        by: Actor | None = None,
    ) -> Job:
        """Change what a job asks, when, or where its replies go.

        `seen` are the revisions of which it must have one: else raise `Stale`.

        >>> job = await store.jobs.update(job.id, JobChange(prompt="Will it snow?"))
        """
        target = checked_type(change, "change", JobChange).target
        if target is not None:
            change = replace(change, target=await reveal_targets(self._db, target))
        return await self._db.write(
            jobs.change_job,
            checked_job_id(id),
            change,
            _checked(asker),
            platforms=platforms,
            seen=seen,
            by=by,
        )

    async def pause(
        self, id: JobId, asker: Viewer | None = None, *, by: Actor | None = None
    ) -> Job:
        """Pause a job; a run that has begun goes on.

        >>> job = await store.jobs.pause(job.id)
        """
        return await self._db.write(jobs.pause_job, checked_job_id(id), _checked(asker), by=by)

    async def resume(
        self, id: JobId, asker: Viewer | None = None, *, by: Actor | None = None
    ) -> Job:
        """Resume a job; the runs that it missed are not made up for.

        >>> job = await store.jobs.resume(job.id)
        """
        return await self._db.write(jobs.resume_job, checked_job_id(id), _checked(asker), by=by)

    async def run(
        self,
        id: JobId,
        asker: Viewer | None = None,
        *,
        platforms: Collection[str] | None = None,
        by: Actor | None = None,
    ) -> JobStart:
        """Start a job at once, whatever its schedule says.

        >>> start = await store.jobs.run(job.id)
        """
        return await self._db.write(
            job_runs.run_now, checked_job_id(id), _checked(asker), platforms=platforms, by=by
        )

    async def runs(
        self,
        id: JobId,
        asker: Viewer | None = None,
        *,
        before: int = COUNT_LIMIT,
        most: int = 20,
    ) -> Sequence[JobRun]:
        """Return the latest runs of a job, the newest first, or those before one of them.

        >>> [run.state.value for run in await store.jobs.runs(job.id)]
        ['running']
        """
        return await self._db.read(
            jobs.list_runs,
            checked_job_id(id),
            _checked(asker),
            before=checked_count(before, "run"),
            most=min(checked_count(most, "number of runs", 1), LARGEST_PAGE),
        )

    async def list_due(self) -> Sequence[JobId]:
        """Return jobs that are due, those that have waited longest first.

        >>> await store.jobs.list_due()
        []
        """
        return await self._db.read(job_runs.list_due_jobs, most=_SLICE)

    async def start_due(
        self,
        id: JobId,
        *,
        platforms: Collection[str] | None = None,
    ) -> JobStart | None:
        """Start a job that is due; None if another process was quicker, or it is paused by now.

        >>> await store.jobs.start_due(job.id) is None
        True
        """
        return await self._db.write(job_runs.start_due, checked_job_id(id), platforms=platforms)

    async def close_runs(self) -> int:
        """Record how runs have ended, and copy their replies to their targets; return how many.

        >>> await store.jobs.close_runs()
        0
        """
        return await job_runs.close_runs(self._db)

    async def delete(
        self,
        id: JobId,
        asker: Viewer | None = None,
        *,
        seen: Seen | None = None,
        by: Actor | None = None,
    ) -> Job:
        """Delete a job and the record of its runs; their sessions stay.

        >>> job = await store.jobs.delete(job.id)
        """
        return await self._db.write(
            jobs.delete_job, checked_job_id(id), _checked(asker), seen=seen, by=by
        )

    __call__ = list  # noqa: A003 - what it is called by until its callers read from the database


def _checked(asker: Viewer | None) -> Viewer:
    return Viewer.owner() if asker is None else checked_type(asker, "asker", Viewer)
