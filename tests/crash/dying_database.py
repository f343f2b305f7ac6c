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

from threadline.core.errors import StorageError
from threadline.core.turn import OwnerId
from threadline.database.port import Database, Environment, Finding, Transaction, Watch

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
    nth: int = 1
    """So often the step is taken; the last time is the end."""

    def __str__(self) -> str:
        return f"{self.verb}:{self.moment}:{self.nth}"


def step_from(text: str) -> Step:
    """Read a step as it stands in the environment."""
    verb, moment, nth = text.split(":")
    return Step(verb=verb, moment=Moment(moment), nth=int(nth))


def die() -> NoReturn:
    """Let the process end as kill -9 ends it."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("A dead process does not go on")


class Fate:
    """Counts how often one step was taken, and lets the process die the last time."""

    def __init__(self, step: Step | None) -> None:
        self._step = step
        self._met = 0

    def meet(self, verb: str, moment: Moment) -> None:
        """Take a step; this may be the end."""
        if self.is_over(verb, moment):
            die()

    def is_over(self, verb: str, moment: Moment) -> bool:
        """Count a step; True if it is the last one."""
        step = self._step
        if step is None or (step.verb, step.moment) != (verb, moment):
            return False
        self._met += 1
        return self._met >= step.nth


class Pause(Fate):
    """Counts how often one step was taken, and stops the process once, the last time."""

    def __init__(self, step: Step | None, *, between_writes: Callable[[], None]) -> None:
        """`between_writes` returns when no transaction of the process is open."""
        super().__init__(step)
        self._between_writes = between_writes
        self.has_stopped = False
        """The process was stopped in the step that is being taken."""

    def meet(self, verb: str, moment: Moment) -> None:
        """Take a step; the process may be stopped in it."""
        self.has_stopped = self.is_over(verb, moment)
        if self.has_stopped:
            self._step = None
            self._between_writes()
            os.kill(os.getpid(), signal.SIGSTOP)


class DeadlyDatabase:
    """Passes everything on, and dies when its verb has come so far; one that is refused has not."""

    def __init__(self, database: Database, step: Step) -> None:
        self._database = database
        self._fate = Fate(step)

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
        name = verb.__name__.lstrip("_")
        if self._fate.is_over(name, Moment.INSIDE):

            def last(tx: Transaction) -> NoReturn:
                verb(tx, *args, **kwargs)
                die()

            return await self._database.write(last)
        answer = await self._database.write(verb, *args, **kwargs)
        self._fate.meet(name, Moment.COMMITTED)
        return answer

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        return await self._database.read(query, *args, **kwargs)

    def watch(self) -> AbstractContextManager[Watch]:
        return self._database.watch()

    def deaths(self) -> AbstractContextManager[Watch]:
        return self._database.deaths()

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
