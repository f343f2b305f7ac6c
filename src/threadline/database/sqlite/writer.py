"""The writer: one thread that commits the waiting verbs together."""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import apsw

from threadline.core.errors import Misplaced, StorageError, ThreadlineError
from threadline.database.availability import FaultReport
from threadline.database.sqlite.connection import CHECKPOINT_PAGES, SqliteTransaction, translate
from threadline.database.sqlite.file_identity import FileIdentity
from threadline.database.thread_calls import ThreadCall

BATCH_VERBS = 64
BATCH_SECONDS = 0.020
PAUSE_FOR_PEERS = 0.001
LOG_LIMIT_PAGES = 2 * CHECKPOINT_PAGES
"""Pages in the log at which the writer waits for readers, so that it can begin again."""
READERS_PATIENCE_MS = 100
IDLE_SECONDS = 1.0
IDLE_LOG_BYTES = 2**20
"""A longer log is emptied when nothing is written for a while."""
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
        answer: Callable[[Iterable[ThreadCall[object]], bool], None],
        has_peers: Callable[[], bool],
        entries: FileIdentity | None,
        trouble: FaultReport,
    ) -> None:
        """Start the thread. The answer is told whether anything was changed.

        Nothing is answered as stored unless the `entries` are still those of the open file.
        """
        self._entries = entries
        self._trouble = trouble
        self._log_pages = self._tried_pages = 0
        connection.set_wal_hook(self._count_log)
        self._connection = connection
        self._path = path
        self._tx = SqliteTransaction(connection)
        self._answer = answer
        self._has_peers = has_peers
        self._jobs: queue.SimpleQueue[ThreadCall[object] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="threadline-writer", daemon=True)
        self._thread.start()

    def submit(self, job: ThreadCall[object]) -> None:
        """Put a verb into the line."""
        self._jobs.put(job)

    def close(self) -> None:
        """Finish what waits, then end the thread and its connection."""
        self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (job := self._next_or_idle()) is not None:
            batch: list[ThreadCall[object]] = []
            changes = self._connection.total_changes()
            try:
                self._commit(job, batch)
            except Exception as error:  # noqa: BLE001 - whatever it is, its callers must hear of it
                self._retry(batch, error)
            self._answer(batch, self._connection.total_changes() != changes)
            self._keep_log_short()
            if self._has_peers():
                # SQLite's wait for a lock is unfair: without a pause the other process starves.
                time.sleep(PAUSE_FOR_PEERS)
        self._connection.close()

    def _commit(self, first: ThreadCall[object], batch: list[ThreadCall[object]]) -> None:
        """Run the first job and what waits behind it in one transaction."""
        if not self._begin(first, batch):
            return
        over = time.monotonic() + BATCH_SECONDS
        job: ThreadCall[object] | None = first
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
        self._require_place()

    def _next_or_idle(self) -> ThreadCall[object] | None:
        """Wait for the next job; None ends the thread. A long log is emptied while none comes."""
        while True:
            try:
                return self._jobs.get(timeout=IDLE_SECONDS)
            except queue.Empty:
                if self._entries is not None and self._entries.log_size() > IDLE_LOG_BYTES:
                    self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def _count_log(self, _: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _keep_log_short(self) -> None:
        """Copy the log into the file once it is long; insist when readers keep it from restarting.

        Called after the batch was answered, so that nobody waits for it.
        """
        if self._log_pages < CHECKPOINT_PAGES:
            self._tried_pages = 0
        elif self._log_pages >= self._tried_pages + CHECKPOINT_PAGES:
            self._tried_pages = self._log_pages
            if self._log_pages < LOG_LIMIT_PAGES:
                self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)
            else:
                self._connection.set_busy_timeout(READERS_PATIENCE_MS)
                self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)
                self._connection.set_busy_timeout(0)

    def _checkpoint(self, mode: int) -> None:
        try:
            self._connection.wal_checkpoint(mode=mode)
        except apsw.BusyError:
            return  # A reader or another process is at work; the log grows on for now.
        except apsw.Error as error:
            self._trouble.note(translate(error, self._path))
            return
        if mode == apsw.SQLITE_CHECKPOINT_TRUNCATE:
            self._log_pages = self._tried_pages = 0

    def _require_place(self) -> None:
        """Raise `Misplaced` if what was just written cannot be found again."""
        if self._entries is None:
            return
        try:
            self._entries.require()
        except Misplaced as error:
            if self._trouble.misplaced is None and self._entries.is_file_in_place():
                # What was stored before is still in the open log, and reaches the file this way.
                self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)
            self._trouble.note(error)
            raise

    def _next(self) -> ThreadCall[object] | None:
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

    def _begin(self, first: ThreadCall[object], batch: list[ThreadCall[object]]) -> bool:
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

    def _lock(self, job: ThreadCall[object]) -> None:
        """Wait for other processes until the job is late."""
        self._require_place()
        while True:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except apsw.BusyError as error:
                # Only now: a job that a busy machine began late is not the fault of others.
                if job.is_late():
                    raise StorageError(
                        "Another process held the database for too long; nothing was stored",
                        id=str(self._path),
                        hint="Try again, or end that process",
                    ) from error
                time.sleep(_BUSY_NAP)
            else:
                return

    def _run_freely(self, job: ThreadCall[object]) -> bool:
        """Run a verb; False if it failed and left something behind."""
        changes = self._connection.total_changes()
        try:
            job.run(self._tx)
        except ThreadlineError as error:
            job.error = error
            return self._connection.total_changes() == changes
        return True

    def _run_fenced(self, job: ThreadCall[object]) -> None:
        """Run a verb so that its own error undoes it and nothing else."""
        self._connection.execute("SAVEPOINT verb")
        try:
            job.run(self._tx)
        except ThreadlineError as error:
            job.error = error
            self._connection.execute("ROLLBACK TO verb")
        self._connection.execute("RELEASE verb")

    def _run_again(self, batch: Sequence[ThreadCall[object]]) -> None:
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

    def _retry(self, batch: list[ThreadCall[object]], error: Exception) -> None:
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
                self._require_place()
            except apsw.Error as failure:
                job.error = translate(failure, self._path)
                self._trouble.note(job.error)
            except Exception as failure:  # noqa: BLE001 - becomes the answer to its caller
                job.error = failure
        self._settle()

    def _settle(self) -> None:
        """Leave no transaction open; the next verb finds out if that is impossible."""
        with suppress(apsw.Error):
            self._abandon()
