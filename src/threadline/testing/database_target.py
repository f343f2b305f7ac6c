"""Db target: where a database is put to the test."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias

from threadline.database.port import Database


class DatabaseTarget(Protocol):
    """A place for one store, made for one obligation."""

    where: str
    """The path or URL, by which another process opens the same store."""

    async def __call__(self) -> Database:
        """Open the store once more; whoever made the ground closes it."""
        ...

    def tamper(self, statement: str) -> Sequence[Sequence[object]]:
        """Carry out SQL behind the back of the database, while nobody has it open."""
        ...


Obligation: TypeAlias = Callable[[DatabaseTarget], Awaitable[None]]
