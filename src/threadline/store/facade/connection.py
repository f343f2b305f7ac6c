"""Connection: what every part of the store stands on."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from threadline.core.account import Account
from threadline.core.errors import StorageError
from threadline.core.gateway_status import Uptime
from threadline.core.settings import Settings
from threadline.core.turn import OwnerId
from threadline.core.validation import checked_flag
from threadline.database.port import Database, DropOutputs, Finding
from threadline.store.authorisation import Authority


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
        if rules is not None:
            self.rules = rules
        if new_id is not None:
            database.environment.new_id = new_id
        if drop_outputs is not None:
            database.environment.drop_outputs = drop_outputs

    @property
    def _viewer(self) -> Account | None:
        """The account that a request is made with; None: this store serves no request."""
        return None if self._authority is None else self._authority.account

    @property
    def database(self) -> Database:
        """The database below: `await store.database.write(verb, …)` runs a verb of the store."""
        return self._db

    @property
    def uptime(self) -> Callable[[], Uptime]:
        """How time is measured in which nothing works on the queue."""
        return self._db.environment.uptime

    @uptime.setter
    def uptime(self, uptime: Callable[[], Uptime]) -> None:
        """Measure it in another way."""
        self._db.environment.uptime = uptime

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
