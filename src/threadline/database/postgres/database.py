"""The database port on PostgreSQL."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

import psycopg

from threadline.core.errors import StorageError
from threadline.core.turn import OwnerId
from threadline.database.availability import FaultReport
from threadline.database.installation_secret import read_secret, secret_file
from threadline.database.notifier import CommitNotifier, CommitWatch
from threadline.database.port import Environment, Finding, Transaction
from threadline.database.postgres.backup import back_up
from threadline.database.postgres.check import check_database
from threadline.database.postgres.connection import ConnectionTarget
from threadline.database.postgres.errors import translate, unreachable
from threadline.database.postgres.listener import NotificationListener
from threadline.database.postgres.process_locks import dead, new_owner, share_store_lock
from threadline.database.postgres.schema import upgrade_through
from threadline.database.postgres.secure_delete import vacuum
from threadline.database.postgres.workers import WorkerPool
from threadline.database.thread_calls import CallQueue, ThreadCall

P = ParamSpec("P")
T = TypeVar("T")

DEADLINE_SECONDS = 30.0


class PostgresDatabase:
    """One database of a server, shared by processes on any number of machines."""

    def __init__(
        self,
        url: str,
        *,
        deadline_seconds: float = DEADLINE_SECONDS,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        """Name the database; `open` connects to it."""
        self._target = ConnectionTarget(url, patience_seconds=deadline_seconds)
        self._clock = clock
        self._owner = new_owner()
        self.environment = Environment(clock=self.now)
        self._desk = CallQueue(deadline_seconds, self.environment)
        self._bell = CommitNotifier()
        self._deaths = CommitNotifier()
        self._trouble = FaultReport()

    async def open(self) -> None:
        """Connect, bring the schema up to date and start to listen."""
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        try:
            connection = self._target.connect()
        except psycopg.Error as error:
            raise unreachable(error, self._target) from error
        try:
            share_store_lock(connection)
            upgrade_through(connection, self._target.where, datetime.now(UTC))
            self._target.remember(connection)
            self._listener = NotificationListener(
                connection,
                self._target,
                self._owner,
                heard=self._ring,
                died=lambda: self._desk.answer((), self._deaths.ring),
                trouble=self._trouble,
            )
        except psycopg.errors.LockNotAvailable as error:
            connection.close()
            raise StorageError(
                "The database is being restored or upgraded", id=self._target.where, hint="Wait"
            ) from error
        except psycopg.Error as error:
            connection.close()
            raise translate(error, self._target) from error
        except BaseException:
            connection.close()
            raise
        self._workers = WorkerPool(self._target, answer=self._answer)

    @property
    def owner(self) -> OwnerId:
        """Who this process is, for the leases it takes."""
        return self._owner

    @property
    def trouble(self) -> StorageError | None:
        """Why the database cannot be relied on, or None."""
        return self._trouble.error

    def now(self) -> datetime:
        """Tell the time by the server's clock."""
        return self._clock() if self._clock is not None else self._listener.clock.now()

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a verb in one transaction; return after its commit is on disk."""
        job = self._desk.job(verb, *args, **kwargs)
        self._workers.submit(cast("ThreadCall[object]", job), writes=True)
        return await job.outcome()

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query that sees one consistent state of the whole store."""
        job = self._desk.job(query, *args, **kwargs)
        self._workers.submit(cast("ThreadCall[object]", job), writes=False)
        return await job.outcome()

    def watch(self) -> AbstractContextManager[CommitWatch]:
        """Begin to notice commits."""
        return self._bell.watch()

    def deaths(self) -> AbstractContextManager[CommitWatch]:
        """Begin to notice that other processes which had the store open are gone."""
        return self._deaths.watch()

    async def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
        """Answer those of these owners whose process is certainly gone."""
        others = owners - {self._owner}
        return await self.read(dead, others) if others else others

    async def check(self, *, deep: bool = False) -> list[Finding]:
        """Look for damage; deep looks at every index."""
        return await asyncio.to_thread(check_database, self._target, deep=deep)

    async def wipe(self) -> bool:
        """Let the server take dead rows out of its tables and indexes."""
        return await asyncio.to_thread(vacuum, self._target)

    async def back_up(
        self, to: Path, *, replace: bool = False, told: Callable[[int, int], None] | None = None
    ) -> None:
        """Copy all tables, as they are at one moment, into a SQLite file."""
        told = told or (lambda _done, _whole: None)
        await asyncio.to_thread(
            back_up, self._target, to, replace=replace, now=self.now(), told=told
        )

    async def secret(self) -> bytes:
        """Answer the secret of this installation, from a file in the user's own folder."""
        return await asyncio.to_thread(read_secret, secret_file(self._target.where))

    async def close(self) -> None:
        """Finish what was begun and let go of everything."""
        if self._desk.close():
            self._bell.close()
            self._deaths.close()
            await asyncio.to_thread(self._stop)
        # The threads' last answers are on their way to this loop.
        await asyncio.sleep(0)

    def _stop(self) -> None:
        self._workers.close()
        self._listener.close()

    def _answer(self, job: ThreadCall[object], has_written: bool) -> None:  # noqa: FBT001 - a callback
        if job.error is not None:
            self._trouble.note(job.error)
        if has_written:
            self._desk.answer([job], self._bell.ring)
            self._listener.announce()
        else:
            self._desk.answer([job])

    def _ring(self) -> None:
        self._desk.answer((), self._bell.ring)
