"""A database that dies with its process at one named step; only the child under test uses it."""

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Concatenate, NoReturn, ParamSpec, TypeVar

from threadline.core.turn import OwnerId
from threadline.storage.database import Database, Finding, Transaction, Watch

P = ParamSpec("P")
T = TypeVar("T")

ENVIRONMENT = "CRASH_AT"


class Moment(StrEnum):
    """When, on the way of one verb, the process dies."""

    INSIDE = "inside"
    """The verb has done its work, and nothing is committed."""
    COMMITTED = "committed"
    """The commit is on disk, and nobody has heard of it."""
    TOLD = "told"
    """The caller was answered, and has passed it on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the way of a message: a verb, and how far it came."""

    verb: str
    moment: Moment

    def __str__(self) -> str:
        return f"{self.verb}:{self.moment}"


def step_from(text: str) -> Step:
    """Read a step as it stands in the environment."""
    verb, moment = text.split(":")
    return Step(verb=verb, moment=Moment(moment))


def die() -> NoReturn:
    """Let the process end as kill -9 ends it."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("A dead process does not go on")


class DeadlyDatabase:
    """Passes everything on, and dies when its verb has come so far; one that is refused has not."""

    def __init__(self, database: Database, step: Step) -> None:
        self._database = database
        self._step = step

    @property
    def owner(self) -> OwnerId:
        return self._database.owner

    def now(self) -> datetime:
        return self._database.now()

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        if verb.__name__.lstrip("_") != self._step.verb:
            return await self._database.write(verb, *args, **kwargs)
        if self._step.moment is Moment.INSIDE:

            def last(tx: Transaction) -> NoReturn:
                verb(tx, *args, **kwargs)
                die()

            return await self._database.write(last)
        answer = await self._database.write(verb, *args, **kwargs)
        if self._step.moment is Moment.COMMITTED:
            die()
        return answer

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self._database.read(query, *args, **kwargs)

    def watch(self) -> AbstractContextManager[Watch]:
        return self._database.watch()

    async def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
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
