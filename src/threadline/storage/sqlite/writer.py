"""The writer: one thread that commits the waiting verbs together."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import apsw

from threadline.core.errors import StorageError, ThreadlineError
from threadline.storage.jobs import Job
from threadline.storage.sqlite.connection import SqliteTransaction, translate

BATCH_VERBS = 64
BATCH_SECONDS = 0.020
PAUSE_FOR_PEERS = 0.001
_BUSY_NAP = 0.002


class Writer:
    """Runs verbs one after the other on one connection and answers only after their commit.

    A batch is all or nothing. Where it fails as a whole, nobody has been answered, and its verbs
    run again one by one, so that only those which fail alone raise an error.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        *,
        answer: Callable[[Iterable[Job[object]], bool], None],
        has_peers: Callable[[], bool],
    ) -> None:
        """Start the thread. The answer is told whether anything was changed."""
        self._connection = connection
        self._path = path
        self._tx = SqliteTransaction(connection)
        self._answer = answer
        self._has_peers = has_peers
        self._jobs: queue.SimpleQueue[Job[object] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="threadline-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Job[object]) -> None:
        """Put a verb into the line."""
        self._jobs.put(job)

    def close(self) -> None:
        """Finish what waits, then end the thread and its connection."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            batch: list[Job[object]] = []
            changes = self._connection.total_changes()
            try:
                self._commit(job, batch)
            except Exception as error:  # noqa: BLE001 - whatever it is, its callers must hear of it
                self._retry(batch, error)
            self._answer(batch, self._connection.total_changes() != changes)
            if self._has_peers():
                # SQLite's wait for a lock is unfair: without a pause the other process starves.
                time.sleep(PAUSE_FOR_PEERS)
        self._connection.close()

    def _commit(self, first: Job[object], batch: list[Job[object]]) -> None:
        """Run the first job and what waits behind it in one transaction."""
        if not self._begin(first, batch):
            return
        over = time.monotonic() + BATCH_SECONDS
        job: Job[object] | None = first
        is_fenced = False
        while job is not None:
            batch.append(job)
            if is_fenced:
                self._run_fenced(job)
            elif not self._run_freely(job):
                is_fenced = True
                self._run_again(batch)
            is_full = len(batch) == BATCH_VERBS or time.monotonic() >= over
            job = None if is_full else self._next()
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")

    def _next(self) -> Job[object] | None:
        """Take the next job that was not withdrawn; None if no other waits."""
        while not self._jobs.empty():
            job = self._jobs.get()
            if job is None:
                # The sign to end stays in the line for the outer loop.
                self._jobs.put(None)
                return None
            if job.start():
                return job
        return None

    def _begin(self, first: Job[object], batch: list[Job[object]]) -> bool:
        """Begin a transaction for a job; False if it was withdrawn while another process wrote."""
        try:
            self._lock(first)
        except (StorageError, apsw.Error):
            # Its caller must be answered also when the transaction cannot even begin.
            if first.start():
                batch.append(first)
            raise
        if first.start():
            return True
        self._abandon()
        return False

    def _lock(self, job: Job[object]) -> None:
        """Wait for other processes until the job is late."""
        while not job.is_late():
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                time.sleep(_BUSY_NAP)
            else:
                return
        raise StorageError(
            "Another process held the database for too long; nothing was stored",
            id=str(self._path),
            hint="Try again, or end that process",
        )

    def _run_freely(self, job: Job[object]) -> bool:
        """Run a verb; False if it failed and left something behind."""
        changes = self._connection.total_changes()
        try:
            job.run(self._tx)
        except ThreadlineError as error:
            job.error = error
            return self._connection.total_changes() == changes
        return True

    def _run_fenced(self, job: Job[object]) -> None:
        """Run a verb so that its own error undoes it and nothing else."""
        self._connection.execute("SAVEPOINT verb")
        try:
            job.run(self._tx)
        except ThreadlineError as error:
            job.error = error
            self._connection.execute("ROLLBACK TO verb")
        self._connection.execute("RELEASE verb")

    def _run_again(self, batch: Sequence[Job[object]]) -> None:
        """Run a batch from its beginning on, its verbs fenced off from each other.

        Few verbs fail after they have written, so that a fence around each would cost more.
        """
        self._abandon()
        self._lock(batch[0])
        for job in batch:
            self._run_fenced(job)

    def _abandon(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _retry(self, batch: list[Job[object]], error: Exception) -> None:
        """Run the verbs of a failed batch again, each in a transaction of its own."""
        is_own_fault = len(batch) == 1 and not isinstance(error, apsw.Error)
        for job in batch:
            try:
                self._abandon()
                if is_own_fault:
                    raise error
                self._lock(job)
                job.run(self._tx)
                self._connection.execute("COMMIT")
            except apsw.Error as failure:
                job.error = translate(failure, self._path)
            except Exception as failure:  # noqa: BLE001 - becomes the answer to its caller
                job.error = failure
        self._settle()

    def _settle(self) -> None:
        """Leave no transaction open; the next verb finds out if that is impossible."""
        with suppress(apsw.Error):
            self._abandon()
