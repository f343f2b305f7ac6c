"""User callables: functions of the user's, found by name, with a limit to their time."""

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeAlias

from threadline.core.errors import ConfigError, sentence_of
from threadline.core.validation import checked_id

log = logging.getLogger("threadline.gateway")

HOOK_WITHIN = timedelta(seconds=30)
"""How long a hook may take."""
GROUP = "threadline.hooks"
"""Where packages name their hooks."""

Function: TypeAlias = Callable[..., object]


class Callee:
    """One function of the user's: called once at a time, and left alone when it takes too long.

    A synchronous one runs on a thread of its own, which keeps nobody from ending.
    """

    def __init__(self, name: str, function: Function, within: timedelta = HOOK_WITHIN) -> None:
        """Call a function that is known by a name."""
        self.name = checked_id(name, "name of a hook")
        self._function = function
        self._within = within
        self._busy: asyncio.Future[object] | None = None

    async def idle(self) -> None:
        """Wait until it has come back from an earlier call that took too long."""
        if self._busy is not None and not self._busy.done():
            await asyncio.wait({self._busy})

    async def call(self, *values: object) -> None:
        """Call it, and raise what it raises; `TimeoutError` when it does not come back in time."""
        over = asyncio.get_running_loop().time() + self._within.total_seconds()
        try:
            if self._busy is None or await _ends(self._busy, over):
                self._busy = self._begin(values)
                if await _ends(self._busy, over):
                    return _look_at(self._busy)
        except asyncio.CancelledError:
            self._leave_late()
            raise
        self._leave_late()
        raise TimeoutError(f"it did not come back within {self._within.total_seconds():g} seconds")

    def leave(self) -> None:
        """Ask it to end; a thread cannot be asked, and ends by itself or never."""
        if isinstance(self._busy, asyncio.Task):
            self._busy.cancel()

    def _leave_late(self) -> None:
        """Ask it to end, and log what it fails of then: its caller does not wait any more."""
        if self._busy is not None and not self._busy.done():
            self._busy.remove_done_callback(self._log_failure)
            self._busy.add_done_callback(self._log_failure)
        self.leave()

    def _log_failure(self, ended: asyncio.Future[object]) -> None:
        error = None if ended.cancelled() else ended.exception()
        if error is not None:
            log.warning("The hook %s failed after its time was over", self.name, exc_info=error)

    def _begin(self, values: tuple[object, ...]) -> asyncio.Future[object]:
        if is_asynchronous(self._function):
            return asyncio.ensure_future(self._await(values))
        return _on_thread(self._function, values, f"hook {self.name}")

    async def _await(self, values: tuple[object, ...]) -> object:
        try:
            result = self._function(*values)
            return await result if isinstance(result, Awaitable) else result
        except (SystemExit, KeyboardInterrupt) as error:
            # These would end the loop, and everything that runs on it.
            raise RuntimeError(sentence_of(error)) from error


def find_function(name: str) -> Function:
    """Find a function by `package.module:function`, or by the name of an entry point."""
    module_name, colon, path = name.partition(":")
    try:
        if not colon:
            (point,) = entry_points(group=GROUP, name=name)
            found: object = point.load()
        else:
            found = import_module(module_name)
            for step in path.split("."):
                found = getattr(found, step)
    except Exception as error:
        raise _unknown(name, sentence_of(error)) from error
    if not callable(found):
        raise _unknown(name, f"it is a {type(found).__name__}, which cannot be called")
    return found


def is_asynchronous(function: Function) -> bool:
    """Tell whether a function, or an object that can be called, is a coroutine function."""
    call = inspect.getattr_static(type(function), "__call__", None)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _unknown(name: str, why: str) -> ConfigError:
    return ConfigError(
        f"The hook {name!r} cannot be used: {why}",
        hint=f"Name it as package.module:function, or by an entry point of the group {GROUP}",
    )


def _on_thread(function: Function, values: tuple[object, ...], name: str) -> asyncio.Future[object]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[object] = loop.create_future()

    def run() -> None:
        try:
            result, error = function(*values), None
        except BaseException as raised:  # noqa: BLE001 - it is raised where the call is awaited
            result, error = None, raised
        with suppress(RuntimeError):  # The loop may be gone by then.
            loop.call_soon_threadsafe(_settle, future, result, error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future


def _settle(future: asyncio.Future[object], result: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    elif isinstance(error, Exception) and not isinstance(error, StopIteration):
        future.set_exception(error)
    else:
        future.set_exception(RuntimeError(sentence_of(error)))


def _look_at(ended: asyncio.Future[object]) -> None:
    if ended.cancelled():
        raise RuntimeError("it gave up: something that it waited for was cancelled")
    ended.result()


async def _ends(future: asyncio.Future[object], over: float) -> bool:
    left = max(over - asyncio.get_running_loop().time(), 0)
    done, _ = await asyncio.wait({future}, timeout=left)
    return bool(done)
