"""Process locks: which processes have the store open, told by locks that die with their process."""

import errno
import fcntl
import os
import re
import secrets
import stat
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from threadline.core.errors import Misplaced, StorageError
from threadline.core.turn import OwnerId

_SUFFIX = "-owners"
_TRIES = 100
_OURS = re.compile(r"[0-9]+-[0-9a-f]{8}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ROOT = 0


class ProcessLocks:
    """One lock file per process beside the database; the system frees it even after kill -9.

    The folder's name can be guessed, so it may be somebody else's: only what has the form of our
    own files is ever taken away, and no link is followed.
    """

    def __init__(self, path: Path) -> None:
        """Take a name and its lock."""
        self._path = path
        self._folder = path.with_name(path.name + _SUFFIX)
        self.me = OwnerId(f"{os.getpid()}-{secrets.token_hex(4)}")
        self._file: int | None = self._appear()
        _living.add(self)

    def _appear(self) -> int:
        """Make the lock file, and its folder if need be; answer the lock."""
        for _ in range(_TRIES):
            try:
                with suppress(FileExistsError):
                    self._folder.mkdir(mode=0o700)
                with self._entered() as folder:
                    return self._lock(folder)
            except FileNotFoundError:
                continue  # The last one before us just took the folder away with it.
        raise FileNotFoundError(errno.ENOENT, "its folder vanishes again and again")

    def _lock(self, folder: int) -> int:
        # Locked before it can be seen: nobody may take a newcomer for dead.
        unseen = f".{self.me}"
        file = os.open(unseen, _FILE | os.O_CREAT, 0o600, dir_fd=folder)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.rename(unseen, self.me, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            os.close(file)
            raise
        return file

    @contextmanager
    def _entered(self) -> Iterator[int]:
        """Open the folder, so that nobody can put another one in its place meanwhile."""
        try:
            folder = os.open(self._folder, _FOLDER)
        except OSError as error:
            if error.errno in {errno.ENOTDIR, errno.ELOOP}:
                raise self._foreign("is a link, or no folder") from error
            raise
        try:
            if os.fstat(folder).st_uid not in self._trusted():
                raise self._foreign("belongs to another user")
            yield folder
        finally:
            os.close(folder)

    def _trusted(self) -> set[int]:
        """Answer the users whose folder it may be: ourselves, root, and whose the database is."""
        try:
            return {os.geteuid(), _ROOT, self._path.stat().st_uid}
        except FileNotFoundError:
            return {os.geteuid(), _ROOT}

    def _foreign(self, why: str) -> StorageError:
        hint = "Look whose it is, and move it away"
        return StorageError(f"The folder for lock files {why}", id=str(self._folder), hint=hint)

    def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
        """Answer those whose process is certainly gone."""
        others = owners - {self.me}
        if not others:
            return others
        try:
            with self._entered() as folder:
                return frozenset(owner for owner in others if _is_dead(folder, owner))
        except (OSError, StorageError):
            return frozenset()  # Where nobody can look, nothing is certain.

    def list_others(self) -> frozenset[OwnerId]:
        """Return the other processes that have the store open, and remove the files of dead ones.

        If the folder cannot be read, the result is empty.
        """
        try:
            self._reappear()
            with self._entered() as folder:
                others = set(_names(folder)) - {self.me}
                return frozenset(name for name in others if not _cleared(folder, name))
        except (OSError, StorageError):
            return frozenset()

    def _reappear(self) -> None:
        """Take the lock anew where somebody took its file away: others would call us dead."""
        if self._file is not None and not self._is_seen(self._file):
            lost, self._file = self._file, self._appear()
            os.close(lost)

    def _is_seen(self, file: int) -> bool:
        try:
            with self._entered() as folder:
                there = os.stat(self.me, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        return os.path.samestat(there, os.fstat(file))

    def close(self) -> None:
        """Let go of the name; the folder goes with the last one."""
        if self._file is None:
            return  # A forked child has nothing to let go of.
        try:
            with self._entered() as folder:
                os.unlink(self.me, dir_fd=folder)
            self._folder.rmdir()
        except (OSError, StorageError):
            return  # Somebody else is still there, or took it away already.
        finally:
            self.forget()

    def forget(self) -> None:
        """Close the lock's file, but leave it where it is."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def list_living(path: Path) -> list[OwnerId]:
    """List the processes that have a store open, without taking part."""
    try:
        folder = os.open(path.with_name(path.name + _SUFFIX), _FOLDER)
    except OSError:
        return []
    try:
        return [name for name in _names(folder) if not _is_dead(folder, name)]
    finally:
        os.close(folder)


def refuse_lost(path: Path) -> None:
    """Raise `Misplaced` if a file is gone that another process still has open.

    A new database in its place would hide that the other one is lost.
    """
    if not path.exists() and (living := list_living(path)):
        raise Misplaced(
            "The database file is gone, but a process still has it open",
            id=f"{path}, process {', '.join(living)}",
            hint="Stop that process first, then put the file back or restore a backup",
        )


def _names(folder: int) -> list[OwnerId]:
    with os.scandir(folder) as entries:
        return sorted(OwnerId(entry.name) for entry in entries if _OURS.fullmatch(entry.name))


def _cleared(folder: int, name: OwnerId) -> bool:
    """Take away the file of a dead owner; False if it lives, or may not be touched."""
    if not _is_dead(folder, name):
        return False
    try:
        if stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=folder)
    except OSError:
        return True  # It is dead all the same; whoever may will clear it away.
    return True


def _is_dead(folder: int, owner: OwnerId) -> bool:
    if "/" in owner or "\0" in owner:
        return True  # Nobody can have had a file of that name.
    try:
        file = os.open(owner, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return True
    except OSError:
        return False  # Another user's, or no file of ours: nothing is certain.
    try:
        # Shared, so that two who ask at the same time do not take each other for the owner.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(file)


_living: weakref.WeakSet[ProcessLocks] = weakref.WeakSet()


def _forget_all() -> None:
    """Let go, in a forked child, of locks that would outlive their owner."""
    for owners in list(_living):
        owners.forget()


os.register_at_fork(after_in_child=_forget_all)
