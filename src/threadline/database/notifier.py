"""Notifier: tasks that wait for the next commit."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from threadline.core.errors import StorageError


class CommitNotifier:
    """Rings once for every watch when something was committed. It lives on the event loop."""

    def __init__(self) -> None:
        """Begin with nobody listening."""
        self._watches: set[CommitWatch] = set()
        self.rings = 0

    def ring(self) -> None:
        """Wake everybody who waits."""
        self.rings += 1
        for watch in self._watches:
            watch.rung.set()

    def close(self) -> None:
        """Wake everybody for the last time: there will be no more commits to wait for."""
        for watch in self._watches:
            watch.is_over = True
            watch.rung.set()

    @contextmanager
    def watch(self) -> Iterator["CommitWatch"]:
        """Listen for as long as the context is open."""
        watch = CommitWatch(self)
        self._watches.add(watch)
        try:
            yield watch
        finally:
            self._watches.discard(watch)


class CommitWatch:
    """One listener; what rang while it was not waiting is not forgotten."""

    def __init__(self, bell: CommitNotifier) -> None:
        """Begin as if something had just happened, so that the first look is never late."""
        self.rung = asyncio.Event()
        self.rung.set()
        self.is_over = False
        self._bell = bell

    @property
    def rings(self) -> int:
        """How often the bell has rung."""
        return self._bell.rings

    async def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for the next ring, or until the time is over."""
        if not self.rung.is_set():
            try:
                async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
                    await self.rung.wait()
            except TimeoutError:
                return False
        if self.is_over:
            raise StorageError("The store is closed", hint="Open it again")
        self.rung.clear()
        return True
