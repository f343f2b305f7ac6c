"""The workers: a few threads that carry out verbs and queries, each on a connection of its own."""

import asyncio
import queue
import random
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

import psycopg
from msgspec import Struct
from psycopg.pq import TransactionStatus

from threadline.core.errors import StorageError, ThreadlineError
from threadline.database.postgres.connection import ConnectionTarget
from threadline.database.postgres.errors import (
    AGAIN,
    Commit,
    history_of,
    is_committed,
    is_lost,
    translate,
    unknown,
    unreachable,
)
from threadline.database.postgres.transaction import PostgresTransaction
from threadline.database.thread_calls import ThreadCall

WORKERS = 24
"""Enough to keep a disk busy while it syncs; many more only wait for each other and the loop."""
PATIENCE = 0.010
"""Seconds that an order waits for one of the threads at work before it gets a new one."""
ATTEMPTS = 5
LOOK_SECONDS = 5.0
"""How long the outcome of a commit is looked for at least, once its connection was lost."""
_JITTER = 0.010
_NAPS = (0.0, 0.02, 0.05, 0.1, 0.25)

_READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED"


class WorkerCall(Struct, frozen=True):
    """A job, and whether it may write."""

    job: ThreadCall[object]
    writes: bool


Tray: TypeAlias = queue.SimpleQueue[WorkerCall | None]
"""Where one thread gets its orders; None ends it."""


class WorkerPool:
    """Runs orders on up to two dozen threads; one more is started for an order that had to wait.

    Of those who are idle, the last one to have worked gets the next order: its connection has
    the queries prepared. A new connection has to prepare them all again, and costs more than most
    orders do, so a burst of short ones is left to those who are there.
    """

    def __init__(
        self, target: ConnectionTarget, *, answer: Callable[[ThreadCall[object], bool], None]
    ) -> None:
        """Begin without any thread. The answer is told whether something was committed."""
        self._target = target
        self._answer = answer
        self._lock = threading.Lock()
        self._line: deque[WorkerCall] = deque()
        self._idle: list[Tray] = []
        self._threads: list[tuple[threading.Thread, Tray]] = []
        self._closing = threading.Event()

    def submit(self, job: ThreadCall[object], *, writes: bool) -> None:
        """Hand an order to a thread, or put it into the line. Only the event loop calls this."""
        order = WorkerCall(job, writes)
        with self._lock:
            if self._idle:
                self._idle.pop().put(order)
            elif not self._threads:
                self._start(order)
            else:
                self._line.append(order)
                if len(self._threads) < WORKERS:
                    asyncio.get_running_loop().call_later(PATIENCE, self._relieve)

    def close(self) -> None:
        """Finish what waits, then end the threads and their connections."""
        with self._lock:
            self._closing.set()
        for _, tray in self._threads:
            tray.put(None)
        for thread, _ in self._threads:
            thread.join()

    def _relieve(self) -> None:
        """Start a thread for who still waits."""
        with self._lock:
            if self._line and len(self._threads) < WORKERS and not self._closing.is_set():
                self._start(self._line.popleft())

    def _start(self, order: WorkerCall) -> None:
        tray = Tray()
        tray.put(order)
        name = f"threadline-worker-{len(self._threads)}"
        thread = threading.Thread(target=self._run, args=(tray,), name=name, daemon=True)
        self._threads.append((thread, tray))
        thread.start()

    def _run(self, tray: Tray) -> None:
        worker = ConnectionWorker(self._target, self._closing)
        while (order := tray.get()) is not None:
            while order is not None:
                job = order.job
                has_started = job.start()
                has_written = has_started and worker.carry_out(order)
                # Before the answer: who hears it and asks again finds this thread, not a new one.
                order = self._next(tray)
                if has_started:
                    self._answer(job, has_written)
        worker.disconnect()

    def _next(self, tray: Tray) -> WorkerCall | None:
        """Take the first order of the line; if there is none, wait with the others."""
        with self._lock:
            if self._line:
                return self._line.popleft()
            self._idle.append(tray)
            return None


