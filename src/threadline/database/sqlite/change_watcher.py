"""Change watcher: a thread that notices what other processes do with the file."""

import threading
from collections.abc import Callable

import apsw

from threadline.database.port import SqlValue
from threadline.database.sqlite.process_locks import ProcessLocks

LOOK_EVERY = 0.050
COUNT_EVERY = 4
"""Looks between two counts of the other processes."""


class ChangeWatcher:
    """Looks at the file's version every 50 ms, on a thread of its own."""

    def __init__(
        self,
        connection: apsw.Connection,
        owners: ProcessLocks,
        *,
        changed: Callable[[], None],
        died: Callable[[], None],
        look: Callable[[], object],
    ) -> None:
        """Start looking; `look` is called each time, to see whether the file is in its place."""
        self._died = died
        self._connection = connection
        self._look = look
        self._owners = owners
        self._changed = changed
        self._over = threading.Event()
        self._others = owners.list_others()
        self._thread = threading.Thread(target=self._run, name="threadline-sentinel", daemon=True)
        self._thread.start()

    def has_peers(self) -> bool:
        """Tell whether another process has the store open."""
        return bool(self._others)

    def close(self) -> None:
        """Stop looking."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        looks, seen = 0, self._version()
        while not self._over.wait(LOOK_EVERY):
            looks += 1
            self._look()
            if looks % COUNT_EVERY == 0:
                self._count()
            version = self._version()
            if version != seen:
                seen = version
                self._changed()
        self._connection.close()

    def _count(self) -> None:
        """Notice which processes came, and which are gone."""
        before, self._others = self._others, self._owners.list_others()
        if before - self._others:
            self._died()

    def _version(self) -> SqlValue:
        try:
            answer = self._connection.execute("PRAGMA data_version").fetchall()
        except apsw.Error:
            # A damaged file is the writer's and the readers' to report; a sentinel only wakes.
            return None
        return answer[0][0]
