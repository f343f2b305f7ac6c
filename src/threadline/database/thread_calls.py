"""Thread calls: verbs and queries between the event loop and a database thread."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from typing import Concatenate, Generic, ParamSpec, Protocol, TypeVar

from threadline.core.errors import StorageError
from threadline.database.port import Environment, Transaction

P = ParamSpec("P")
T = TypeVar("T")


class BeginningTransaction(Transaction, Protocol):
    """A transaction of an adapter, as the job that runs in it sees it."""

    def begin_attempt(self, environment: Environment) -> None:
        """Read the clock and the settings, once for everything that follows."""
        ...


class ThreadCall(Generic[T]):
    """One call that a database thread carries out for a task of the event loop."""

    __slots__ = (
        "_aftermath",
        "_answered",
        "_environment",
        "_token",
        "_work",
        "deadline",
        "error",
        "future",
        "result",
    )

    def __init__(
        self,
        future: "asyncio.Future[T]",
        work: Callable[[Transaction], T],
        deadline: float,
        environment: Environment,
    ) -> None:
        """Keep what is to be done, by when, and what its transaction gets."""
        self._environment = environment
        self._work = work
        self.future = future
        self.deadline = deadline
        self.result: T | None = None
        self.error: BaseException | None = None
        # Taking the only element is atomic: either a thread starts the job or its caller
        # withdraws it.
        self._token = [None]
        self._answered = False
        self._aftermath: asyncio.Future[None] | None = None

    def start(self) -> bool:
        """Take the job for a thread; False if its caller withdrew it."""
        return bool(self._token) and self._taken()

    def withdraw(self) -> bool:
        """Take the job back; False if a thread has it already."""
        return bool(self._token) and self._taken()

    def _taken(self) -> bool:
        try:
            self._token.pop()
        except IndexError:
            return False
        return True

    def run(self, tx: BeginningTransaction) -> None:
        """Do the work; an error of the work is raised, and a later attempt may do better."""
        self.error = None
        tx.begin_attempt(self._environment)
        try:
            self.result = self._work(tx)
        except StopIteration as error:
            raise _uncarried(error) from error  # A future refuses it.
        except Exception:
            raise
        except BaseException as error:
            # It would end the database's thread here, or the event loop there.
            raise _uncarried(error) from error

    def is_late(self) -> bool:
        """Tell whether the deadline has passed."""
        return time.monotonic() > self.deadline

    def answer(self) -> None:
        """Hand over the outcome. Only the event loop's thread calls this."""
        self._answered = True
        if self._aftermath is not None and not self._aftermath.done():
            self._aftermath.set_result(None)
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)  # type: ignore[arg-type]  # run() has set it

    async def outcome(self) -> T:
        """Wait for the outcome, by the rules for callers that are cancelled meanwhile."""
        try:
            return await self.future
        except asyncio.CancelledError:
            if not self.withdraw():
                await self._finished()
            raise

    async def _finished(self) -> None:
        """Wait for the end of a job that has started, however often the caller is cancelled."""
        while not self._answered:
            if self._aftermath is None:
                self._aftermath = self.future.get_loop().create_future()
            try:
                await asyncio.shield(self._aftermath)
            except asyncio.CancelledError:
                continue


def _uncarried(error: BaseException) -> StorageError:
    return StorageError(
        f"The verb ended with {type(error).__name__}; nothing was stored",
        hint="A verb returns, or raises an error",
    )


class CallQueue:
    """Where one event loop hands jobs to the threads of a database, and gets them back."""

    def __init__(self, deadline_seconds: float, environment: Environment) -> None:
        """Belong to the running event loop."""
        self._environment = environment
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._deadline_seconds = deadline_seconds
        self._is_closed = False

    def close(self) -> bool:
        """Take no more jobs; False if that was so already."""
        was_open, self._is_closed = not self._is_closed, True
        return was_open

    def job(
        self, work: Callable[Concatenate[Transaction, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> ThreadCall[T]:
        """Make a job of a call; refuse one for which nobody would be there any more."""
        if self._is_closed:
            raise StorageError("The store is closed", hint="Open it again")
        # The running loop without asking the system for the process each time, as asyncio does.
        if threading.get_ident() != self._thread or not self._loop.is_running():
            raise StorageError(
                "The store was opened on another event loop", hint="Open one on each loop"
            )
        return ThreadCall(
            self._loop.create_future(),
            lambda tx: work(tx, *args, **kwargs),
            time.monotonic() + self._deadline_seconds,
            self._environment,
        )

    def answer(self, jobs: Iterable[ThreadCall[T]], then: Callable[[], None] | None = None) -> None:
        """Carry finished jobs back to the event loop, all in one hop. Any thread calls this."""

        def hand_over() -> None:
            for job in jobs:
                job.answer()
            if then is not None:
                then()

        try:
            self._loop.call_soon_threadsafe(hand_over)
        except RuntimeError as error:
            # The loop is closed: nobody waits for an answer any more.
            if not self._loop.is_closed():
                raise StorageError("The answer could not reach the event loop") from error
