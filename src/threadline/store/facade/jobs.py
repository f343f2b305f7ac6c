"""Jobs: jobs, their runs, and what is sent to a target by hand."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from threadline.core.account import Actor
from threadline.core.job import Job, JobId, JobRun, NewJob, checked_job_id
from threadline.core.person import Viewer
from threadline.core.revision import Seen
from threadline.core.validation import COUNT_LIMIT, checked_count, checked_type
from threadline.store.deliveries import targets
from threadline.store.facade.context import ContextMethods
from threadline.store.jobs import job_runs, jobs
from threadline.store.jobs.job_runs import JobStart
from threadline.store.jobs.jobs import JobChange, JobSight
from threadline.store.queries import LARGEST_PAGE
from threadline.store.turns.pseudonyms import reveal_targets

_SLICE = 50


class JobMethods(ContextMethods):
    """Jobs, for whoever asks; the owner of the installation where nobody is named."""

    async def make_job(
        self,
        new: NewJob,
        asker: Viewer | None = None,
        *,
        platforms: Collection[str] | None = None,
    ) -> Job:
        """Make a job in the name of whoever asks."""
        new = checked_type(new, "job", NewJob)
        return await self._db.write(
            jobs.make_job,
            replace(new, target=await reveal_targets(self._db, new.target)),
            _checked(asker),
            platforms=platforms,
        )

    async def change_job(
        self,
        id: JobId,
        change: JobChange,
        asker: Viewer | None = None,
        *,
        platforms: Collection[str] | None = None,
        seen: Seen | None = None,
        by: Actor | None = None,
    ) -> Job:
        """Let a job ask something else, at other times, or for others.

        `seen` are the revisions of which it must have one: else it is `Stale`.
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

    async def pause_job(
        self, id: JobId, asker: Viewer | None = None, *, by: Actor | None = None
    ) -> Job:
        """Let a job rest; what has begun goes on."""
        return await self._db.write(jobs.pause_job, checked_job_id(id), _checked(asker), by=by)

    async def resume_job(
        self, id: JobId, asker: Viewer | None = None, *, by: Actor | None = None
    ) -> Job:
        """Let a job go on; what it missed meanwhile is not made up for."""
        return await self._db.write(jobs.resume_job, checked_job_id(id), _checked(asker), by=by)

    async def delete_job(
        self,
        id: JobId,
        asker: Viewer | None = None,
        *,
        seen: Seen | None = None,
        by: Actor | None = None,
    ) -> Job:
        """Delete a job, and what is known of its runs; their sessions stay."""
        return await self._db.write(
            jobs.delete_job, checked_job_id(id), _checked(asker), seen=seen, by=by
        )

    async def run_job(
        self,
        id: JobId,
        asker: Viewer | None = None,
        *,
        platforms: Collection[str] | None = None,
        by: Actor | None = None,
    ) -> JobStart:
        """Start a job at once, whatever its schedule says."""
        return await self._db.write(
            job_runs.run_now, checked_job_id(id), _checked(asker), platforms=platforms, by=by
        )

    async def job(self, id: JobId, asker: Viewer | None = None) -> Job:
        """Read a job."""
        return await self._db.read(jobs.see_job, checked_job_id(id), _checked(asker))

    async def any_job(self, id: JobId) -> Job:
        """Read a job of whatever profile, as a scheduler does."""
        return await self._db.read(jobs.read_job, checked_job_id(id))

    async def jobs_seen_by(self, askers: Collection[Viewer], ids: Collection[JobId]) -> JobSight:
        """Name those of some jobs that are there, and what each of many askers may see of them."""
        return await self._db.read(
            jobs.list_jobs_seen_by,
            [checked_type(asker, "asker", Viewer) for asker in askers],
            [checked_job_id(id) for id in ids],
        )

    async def job_runs(
        self,
        id: JobId,
        asker: Viewer | None = None,
        *,
        before: int = COUNT_LIMIT,
        most: int = 20,
    ) -> Sequence[JobRun]:
        """List the latest runs of a job, the newest first, or those before one of them."""
        return await self._db.read(
            jobs.list_runs,
            checked_job_id(id),
            _checked(asker),
            before=checked_count(before, "run"),
            most=min(checked_count(most, "number of runs", 1), LARGEST_PAGE),
        )

    async def known_platforms(self) -> frozenset[str]:
        """Name the platforms that a gateway serves, or that anybody ever came from."""
        return await self._db.read(targets.known_platforms)


def _checked(asker: Viewer | None) -> Viewer:
    return Viewer.owner() if asker is None else checked_type(asker, "asker", Viewer)
