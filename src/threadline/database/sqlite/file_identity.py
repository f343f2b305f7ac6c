"""File identity: whether an open database is still the file that its path names."""

from pathlib import Path

from threadline.core.errors import Misplaced

LOG = "-wal"
_INDEX = "-shm"
_WHAT = {
    "": "The database file",
    LOG: "The write-ahead log of the database",
    _INDEX: "The index of the write-ahead log",
}
_HINT = (
    "Stop Threadline, put the file back or restore a backup, and start it again; "
    "until then nothing is stored"
)


class FileIdentity:
    """The database file, its write-ahead log and that log's index, as they were when opened.

    An open file that was deleted or replaced can still be written to, but nobody finds it again.
    """

    def __init__(self, path: Path) -> None:
        """Remember the files as they are now."""
        self._files = {suffix: path.with_name(path.name + suffix) for suffix in _WHAT}
        self._known = {suffix: _identity(file) for suffix, file in self._files.items()}

    def require(self) -> None:
        """Raise `Misplaced` if one of the files was deleted or replaced since it was opened."""
        for suffix, known in self._known.items():
            try:
                found = _identity(self._files[suffix])
            except OSError:
                continue  # Unknown. If the disk fails, the next read or write reports it.
            if known is None:
                self._known[suffix] = found
            elif found != known:
                how = "was deleted" if found is None else "was replaced by another file"
                raise Misplaced(
                    f"{_WHAT[suffix]} {how} while it was open",
                    id=str(self._files[suffix]),
                    hint=_HINT,
                )

    def is_file_in_place(self) -> bool:
        """Return whether the database file itself is in its place, wherever its log is."""
        return _identity(self._files[""]) == self._known[""]

    def log_size(self) -> int:
        """Return the size of the write-ahead log in bytes."""
        try:
            return self._files[LOG].stat().st_size
        except OSError:
            return 0


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
