"""A database in which something else happens just before one transaction."""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from threadline.database.port import Database, Transaction

P = ParamSpec("P")
T = TypeVar("T")


class Interrupted:
    """A database in which something else happens before one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._left = 0
        self._happen: Callable[[], Awaitable[None]] | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self._database, name)

    def before(self, nth: int, happen: Callable[[], Awaitable[None]]) -> None:
        """Let something happen before the transaction of this number, from now on."""
        self._left, self._happen = nth, happen

    @property
    def has_happened(self) -> bool:
        """Whether there were so many transactions."""
        return self._happen is None

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        await self._begin()
        return await self._database.write(verb, *args, **kwargs)

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        await self._begin()
        return await self._database.read(query, *args, **kwargs)

    async def _begin(self) -> None:
        self._left -= 1
        if self._left == 0 and self._happen is not None:
            happen, self._happen = self._happen, None
            await happen()
