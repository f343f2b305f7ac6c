"""The readers: a few threads that answer queries, each from one consistent state."""

import queue
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import apsw

from threadline.database.availability import FaultReport
from threadline.database.sqlite.connection import SqliteTransaction, translate
from threadline.database.thread_calls import ThreadCall

READERS = 3


class Readers:
    """Runs queries on up to three connections; a thread is started when it is first needed."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        path: Path,
        *,
        answer: Callable[[Iterable[ThreadCall[object]]], None],
        trouble: FaultReport,
    ) -> None:
        """Begin without any thread."""
        self._trouble = trouble
        self._connect = connect
        self._path = path
        self._answer = answer
        self._jobs: queue.SimpleQueue[ThreadCall[object] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._idle = threading.Semaphore(0)

    def submit(self, job: ThreadCall[object]) -> None:
        """Put a query into the line. Only the event loop's thread calls this."""
        self._jobs.put(job)
        if not self._idle.acquire(blocking=False) and len(self._threads) < READERS:
            thread = threading.Thread(
                target=self._run, name=f"threadline-reader-{len(self._threads)}", daemon=True
            )
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Finish what waits, then end the threads and their connections."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        connection: apsw.Connection | None = None
        tx: SqliteTransaction | None = None
        while (job := self._jobs.get()) is not None:
            if job.start():
                try:
                    if self._trouble.misplaced is not None:
                        raise self._trouble.misplaced
                    connection = connection or self._connect()
                    # It remembers the columns of each query, so it lasts as long as the thread.
                    tx = tx or SqliteTransaction(connection)
                    self._look(connection, tx, job)
                except Exception as error:  # noqa: BLE001 - becomes the answer to its caller
                    job.error = (
                        translate(error, self._path) if isinstance(error, apsw.Error) else error
                    )
                    self._trouble.note(job.error)
                self._answer([job])
            self._idle.release()
        if connection is not None:
            connection.close()

    @staticmethod
    def _look(connection: apsw.Connection, tx: SqliteTransaction, job: ThreadCall[object]) -> None:
        connection.execute("BEGIN")
        try:
            job.run(tx)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
