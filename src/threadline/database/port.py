"""The port: what the session layer may expect of a database."""

import secrets
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, cast, overload

from msgspec import Struct

from threadline.core.errors import StorageError
from threadline.core.gateway_status import Uptime
from threadline.core.settings import Settings
from threadline.core.turn import OwnerId
from threadline.database.rows import row_reader
from threadline.database.timestamps import moment
from threadline.database.uptime import read_uptime

SqlValue: TypeAlias = int | float | str | bytes | None

Choice = TypeVar("Choice", bound=StrEnum)
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
T = TypeVar("T")

DropOutputs: TypeAlias = Callable[[Sequence[str]], Awaitable[object]]
"""Deletes the files of some sessions, or with some names. It may be called again for the same."""


class Row(dict[str, SqlValue]):
    """One row of an answer, read by name and type."""

    __slots__ = ()

    def text(self, name: str) -> str:
        """Answer a text that is always there."""
        value = self[name]
        if not isinstance(value, str):
            raise _mismatch(name, value)
        return value

    def text_or_none(self, name: str) -> str | None:
        """Answer a text that may be missing."""
        value = self[name]
        if value is None or isinstance(value, str):
            return value
        raise _mismatch(name, value)

    def number(self, name: str) -> int:
        """Answer a whole number that is always there."""
        value = self[name]
        if not isinstance(value, int):
            raise _mismatch(name, value)
        return value

    def number_or_none(self, name: str) -> int | None:
        """Answer a whole number that may be missing."""
        value = self[name]
        if value is None or isinstance(value, int):
            return value
        raise _mismatch(name, value)

    def moment(self, name: str) -> datetime:
        """Answer a moment that is always there."""
        return moment(self.number(name))

    def moment_or_none(self, name: str) -> datetime | None:
        """Answer a moment that may be missing."""
        return None if self[name] is None else self.moment(name)

    def choice(self, name: str, choices: type[Choice]) -> Choice:
        """Answer one of the words of an enum, which is always there."""
        found = _words(choices).get(self[name])
        if found is None:
            raise _mismatch(name, self[name])
        return cast("Choice", found)

    def choice_or_none(self, name: str, choices: type[Choice]) -> Choice | None:
        """Answer one of the words of an enum, which may be missing."""
        return None if self[name] is None else self.choice(name, choices)

    def data(self, name: str) -> bytes:
        """Answer bytes that are always there."""
        value = self[name]
        if not isinstance(value, bytes):
            raise _mismatch(name, value)
        return value


@cache
def _words(choices: type[StrEnum]) -> Mapping[SqlValue, StrEnum]:
    """Answer the words of an enum, which is slow to look them up itself."""
    return {one.value: one for one in choices}


def reader(kind: Any, columns: Sequence[str]) -> Callable[[Sequence[SqlValue]], Any]:
    """Return what makes a row of a query a value of a type."""
    if kind is Row:
        return lambda row: Row(zip(columns, row, strict=True))
    return row_reader(kind, columns)


def _mismatch(name: str, value: SqlValue) -> StorageError:
    return StorageError(
        f"The column {name} holds {type(value).__name__}, which it should not",
        hint="Run: threadline doctor",
    )


class CommitUnknown(StorageError):
    """The connection was lost while committing, and whether it was stored cannot be found out.

    A verb that finds its own earlier outcome, by a message id or another key, can be run again.
    """


@dataclass(slots=True, kw_only=True)
class Environment:
    """What a database gives to each attempt of a transaction."""

    clock: Callable[[], datetime]
    """It is read on the threads of the database."""
    settings: Settings = field(default_factory=Settings)
    """Its owner may replace them; the next attempt sees the new ones."""
    new_id: Callable[[], int] = lambda: secrets.randbits(32)
    uptime: Callable[[], Uptime] = read_uptime
    """Measures the time in which no process works on the queue."""
    drop_outputs: DropOutputs | None = None
    """Deletes what was written beside the database; None if nothing is written there."""
    _states: dict[type, object] = field(default_factory=dict, repr=False)

    def state(self, kind: type[S]) -> S:
        """Return the instance of a class that belongs to this open database, made on first use."""
        return cast("S", self._states.setdefault(kind, kind()))


class Transaction(Protocol):
    """One transaction, seen from inside. Queries are called by their name in `store/**/*.sql`.

    `one` returns the first row or None, `all` returns all rows, each as a value of the type that
    the caller names (see `database/rows.py`).

    A transaction that is repeated reads the clock and the settings again.
    """

    @property
    def now(self) -> datetime:
        """The moment at which this attempt began, in UTC: all its statements see the same one."""
        ...

    @property
    def settings(self) -> Settings:
        """The settings as they were when this attempt began."""
        ...

    def new_id(self) -> int:
        """Return 32 random bits, for ids and codes."""
        ...

    @overload
    def one(self, query: str, /, **values: SqlValue) -> Row | None: ...

    @overload
    def one(self, query: str, kind: type[R], /, **values: SqlValue) -> R | None: ...

    @overload
    def all(self, query: str, /, **values: SqlValue) -> list[Row]: ...

    @overload
    def all(self, query: str, kind: type[R], /, **values: SqlValue) -> list[R]: ...

    def exists(self, query: str, /, **values: SqlValue) -> bool:
        """Return whether a query finds a row."""
        ...

    def run(self, query: str, **values: SqlValue) -> None:
        """Carry out a query that answers nothing."""
        ...

    def run_many(self, query: str, rows: Iterable[Mapping[str, SqlValue]]) -> None:
        """Carry out a query once for each set of values."""
        ...