class ConnectionWorker:
    """One connection that heals by itself, and the rules by which an order is tried again."""

    def __init__(self, target: ConnectionTarget, closing: threading.Event) -> None:
        """Begin without a connection."""
        self._target = target
        self._closing = closing
        self._tx: PostgresTransaction | None = None
        self._history = ""

    def carry_out(self, order: WorkerCall) -> bool:
        """Run an order until it succeeds or fails for good; tell whether it changed anything."""
        job, attempt = order.job, 0
        if job.is_late():
            job.error = StorageError(
                "The database was busy for too long; nothing was done",
                id=self._target.where,
                hint="Try again",
            )
            return False
        while True:
            attempt += 1
            try:
                return self._try_out(order)
            except psycopg.Error as error:
                job.error = self._verdict(error, attempt, job)
            except Exception as error:  # noqa: BLE001 - becomes the answer to its caller
                job.error = error
                self._roll_back()
            if job.error is not None:
                return False

    def _try_out(self, order: WorkerCall) -> bool:
        tx = self._connected()
        tx.has_written = False
        if order.writes:
            tx.command(_WRITE)
            order.job.run(tx)
            self._commit(tx, order.job)
        else:
            tx.command(_READ)
            order.job.run(tx)
            tx.command(b"COMMIT")
        return tx.has_written

    def _commit(self, tx: PostgresTransaction, job: ThreadCall[object]) -> None:
        """Commit; if the response is lost, look up what came of it.

        An error of PostgreSQL means that nothing was stored, and the order may run again.
        """
        id = tx.transaction_id()
        try:
            answer = tx.command(b"COMMIT")
        except psycopg.Error as error:
            if not is_lost(tx.connection, error):
                raise
            self.disconnect()
            if id is None:
                raise  # Nothing was written, so nothing can have been stored.
            commit = Commit(id=id, history=self._history)
            deadline = max(job.deadline, time.monotonic() + LOOK_SECONDS)
            found = is_committed(commit, self._target, deadline=deadline)
            if found is None:
                raise unknown(self._target) from error
            if not found:
                raise
        else:
            if answer != "COMMIT":
                raise StorageError(
                    "The verb went on after one of its queries had failed; nothing was stored",
                    id=self._target.where,
                )

    def _connected(self) -> PostgresTransaction:
        if self._tx is None or self._tx.connection.closed:
            connection = self._target.connect()
            try:
                self._history = history_of(connection)
            except psycopg.Error:
                connection.close()
                raise
            self._tx = PostgresTransaction(connection)
        return self._tx

    def _verdict(
        self, error: psycopg.Error, attempt: int, job: ThreadCall[object]
    ) -> ThreadlineError | None:
        """Say what an error means for its caller; None: it is tried again."""
        if self._tx is None or is_lost(self._tx.connection, error):
            self.disconnect()
            if job.is_late() or self._closing.is_set():
                return unreachable(error, self._target)
            time.sleep(_NAPS[min(attempt, len(_NAPS)) - 1])
            return None
        self._roll_back()
        if error.sqlstate in AGAIN and attempt < ATTEMPTS:
            time.sleep(random.uniform(0, _JITTER * attempt))  # noqa: S311 - no secret
            return None
        return translate(error, self._target)

    def _roll_back(self) -> None:
        if self._tx is None or self._tx.connection.closed:
            return
        connection = self._tx.connection
        try:
            if connection.info.transaction_status is not TransactionStatus.IDLE:
                self._tx.command(b"ROLLBACK")
        except psycopg.Error:
            # What could not be undone goes with its connection.
            self.disconnect()

    def disconnect(self) -> None:
        """Let go of the connection."""
        if self._tx is not None:
            self._tx.connection.close()
            self._tx = None
