"""Availability: why an open store cannot be relied on, for readiness checks and the log."""

import logging

from threadline.core.errors import Damaged, Misplaced, StorageError

log = logging.getLogger("threadline.database")


class FaultReport:
    """What is wrong with the open store. Any thread may report it; each change is logged once."""

    def __init__(self) -> None:
        """Begin without any."""
        self._damage: Damaged | None = None
        self.misplaced: Misplaced | None = None

    @property
    def error(self) -> StorageError | None:
        """What is wrong: the store is not in its place, or damaged. None if nothing is known."""
        return self.misplaced or self._damage

    def note(self, error: BaseException) -> None:
        """Record an error if it is one that lasts: damage stays until the store is opened again."""
        if isinstance(error, Misplaced):
            if self.misplaced is None or str(self.misplaced) != str(error):
                log.error("%s", error)
            self.misplaced = error
        elif isinstance(error, Damaged):
            if self._damage is None:
                log.error("%s", error)
            self._damage = error

    def is_in_place(self) -> None:
        """Record that the store was found in its place."""
        if self.misplaced is not None:
            log.warning("The database is in its place again; it is used again")
            self.misplaced = None
