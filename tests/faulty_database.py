"""A database that fails, waits or replies as a test wants, by the name of a verb or query."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from threadline.database.port import Database, Transaction, Watch
from threadline.database.wrapper import DatabaseWrapper
from threadline.store import Store

P = ParamSpec("P")
T = TypeVar("T")

Hook: TypeAlias = Callable[..., Awaitable[None]]


class FaultyDatabase(DatabaseWrapper):
    """Calls what a test has set for a verb or query: before it, after it, or in its place."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.before: dict[str, Hook] = {}
        """Called with the arguments; what it raises is raised, and nothing is run."""
        self.after: dict[str, Hook] = {}
        """Called with what was returned, before the caller gets it."""
        self.instead: dict[str, Callable[..., object]] = {}
        """Called with the arguments in place of the verb or query."""
        self.is_deaf = False
        """Whether it hears of no commits."""

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        found: T = await self._run(self.wrapped.write, verb, *args, **kwargs)
        return found

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        found: T = await self._run(self.wrapped.read, query, *args, **kwargs)
        return found

    def watch(self) -> AbstractContextManager[Watch]:
        return never() if self.is_deaf else self.wrapped.watch()

    def fail(self, name: str, error: Exception, *, times: int | None = None) -> None:
        """Raise an error in place of a verb or query, so many times or from now on."""
        left = [times]

        async def hook(*_: object, **__: object) -> None:
            if left[0] is None:
                raise error
            if left[0] > 0:
                left[0] -= 1
                raise error

        self.before[name] = hook

    async def _run(self, run: Any, verb: Any, *args: Any, **kwargs: Any) -> Any:
        name = getattr(verb, "__name__", "")
        if name in self.before:
            await self.before[name](*args, **kwargs)
        if name in self.instead:
            return self.instead[name](*args, **kwargs)
        found = await run(verb, *args, **kwargs)
        if name in self.after:
            await self.after[name](found)
        return found


class Never:
    """A watch that notices nothing."""

    rings = 0

    async def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait until cancelled."""
        await asyncio.Event().wait()
        return False


@contextmanager
def never() -> Iterator[Watch]:
    """Notice nothing."""
    yield Never()


def faulty(store: Store) -> tuple[Store, FaultyDatabase]:
    """Return a second store on the database of a store, and what can fail below it."""
    database = FaultyDatabase(store.database)
    return Store(database), database
