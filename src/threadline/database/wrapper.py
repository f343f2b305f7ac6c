"""Wrapper: a database that does something around the verbs and queries of another one."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from threadline.core.errors import StorageError
from threadline.core.turn import OwnerId
from threadline.database.port import Database, Environment, Finding, Transaction, Watch

P = ParamSpec("P")
T = TypeVar("T")


class DatabaseWrapper(Database):
    """Passes everything on to another database. A subclass overrides `write` or `read`."""

    def __init__(self, database: Database) -> None:
        """Wrap a database, which its owner closes."""
        self.wrapped = database

    @property
    def owner(self) -> OwnerId:
        """Return the name of this process."""
        return self.wrapped.owner

    @property
    def environment(self) -> Environment:
        """Return the environment of the wrapped database."""
        return self.wrapped.environment

    @property
    def trouble(self) -> StorageError | None:
        """Return why the database cannot be relied on, or None."""
        return self.wrapped.trouble

    def now(self) -> datetime:
        """Return the time."""
        return self.wrapped.now()

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a verb."""
        return await self.wrapped.write(verb, *args, **kwargs)

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query."""
        return await self.wrapped.read(query, *args, **kwargs)

    def watch(self) -> AbstractContextManager[Watch]:
        """Begin to notice commits."""
        return self.wrapped.watch()

    def deaths(self) -> AbstractContextManager[Watch]:
        """Begin to notice that other processes are gone."""
        return self.wrapped.deaths()

    async def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
        """Return those of these owners whose process is certainly gone."""
        return await self.wrapped.dead(owners)

    async def check(self, *, deep: bool = False) -> list[Finding]:
        """Return the damage that is found."""
        return await self.wrapped.check(deep=deep)

    async def wipe(self) -> bool:
        """Make deleted data unreadable in the files of the database."""
        return await self.wrapped.wipe()

    async def back_up(
        self, to: Path, *, replace: bool = False, told: Callable[[int, int], None] | None = None
    ) -> None:
        """Copy everything into a SQLite file."""
        await self.wrapped.back_up(to, replace=replace, told=told)

    async def secret(self) -> bytes:
        """Return the secret of this installation."""
        return await self.wrapped.secret()

    async def close(self) -> None:
        """Close the wrapped database."""
        await self.wrapped.close()
