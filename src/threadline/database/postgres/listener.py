"""The listener: a thread that hears of other processes' commits, and tells them of ours."""

import itertools
import os
import select
import threading
import time
from collections.abc import Callable

import psycopg

from threadline.core.errors import StorageError
from threadline.core.turn import OwnerId
from threadline.database.availability import FaultReport
from threadline.database.postgres.clock import ServerClock
from threadline.database.postgres.connection import ConnectionTarget, Raw, server_process
from threadline.database.postgres.process_locks import declare_alive, list_present

CHANNEL = "threadline"
NOTIFY_EVERY = 0.020
"""At most 50 times a second, however much is committed."""
ASK_CLOCK_EVERY = 60.0
COUNT_EVERY = 0.250
"""Seconds between two looks at who has the store open."""
_NAPS = (0.02, 0.05, 0.1, 0.25)


class NotificationListener:
    """Holds the connection that says that this process is alive."""

    def __init__(
        self,
        connection: Raw,
        target: ConnectionTarget,
        owner: OwnerId,
        *,
        heard: Callable[[], None],
        died: Callable[[], None],
        trouble: FaultReport,
    ) -> None:
        """Take the owner's lock and start to listen; from then on the connection is its own."""
        self._died = died
        self._trouble = trouble
        self._target = target
        self._owner = owner
        self._heard = heard
        self._connection = connection
        self._introduce()
        self.clock = ServerClock(self._connection)
        self._over = False
        self._owed = False
        self._present = list_present(self._connection)
        self._notified_at = self._asked_at = self._counted_at = time.monotonic()
        self._ear, self._mouth = os.pipe()
        self._thread = threading.Thread(target=self._run, name="threadline-listener", daemon=True)
        self._thread.start()

    def announce(self) -> None:
        """Owe other processes the news of a commit. Any thread calls this."""
        if not self._owed:
            self._owed = True
            os.write(self._mouth, b"!")

    def close(self) -> None:
        """Tell the last news, and end."""
        self._over = True
        os.write(self._mouth, b"!")
        self._thread.join()
        os.close(self._ear)
        os.close(self._mouth)

    def _introduce(self) -> None:
        declare_alive(self._connection, self._owner)
        self._pid = server_process(self._connection)
        self._connection.add_notify_handler(self._note)
        self._connection.execute(f"LISTEN {CHANNEL}")

    def _note(self, notify: psycopg.Notify) -> None:
        if notify.pid != self._pid:
            self._heard()

    def _run(self) -> None:
        while not self._over:
            try:
                self._attend(self._connection)
            except psycopg.Error:
                self._come_back()
        try:
            if self._owed:
                self._notify(self._connection)
        except psycopg.Error:
            # Whoever is there will look at the store after its own reconnection.
            self._owed = False
        self._connection.close()

    def _attend(self, connection: Raw) -> None:
        """Wait for the next thing to do, and do it."""
        now = time.monotonic()
        pause = self._counted_at + COUNT_EVERY - now
        if self._owed:
            pause = min(pause, self._notified_at + NOTIFY_EVERY - now)
        ready, _, _ = select.select([connection.fileno(), self._ear], [], [], max(0.0, pause))
        if self._ear in ready:
            os.read(self._ear, 4096)
        if connection.fileno() in ready:
            self._hear(connection)
        now = time.monotonic()
        if self._owed and now >= self._notified_at + NOTIFY_EVERY:
            self._notify(connection)
        if now >= self._counted_at + COUNT_EVERY:
            self._counted_at = now
            self._count(connection)
        if now >= self._asked_at + ASK_CLOCK_EVERY:
            self._asked_at = now
            self.clock.ask(connection)

    def _count(self, connection: Raw) -> None:
        """Notice which processes came, and which are gone or lost their connection."""
        before, self._present = self._present, list_present(connection)
        if before - self._present:
            self._died()

    def _hear(self, connection: Raw) -> None:
        connection.pgconn.consume_input()
        while (notify := connection.pgconn.notifies()) is not None:
            if notify.be_pid != self._pid:
                self._heard()

    def _notify(self, connection: Raw) -> None:
        # First the flag: a commit from here on is owed a notice of its own.
        self._owed = False
        self._notified_at = time.monotonic()
        connection.execute(f"NOTIFY {CHANNEL}")

    def _come_back(self) -> None:
        """Connect again, be alive again, and look at what was missed."""
        self._connection.close()
        for nap in itertools.chain(_NAPS, itertools.repeat(_NAPS[-1])):
            if self._over:
                return
            time.sleep(nap)
            try:
                self._connection = self._target.connect()
                self._introduce()
                self.clock.ask(self._connection)
            except (psycopg.Error, StorageError) as error:
                self._trouble.note(error)
                self._connection.close()
            else:
                self._trouble.is_in_place()
                break
        self._owed = True
        self._heard()
        self._died()  # Nobody looked meanwhile.
