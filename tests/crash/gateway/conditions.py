"""Conditions of a running gateway that the harness changes from outside: disk space and clock.

They live in a small memory-mapped file, so that a change reaches the gateway at once.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile

import apsw

UNLIMITED = -1
_SIZE = 16
_ROOM, _CLOCK = 0, 1


class Conditions:
    """The free disk space and the clock of one gateway, shared by two processes."""

    def __init__(self, path: Path) -> None:
        """Map a file that `made_conditions` created."""
        self.path = path
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _SIZE)
        self._numbers = memoryview(self._memory).cast("q")

    @property
    def room(self) -> int:
        """The bytes by which files may still grow, or `UNLIMITED`."""
        return self._numbers[_ROOM]

    @room.setter
    def room(self, value: int) -> None:
        self._numbers[_ROOM] = value

    @property
    def clock_shift(self) -> timedelta:
        """How far the clock is ahead of the true time."""
        return timedelta(microseconds=self._numbers[_CLOCK])

    @clock_shift.setter
    def clock_shift(self, value: timedelta) -> None:
        self._numbers[_CLOCK] = value // timedelta(microseconds=1)

    def now(self) -> datetime:
        """Return the time that the clock shows."""
        return datetime.now(UTC) + self.clock_shift

    def close(self) -> None:
        """Unmap the file."""
        self._numbers.release()
        self._memory.close()


@contextmanager
def made_conditions() -> Iterator[Conditions]:
    """Create conditions with enough disk space and the true time."""
    with NamedTemporaryFile(prefix="threadline-conditions-") as file:
        file.truncate(_SIZE)
        conditions = Conditions(Path(file.name))
        conditions.room = UNLIMITED
        try:
            yield conditions
        finally:
            conditions.close()


class LimitedFile(apsw.VFSFile):
    """A file that cannot grow while the disk is full. Overwriting still works, as on real disks."""

    def __init__(
        self, filename: str | apsw.URIFilename | None, flags: list[int], conditions: Conditions
    ) -> None:
        self._conditions = conditions
        super().__init__("unix", filename, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's own names
        room = self._conditions.room
        if room != UNLIMITED:
            growth = offset + len(data) - self.xFileSize()
            if growth > room:
                raise apsw.FullError
            if growth > 0:
                self._conditions.room = room - growth
        super().xWrite(data, offset)


class LimitedDisk(apsw.VFS):
    """A file system for SQLite with as much free space as the conditions say; needs no root."""

    name = "limited"

    def __init__(self, conditions: Conditions) -> None:
        self._conditions = conditions
        super().__init__(self.name, "unix")

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        return LimitedFile(name, flags, self._conditions)
