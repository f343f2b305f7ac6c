"""The scheduler: starts jobs when their time has come, and sees to what becomes of them."""

import asyncio
import logging
from collections.abc import Collection
from datetime import timedelta

from threadline.core.access_level import AccessLevel
from threadline.core.account import member_of
from threadline.core.address import Sender
from threadline.core.delivery import LOCAL
from threadline.core.errors import NotFound, StorageError, sentence_of
from threadline.core.event import Event, EventKind
from threadline.core.job import JobId
from threadline.core.turn import TurnId
from threadline.database.port import Database
from threadline.gateway.access import Access
from threadline.gateway.feed_consumer import follow_feed
from threadline.gateway.intervals import NO_STORAGE, attempt
from threadline.gateway.metrics import Metrics
from threadline.store.feed import feed_end
from threadline.store.jobs.job_runs import (
    JobStart,
    close_runs,
    fail_due,
    list_due_jobs,
    list_running,
    start_due,
)
from threadline.store.jobs.jobs import next_job_due, read_job

log = logging.getLogger("threadline.gateway")

LOOK_AT_LEAST = timedelta(minutes=1)
"""How long the scheduler sleeps at the most."""
_BREATH = timedelta(milliseconds=10)
"""How long it rests at the least, so that a clock that stands still does not keep it busy."""
_NOT_ADMITTED = "Whoever made this job may not speak any more."
_NO_ADMIN = "Its answers go elsewhere, and whoever made it is no admin any more."
_ENDED = frozenset({EventKind.TURN_DONE, EventKind.TURN_FAILED, EventKind.TURN_STOPPED})
_JOBS_AT_ONCE = 50


class Scheduler:
    """Runs the jobs of a store. Any number of them may work on one store: each run starts once.

    It sleeps until the next job is due, and is woken by the feed when jobs change or runs end. A
    job that cannot be started gets a run that says why, and harms no other.
    """

    def __init__(
        self,
        database: Database,
        *,
        platforms: Collection[str],
        access: Access | None = None,
        meters: Metrics | None = None,
        starts_jobs: bool = True,
    ) -> None:
        """Work on a store, for a gateway with these platforms, which may become others.

        With access, the jobs of those who may not speak any more do not run. Without `starts_jobs`
        it closes runs that have ended, and leaves the jobs to other gateways.
        """
        self._db = database
        self._platforms = platforms
        self._access = access
        self._meters = meters
        self._starts_jobs = starts_jobs
        self._running: set[TurnId] = set()
        self._wake = asyncio.Event()

    async def run(self) -> None:
        """Work until cancelled; what came due while nobody was there is made up for first."""
        cursor = await self._db.read(feed_end)
        async with asyncio.TaskGroup() as group:
            group.create_task(follow_feed(self._db, cursor, self._notice, self._wake.set))
            while True:
                self._wake.clear()
                if await attempt(self.look):
                    await self._sleep()
                else:
                    await asyncio.sleep(NO_STORAGE.total_seconds())

    async def look(self) -> None:
        """Do all that is due now: close the runs that have ended, and start jobs."""
        await close_runs(self._db)
        while self._starts_jobs and (due := await self._db.read(list_due_jobs, most=_JOBS_AT_ONCE)):
            for job_id in due:
                await self._start(job_id)
        self._running = set(await self._db.read(list_running))

    async def _start(self, id: JobId) -> None:
        try:
            begun = await self._begin(id)
        except StorageError:
            raise  # Nothing is wrong with the job, and it is due as long as it takes.
        except Exception as error:
            log.exception("Job %s could not be started", id)
            begun = await self._db.write(fail_due, id, sentence_of(error))
        if begun is None:
            return  # Somebody was quicker.
        if self._meters is not None:
            self._meters.job_was_due(begun.state)
        if begun.turn_id is None:
            log.info("Job %s did not run: %s", id, begun.why)

    async def _begin(self, id: JobId) -> JobStart | None:
        why = await self._why_not(id)
        if why is not None:
            return await self._db.write(fail_due, id, why)
        return await self._db.write(start_due, id, platforms=frozenset({*self._platforms, LOCAL}))

    async def _why_not(self, id: JobId) -> str | None:
        """Say why a job may not run; None: it may."""
        if self._access is None:
            return None
        try:
            job = await self._db.read(read_job, id)
        except NotFound:
            return None
        if job.maker is None or job.address is None:
            return None  # The owner made it.
        if job.address.platform == LOCAL and member_of(LOCAL, job.maker.id) is None:
            return None  # So it is at the terminal; members have a name of their own there.
        maker = Sender(id=job.maker.id)
        asked = self._access.again(job.address, maker, job.profile, job.voucher)
        rank = await self._access.rank(asked)
        if not rank.may(AccessLevel.MEMBER):
            return _NOT_ADMITTED
        return _NO_ADMIN if job.needs_admin and not rank.may(AccessLevel.ADMIN) else None

    async def _notice(self, event: Event) -> None:
        """Wake up when jobs change, and when a run ends that is under way."""
        is_ours = event.kind in _ENDED and TurnId(event.subject or 0) in self._running
        if is_ours or event.kind is EventKind.JOB_CHANGED:
            self._wake.set()

    async def _sleep(self) -> None:
        try:
            due_at = await self._db.read(next_job_due) if self._starts_jobs else None
        except StorageError as error:
            log.warning("Trying again later: %s", error)
            due_at = None
        span = LOOK_AT_LEAST
        if due_at is not None:
            span = min(max(due_at - self._db.now(), _BREATH), LOOK_AT_LEAST)
        try:
            async with asyncio.timeout(span.total_seconds()):
                await self._wake.wait()
        except TimeoutError:
            return
