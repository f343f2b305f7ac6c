"""A database whose writes fail while a test says so."""

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar, cast

from threadline.core.errors import StorageError
from threadline.database.port import Database, Transaction

P = ParamSpec("P")
T = TypeVar("T")


class UnsteadyDatabase:
    """A real database behind a disk that can be full, and a line that can break in a commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.is_full = False
        self.refuses: frozenset[str] = frozenset()
        """Verbs that fail though the others succeed."""
        self.breaks_after: Counter[str] = Counter()
        """Verbs whose next commits succeed, and seem to fail."""
        self.meanwhile: dict[str, Callable[[], Awaitable[object]]] = {}
        """What happens after such a commit, before its caller is told that it failed."""
        self.failed: Counter[str] = Counter()
        """How often each verb failed."""

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a verb, or fail."""
        name = verb.__name__.lstrip("_")
        if self.is_full or name in self.refuses:
            self.failed[name] += 1
            raise StorageError("The disk is full")
        done = await self._database.write(verb, *args, **kwargs)
        if self.breaks_after[name]:
            self.breaks_after[name] -= 1
            if name in self.meanwhile:
                await self.meanwhile.pop(name)()
            self.failed[name] += 1
            raise StorageError("The connection was lost while committing")
        return done

    def __getattr__(self, name: str) -> object:
        """Leave everything else to the real database."""
        return getattr(self._database, name)


def unsteady(database: Database) -> tuple[UnsteadyDatabase, Database]:
    """Wrap a database; return the handle of the test, and the same as a port."""
    wrapped = UnsteadyDatabase(database)
    return wrapped, cast("Database", wrapped)
