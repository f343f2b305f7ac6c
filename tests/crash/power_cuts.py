"""Power cuts: a file system for SQLite that keeps apart what was synced and what was not."""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import apsw

SECTOR = 512

Image: TypeAlias = dict[str, bytes]
"""File name → content, as a disk has it after a cut."""

_NAMED_WITH_FOLDER = (
    apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
)
"""Files for which SQLite syncs the folder too, when it first syncs them after it made them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Bytes on their way to the disk; without data, the file is cut off at the offset."""

    offset: int
    data: bytes | None


@dataclass(slots=True)
class Disk:
    """What the disk surely has, and what is still on its way there. All threads share it."""

    synced: dict[str, bytearray] = field(default_factory=dict)
    pending: dict[str, list[Write]] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)
    """New files whose name may not be in the folder yet."""
    undead: dict[str, bytearray] = field(default_factory=dict)
    """Deleted files that may come back, because the folder was not synced since."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    on_operation: Callable[[str], None] = lambda name: None
    """Called with a file's name before anything is done to it: here the power may fail."""

    def make(self, name: str) -> None:
        """Make a file, unless it is there."""
        if name not in self.synced:
            self.synced[name] = bytearray()
            self.pending[name] = []
            self.unnamed.add(name)

    def write(self, name: str, write: Write) -> None:
        """Take bytes, without promising anything."""
        with self.lock:
            self.on_operation(name)
            self.pending[name].append(write)

    def sync(self, name: str, *, with_folder: bool) -> None:
        """Bring everything of a file to the disk."""
        with self.lock:
            self.on_operation(name)
            for write in self.pending[name]:
                _apply(self.synced[name], write)
            self.pending[name].clear()
            self.unnamed.discard(name)
            if with_folder:
                self.undead.clear()

    def delete(self, name: str, *, with_folder: bool) -> None:
        """Delete a file; until its folder is synced, it may be there again after a cut."""
        with self.lock:
            self.on_operation(name)
            content = self.synced.pop(name, None)
            self.pending.pop(name, None)
            if content is not None and name not in self.unnamed and not with_folder:
                self.undead[name] = content
            self.unnamed.discard(name)

    def cut(self, dice: random.Random) -> Image:
        """Answer what is on the disk if the power fails now: of what was not synced any part."""
        with self.lock:
            image = {}
            for name, content in self.synced.items():
                if name not in self.unnamed or dice.random() < 0.5:
                    image[name] = bytes(_survive(content, self.pending[name], dice))
            for name, content in self.undead.items():
                if name not in image and dice.random() < 0.5:
                    image[name] = bytes(content)
            return image


def _survive(content: bytearray, pending: list[Write], dice: random.Random) -> bytearray:
    after = bytearray(content)
    luck = dice.choice((0.0, 0.1, 0.5, 0.9, 1.0))
    for write in pending:
        if write.data is None or dice.random() < 0.5:
            if dice.random() < luck:
                _apply(after, write)
            continue
        for start, end in _sectors(write):
            if dice.random() < luck:
                data = write.data[start - write.offset : end - write.offset]
                _apply(after, Write(offset=start, data=data))
    return after


def _sectors(write: Write) -> list[tuple[int, int]]:
    end = write.offset + len(write.data or b"")
    edges = [write.offset, *range((write.offset // SECTOR + 1) * SECTOR, end, SECTOR), end]
    return list(pairwise(edges))


def _apply(content: bytearray, write: Write) -> None:
    if write.data is None:
        del content[write.offset :]
        return
    if len(content) < write.offset:
        content.extend(bytes(write.offset - len(content)))
    content[write.offset : write.offset + len(write.data)] = write.data


class PowerFile(apsw.VFSFile):
    """A real file that also tells the disk under test what becomes of it."""

    def __init__(
        self, inherit: str, filename: str | apsw.URIFilename | None, flags: list[int], disk: Disk
    ) -> None:
        path = filename.filename() if isinstance(filename, apsw.URIFilename) else filename
        self._name = Path(path or "nameless").name
        self._disk = disk
        with disk.lock:
            self._is_new_journal = (
                bool(flags[0] & _NAMED_WITH_FOLDER) and self._name not in disk.synced
            )
            disk.make(self._name)
        super().__init__(inherit, filename, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's own names
        self._disk.write(self._name, Write(offset=offset, data=bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._disk.write(self._name, Write(offset=newsize, data=None))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        # No real sync: the disk under test is the one in memory, and this makes hundreds quick.
        self._disk.sync(self._name, with_folder=self._is_new_journal)
        self._is_new_journal = False


class PowerSystem(apsw.VFS):
    """The system's own files, on a disk whose power may fail."""

    def __init__(self, name: str, disk: Disk) -> None:
        self._disk = disk
        super().__init__(name, "unix")

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        return PowerFile("unix", name, flags, self._disk)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self._disk.delete(Path(filename).name, with_folder=syncdir)
        super().xDelete(filename, syncdir)


def restore(image: Image, folder: Path) -> None:
    """Put the files of an image into a folder, as if the machine had started again."""
    folder.mkdir()
    for name, content in image.items():
        (folder / name).write_bytes(content)
