"""The server's clock, which all users of a store share."""

import time
from datetime import datetime, timedelta

from threadline.database.postgres.connection import Raw
from threadline.database.timestamps import moment

_ASK = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)"


class ServerClock:
    """Tells the server's time without asking each time: what it said, and what passed since."""

    def __init__(self, connection: Raw) -> None:
        """Ask for the first time."""
        self._said: tuple[datetime, float]
        self.ask(connection)

    def ask(self, connection: Raw) -> None:
        """Ask the server."""
        before = time.monotonic()
        row = connection.execute(_ASK).fetchone()
        after = time.monotonic()
        if row is not None:
            # It looked at its clock somewhere in between.
            self._said = (moment(row[0]), (before + after) / 2)

    def now(self) -> datetime:
        """Tell the time."""
        said, at = self._said
        return said + timedelta(seconds=time.monotonic() - at)
