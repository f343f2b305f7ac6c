"""Owners: which processes have the store open, told by locks that die with their process."""

import errno
import fcntl
import os
import secrets
from pathlib import Path

from threadline.core.turn import OwnerId

_SUFFIX = "-owners"
_TRIES = 100


class Owners:
    """One lock file per process beside the database; the system frees it even after kill -9."""

    def __init__(self, path: Path) -> None:
        """Take a name and its lock."""
        self._folder = path.with_name(path.name + _SUFFIX)
        self.me = OwnerId(f"{os.getpid()}-{secrets.token_hex(4)}")
        # Locked before it can be seen: nobody may take a newcomer for dead.
        unseen = self._folder / f".{self.me}"
        self._file = self._make(unseen)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        unseen.rename(self._folder / self.me)

    def _make(self, file: Path) -> int:
        for _ in range(_TRIES):
            try:
                self._folder.mkdir(exist_ok=True)
                return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except (FileExistsError, FileNotFoundError):
                continue  # The last one before us just took the folder away with it.
        raise FileNotFoundError(errno.ENOENT, "its folder vanishes again and again")

    def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
        """Answer those whose process is certainly gone."""
        return frozenset(owner for owner in owners if owner != self.me and self._is_dead(owner))

    def count_others(self) -> int:
        """Count the other processes that have the store open, and clear away files of dead ones."""
        others = 0
        for file in self._folder.iterdir():
            name = file.name
            if name != self.me and not name.startswith("."):
                if self._is_dead(OwnerId(name)):
                    file.unlink(missing_ok=True)
                else:
                    others += 1
        return others

    def close(self) -> None:
        """Let go of the name; the folder goes with the last one."""
        (self._folder / self.me).unlink(missing_ok=True)
        os.close(self._file)
        try:
            self._folder.rmdir()
        except OSError:
            return  # Somebody else is still there.

    def _is_dead(self, owner: OwnerId) -> bool:
        try:
            file = os.open(self._folder / owner, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return True
        except PermissionError:
            return False  # Another user's: nothing is certain.
        try:
            # Shared, so that two who ask at the same time do not take each other for the owner.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        else:
            return True
        finally:
            os.close(file)
