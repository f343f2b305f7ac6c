"""Connection: what every part of the store stands on."""

import asyncio
import logging
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from threadline.core.account import Account
from threadline.core.errors import StorageError, ThreadlineError
from threadline.core.gateway_status import Uptime
from threadline.core.settings import Settings
from threadline.core.turn import OwnerId
from threadline.core.validation import checked_flag
from threadline.database.port import Database, Finding
from threadline.store.authorisation import Authority
from threadline.store.facade.shared_feed import SharedFeed

log = logging.getLogger("threadline.store")

# On macOS the monotonic clock counts time asleep; on Linux another one does.
_UP = time.CLOCK_BOOTTIME if sys.platform == "linux" else time.CLOCK_MONOTONIC

DropOutputs: TypeAlias = Callable[[Sequence[str]], Awaitable[object]]
"""Deletes the files of some sessions, or with some names; it may be asked to do so again."""


class StoreConnection:
    """A database, the rules, and a clock."""

    def __init__(
        self,
        database: Database,
        rules: Settings | None = None,
        new_id: Callable[[], int] | None = None,
        *,
        drop_outputs: DropOutputs | None = None,
    ) -> None:
        """Stand on an open database; `drop_outputs` deletes what was written beside it."""
        self._db = database
        self._unchecked = database
        """The same without the checks of a request, for what was decided and has to be finished."""
        self._authority: Authority | None = None
        self._feed = SharedFeed(database)
        if rules is not None:
            self.rules = rules
        if new_id is not None:
            database.environment.new_id = new_id
        self._drop_outputs = drop_outputs
        self.uptime: Callable[[], Uptime] = read_uptime
        """How time is measured in which nothing works on the queue."""

    @property
    def _viewer(self) -> Account | None:
        """The account that a request is made with; None: this store serves no request."""
        return None if self._authority is None else self._authority.account

    @property
    def owner(self) -> OwnerId:
        """Who this process is, for the leases it takes."""
        return self._db.owner

    @property
    def rules(self) -> Settings:
        """The settings of every transaction; set them, and those that begin afterwards use them."""
        return self._db.environment.settings

    @rules.setter
    def rules(self, rules: Settings) -> None:
        """Let the transactions that begin from now on go by other settings."""
        self._db.environment.settings = rules

    @property
    def trouble(self) -> StorageError | None:
        """Why the open store cannot be relied on (damage, a file that is gone), or None."""
        return self._db.trouble

    def now(self) -> datetime:
        """Tell the time by the clock that all users of the store share."""
        return self._db.now()

    async def check(self, *, deep: bool = False) -> list[Finding]:
        """Look for damage in the store."""
        return await self._db.check(deep=deep)

    async def back_up(
        self,
        to: Path | str,
        *,
        replace: bool = False,
        told: Callable[[int, int], None] | None = None,
    ) -> None:
        """Copy everything, as it is at one moment, into one file; others go on meanwhile.

        `told` learns, on another thread, how much is done, and of how much.
        """
        await self._db.back_up(Path(to), replace=checked_flag(replace, "replace"), told=told)

    async def close(self) -> None:
        """Finish what was begun and let go of the database."""
        await self._db.close()

    async def __aenter__(self) -> Self:
        """Use the store."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store."""
        await self.close()


def read_uptime() -> Uptime:
    """Read how long this machine has been up, time asleep included."""
    return Uptime(boot=_read_boot(), elapsed=timedelta(seconds=time.clock_gettime(_UP)))


@cache
def _read_boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        # Then only this process can tell how long ago it recorded something.
        return secrets.token_hex(8)


async def run_to_end(work: Awaitable[None]) -> None:
    """Carry something out to its end, however often the caller is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            continue
    # What could not be done is found by its lease; the caller hears that it was cancelled.
    error = None if task.cancelled() else task.exception()
    if error is not None and not isinstance(error, ThreadlineError):
        log.error("What was begun before a cancellation failed", exc_info=error)