class Attempt:
    """The part of a transaction that does not depend on the database."""

    now: datetime
    settings: Settings
    _environment: Environment

    @overload
    def one(self, query: str, /, **values: SqlValue) -> Row | None: ...

    @overload
    def one(self, query: str, kind: type[R], /, **values: SqlValue) -> R | None: ...

    def one(self, query: str, kind: Any = Row, /, **values: SqlValue) -> Any:
        """Return the first row as a value of a type, or None."""
        rows = self._rows(query, kind, values)
        return rows[0] if rows else None

    @overload
    def all(self, query: str, /, **values: SqlValue) -> list[Row]: ...

    @overload
    def all(self, query: str, kind: type[R], /, **values: SqlValue) -> list[R]: ...

    def all(self, query: str, kind: Any = Row, /, **values: SqlValue) -> Any:
        """Return all rows as values of a type."""
        return self._rows(query, kind, values)

    def exists(self, query: str, /, **values: SqlValue) -> bool:
        """Return whether a query finds a row."""
        return bool(self._rows(query, Row, values))

    @abstractmethod
    def _rows(self, query: str, kind: Any, values: Mapping[str, SqlValue]) -> list[Any]:
        """Carry out a query; return its rows as values of a type."""

    def begin_attempt(self, environment: Environment) -> None:
        """Read the clock and the settings, once for everything that follows."""
        self.now = environment.clock()
        self.settings = environment.settings
        self._environment = environment

    def new_id(self) -> int:
        """Return 32 random bits, for ids and codes."""
        return self._environment.new_id()


@overload
def expect(tx: Transaction, query: str, /, **values: SqlValue) -> Row: ...


@overload
def expect(tx: Transaction, query: str, kind: type[R], /, **values: SqlValue) -> R: ...


def expect(tx: Transaction, query: str, kind: type[R] | None = None, /, **values: SqlValue) -> Any:
    """Return the one row of a query that always has one."""
    row: object = tx.one(query, **values) if kind is None else tx.one(query, kind, **values)
    if row is None:
        raise StorageError(f"The query {query} answered nothing", hint="Run: threadline doctor")
    return row


class Watch(Protocol):
    """Notices commits, by this process and by others."""

    @property
    def rings(self) -> int:
        """How often commits were noticed, by all watches alike: a read sees what rang before it."""
        ...

    async def wait(self, timeout: timedelta | None = None) -> bool:
        """Return at once if something was committed since the last call, else when it is.

        Answers False when the time was over first.
        """
        ...


class Finding(Struct, frozen=True, kw_only=True):
    """One thing a check found."""

    what: str
    grave: bool


class Database(Protocol):
    """A durable store. Nothing here blocks the event loop.

    A verb or query is a plain function whose first argument is the transaction. It may touch
    nothing but the database, for it can be run again: after a failed batch, a deadlock, or a lost
    connection.
    """

    @property
    def owner(self) -> OwnerId:
        """Who this process is, for the leases it takes."""
        ...

    @property
    def environment(self) -> Environment:
        """The clock, the settings and the source of ids that transactions get."""
        ...

    @property
    def trouble(self) -> StorageError | None:
        """Why the open store cannot be relied on: damage, or a file that is gone. None if it can.

        A failure that may pass, such as a full disk, is not reported here but to its caller.
        """
        ...

    def now(self) -> datetime:
        """Tell the time by the clock that all users of this store share."""
        ...

    async def write(
        self, verb: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a verb in one transaction; return after its commit is on disk.

        An error of the verb undoes it wholly and is raised here. A caller that is cancelled
        withdraws a verb that has not started, and waits for the end of one that has.
        """
        ...

    async def read(
        self, query: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query that sees one consistent state of the whole store."""
        ...

    def watch(self) -> AbstractContextManager[Watch]:
        """Begin to notice commits."""
        ...

    def deaths(self) -> AbstractContextManager[Watch]:
        """Begin to notice that other processes which had the store open are gone.

        It is noticed within half a second. Whose leases they held, `dead` decides.
        """
        ...

    async def dead(self, owners: frozenset[OwnerId]) -> frozenset[OwnerId]:
        """Answer those of these owners whose process is certainly gone."""
        ...

    async def check(self, *, deep: bool = False) -> list[Finding]:
        """Return the damage that is found; deep reads every page and index.

        Raise `StorageError` if the store cannot be examined.
        """
        ...

    async def wipe(self) -> bool:
        """Let nothing that was deleted be read any more from the files that belong to the store.

        False: somebody was still looking at an older state, and it has to be done again.
        """
        ...

    async def back_up(
        self, to: Path, *, replace: bool = False, told: Callable[[int, int], None] | None = None
    ) -> None:
        """Copy everything, as it is at one moment, into a SQLite file; others go on meanwhile.

        `told` learns how much is done, and of how much.
        """
        ...

    async def secret(self) -> bytes:
        """Answer the secret of this installation, which is kept outside of the database."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of everything."""
        ...


async def write_keyed(
    database: Database,
    key: str | None,
    verb: Callable[Concatenate[Transaction, P], T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run a verb that finds by a key what it did before; None: it has no key this time.

    A commit whose outcome the database cannot tell is decided by running the verb again.
    """
    try:
        return await database.write(verb, *args, **kwargs)
    except CommitUnknown:
        if key is None:
            raise
    return await database.write(verb, *args, **kwargs)
