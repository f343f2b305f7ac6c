"""A database that goes away for a while, as a server that is restarted does."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from threadline.core.errors import StorageError
from threadline.core.turn import OwnerId
from threadline.database.port import Database, Environment, Finding, Transaction, Watch

P = ParamSpec("P")
T = TypeVar("T")


class Fickle:
    """Another database, as long as it is not away."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.is_away = False
        self.missed = 0
        """How often somebody asked in vain."""
        self.before: dict[str, Callable[[], Awaitable[object]]] = {}
        """What happens before a verb or query is run, by its name."""

    @property
    def owner(self) -> OwnerId:
        return self._database.owner

    @property
    def environment(self) -> Environment:
        return self._database.environment

    def now(self) -> datetime:
        return self._database.now()

    @property
    def trouble(self) -> StorageError | None:
        return self._database.trouble

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        await self._prepare(verb.__name__)
        return await self._database.write(verb, *args, **kwargs)

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        await self._prepare(query.__name__)
        return await self._database.read(query, *args, **kwargs)

    def watch(self) -> AbstractContextManager[Watch]:
        return self._database.watch()

    def deaths(self) -> AbstractContextManager[Watch]:
        return self._database.deaths()

    async def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
        self._require()
        return await self._database.dead(owners)

    async def check(self, *, deep: bool = False) -> list[Finding]:
        return await self._database.check(deep=deep)

    async def wipe(self) -> bool:
        return await self._database.wipe()

    async def back_up(
        self, to: Path, *, replace: bool = False, told: Callable[[int, int], None] | None = None
    ) -> None:
        await self._database.back_up(to, replace=replace, told=told)

    async def secret(self) -> bytes:
        return await self._database.secret()

    async def close(self) -> None:
        await self._database.close()

    async def _prepare(self, name: str) -> None:
        self._require()
        if name in self.before:
            await self.before[name]()

    def _require(self) -> None:
        if self.is_away:
            self.missed += 1
            raise StorageError("The database is away")
