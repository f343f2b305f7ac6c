"""A clock that stands still until somebody moves it."""

from datetime import UTC, datetime, timedelta

A_MONDAY = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class FakeClock:
    """Tells a time of the test's choice, in UTC. Give it to a database as its `clock`."""

    def __init__(self, start: datetime = A_MONDAY) -> None:
        """Stand at a moment."""
        if start.tzinfo is None:
            raise ValueError("A clock needs a time zone; say which")
        self._now = start.astimezone(UTC)

    def __call__(self) -> datetime:
        """Tell the time."""
        return self._now

    def advance(self, span: timedelta) -> datetime:
        """Let time pass, or go back if the span is negative; answer the new time."""
        self._now += span
        return self._now

    def set(self, moment: datetime) -> None:
        """Jump to a moment."""
        self._now = moment.astimezone(UTC)
