"""Signals that end the program, and the watchdog that ends it if it does not end by itself."""

import asyncio
import faulthandler
import logging
import math
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType, TracebackType
from typing import Self

from threadline.core.errors import ThreadlineError

log = logging.getLogger("threadline.serve")

LINGER = timedelta(seconds=10)
"""How long a stop may take after running answers had their time (`drain_seconds`)."""
CLOSING = timedelta(seconds=2)
"""How long the process may take to end after everything is stored, or after a second signal.

An event loop that is still blocked so long after `drain_seconds` is not waited for either.
"""
LAST_WORDS = timedelta(seconds=5)
"""How long a process that is about to be ended may take to store what agents had said."""
_BLOCKED_AFTER = 1.0
_ENDING = (signal.SIGINT, signal.SIGTERM)
_CLOSE, _OVER = 254, 255
"""What the watchdog is told beside the numbers of signals."""


class Signals:
    """Handles SIGINT and SIGTERM: the first one asks for a stop, the second one does not wait.

    It surrounds `asyncio.run`. After a signal a thread watches that the process ends in time,
    whatever an agent does: ignore its cancellation, block a thread, or block the event loop. The
    thread hears of signals by a pipe (`signal.set_wakeup_fd`): the main thread may be blocked.
    """

    def __init__(self) -> None:
        """Watch over nothing yet."""
        self.were_two = False
        self.drain: Callable[[], timedelta] = timedelta
        """Returns how long running answers may go on after the first signal."""
        self.save: Callable[[], Awaitable[None]] | None = None
        """Stores what agents had said, called in another thread when the event loop is blocked."""
        self.busy: Callable[[], list[str]] = list
        """Names what still runs."""
        self._exit_code = 1
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None
        self._asked: asyncio.Event | None = None
        self._count = 0
        self._is_armed = False
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._threads = set(threading.enumerate())
        self._before: dict[signal.Signals, Callable[..., object] | int | None] = {}

    def __enter__(self) -> Self:
        """Handle the signals from now on. Only the main thread can do this."""
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        threading.Thread(target=self._watch, name="threadline-watchdog", daemon=True).start()
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for one in _ENDING:
            self._before[one] = signal.signal(one, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Restore the handlers; go on watching if a thread keeps the process from ending."""
        for one, before in self._before.items():
            signal.signal(one, before)
        signal.set_wakeup_fd(self._wakeup)
        begun = set(threading.enumerate()) - self._threads
        if any(not thread.daemon for thread in begun):
            self._post(_CLOSE)
        else:
            faulthandler.cancel_dump_traceback_later()
            self._post(_OVER)

    def bind(self) -> None:
        """Stop the current task of the running event loop."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._asked = asyncio.Event()
        if self._count:
            self._asked.set()

    async def wait(self) -> None:
        """Wait for the first signal."""
        if self._asked is not None:
            await self._asked.wait()

    def close(self, *, in_order: bool) -> None:
        """Let the process end soon, by itself or by force: nothing more will be stored."""
        self._exit_code = 0 if in_order else 1
        self._post(_CLOSE)

    @contextmanager
    def calling(self, number: signal.Signals, callback: Callable[[], None]) -> Iterator[None]:
        """Call a function in the event loop whenever another signal comes, while this lasts."""
        self._callbacks[number] = callback
        before = signal.signal(number, self._handle)
        try:
            yield
        finally:
            signal.signal(number, before)
            del self._callbacks[number]

    def _post(self, news: int) -> None:
        os.write(self._writer, bytes([news]))

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal in the main thread, as soon as that runs Python code."""
        if number in _ENDING and not self._is_armed and sys.__stderr__ is not None:
            # The last resort, which needs no interpreter: code may hold it and never let go.
            self._is_armed = True
            limit = (self.drain() + LINGER + LAST_WORDS).total_seconds()
            faulthandler.dump_traceback_later(limit, exit=True, file=sys.__stderr__)
        wakeup = signal.set_wakeup_fd(-1)
        if wakeup == self._writer:
            signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        else:
            # Other code in this process has redirected signals to its own pipe.
            signal.set_wakeup_fd(wakeup)
            self._post(number)

    def _watch(self) -> None:
        """Hand signals to the event loop, and end the process when its time is over."""
        deadline = last = math.inf
        while True:
            left = None if deadline == math.inf else max(deadline - time.monotonic(), 0)
            if not select.select([self._reader], [], [], left)[0]:
                if deadline >= last or self._is_blocked():
                    self._end_process()
                    return
                deadline = last
                continue
            news = os.read(self._reader, 1)[0]
            now = time.monotonic()
            if news == _OVER:
                os.close(self._reader)
                os.close(self._writer)
                return
            if news in self._callbacks:
                self._call(self._callbacks[news])
            elif news == _CLOSE or (news in _ENDING and self._count):
                deadline = last = min(last, now + CLOSING.total_seconds())
            elif news in _ENDING:
                deadline = now + (self.drain() + CLOSING).total_seconds()
                last = min(last, now + (self.drain() + LINGER).total_seconds())
            if news in _ENDING:
                self._count += 1
                self._call(self._hear)

    def _call(self, callback: Callable[[], None]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback)

    def _hear(self) -> None:
        if self._asked is None:
            return
        if self._count > 1 and not self.were_two and self._task is not None:
            self.were_two = True
            self._task.cancel()
        self._asked.set()

    def _end_process(self) -> None:
        # Apart, as even a line in the log may wait for ever for a lock.
        last = threading.Thread(target=self._say_last_words, daemon=True)
        last.start()
        last.join(LAST_WORDS.total_seconds())
        os._exit(self._exit_code)

    def _say_last_words(self) -> None:
        busy = ", ".join(self.busy()) or "threads"
        log.error("The process does not end by itself and is ended now; still running: %s", busy)
        if self._loop is not None and self._is_blocked():
            task = asyncio.current_task(self._loop)
            name = "an unknown task" if task is None else task.get_name()
            log.error("The event loop is blocked by %s, in %s", name, _where())
            if self.save is not None:
                asyncio.run(_tried(self.save))

    def _is_blocked(self) -> bool:
        """Return whether the event loop runs nothing; one that is closed is not blocked."""
        is_alive = threading.Event()
        try:
            self._call(is_alive.set)
        except RuntimeError:
            return False
        is_running = self._loop is not None and self._loop.is_running()
        return is_running and not is_alive.wait(_BLOCKED_AFTER)


async def _tried(save: Callable[[], Awaitable[None]]) -> None:
    try:
        await save()
    except ThreadlineError as error:
        log.error("What agents said since the last checkpoint cannot be stored: %s", error)  # noqa: TRY400 - it says what is wrong


def _where() -> str:
    """Name the line at which the main thread is."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)  # noqa: SLF001 - no other
    if frame is None:
        return "an unknown place"
    last = traceback.extract_stack(frame)[-1]
    return f"{last.name} ({last.filename}:{last.lineno})"
