"""Timestamps: microseconds since 1970, in UTC."""

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def stamp(moment: datetime) -> int:
    """Answer the number that stands for a moment."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(stamped: int) -> datetime:
    """Answer the moment that a number stands for."""
    return _EPOCH + timedelta(0, 0, stamped)  # days, seconds: without a name it is read faster
