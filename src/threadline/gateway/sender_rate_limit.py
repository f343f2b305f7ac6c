"""Rate limit: how much one sender may write in a while."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

REMEMBERED = 10_000
"""Senders whose haste is remembered at once; who was silent longest is forgotten first."""

_MINUTE = timedelta(minutes=1)


class RateDecision(StrEnum):
    """Whether somebody writes too fast."""

    NONE = "none"
    """They may go on."""
    FIRST = "first"
    """They have to wait, and have not been told so for a minute."""
    AGAIN = "again"
    """They have to wait, and know it."""


@dataclass(slots=True)
class _Bucket:
    """What somebody may still write."""

    left: float
    at: datetime
    told_at: datetime | None = None
    left_out: int = 0
    """Messages that came too fast since they were last told how many."""


class SenderRateLimit:
    """Lets everybody write so many messages in a minute, all at once or one by one.

    It is kept in memory alone: what it forgets is only that somebody was hasty.
    """

    def __init__(self, per_minute: int, most: int = REMEMBERED) -> None:
        """Begin with everybody free to write; 0: as much as they like."""
        self.per_minute = per_minute
        self._most = most
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()

    def take(self, who: Hashable, at: datetime) -> RateDecision:
        """Count a message that somebody wrote at a moment.

        It is the moment of the message, so that what a platform brings late, and all at once, is
        judged by how fast it was written. Time does not go back.
        """
        if not self.per_minute:
            return RateDecision.NONE
        bucket = self._bucket(who, at)
        if bucket.left >= 1:
            bucket.left -= 1
            return RateDecision.NONE
        bucket.left_out += 1
        if bucket.told_at is not None and bucket.at < bucket.told_at + _MINUTE:
            return RateDecision.AGAIN
        bucket.told_at = bucket.at
        return RateDecision.FIRST

    def free_at(self, who: Hashable, at: datetime) -> datetime:
        """Tell when somebody may write again."""
        if not self.per_minute:
            return at
        bucket = self._bucket(who, at)
        return bucket.at + max(1 - bucket.left, 0) / self.per_minute * _MINUTE

    def report(self, who: Hashable) -> int:
        """Answer how many messages were left out since this was asked last, once a minute.

        The one with which they are told that they have to wait is told by that.
        """
        bucket = self._buckets.get(who)
        if bucket is None or bucket.told_at is None or not bucket.left_out:
            return 0
        if bucket.at == bucket.told_at:
            count, bucket.left_out = bucket.left_out - 1, 0
            return count
        if bucket.at < bucket.told_at + _MINUTE:
            return 0
        count, bucket.left_out = bucket.left_out, 0
        return count

    def _bucket(self, who: Hashable, at: datetime) -> _Bucket:
        bucket = self._buckets.setdefault(who, _Bucket(left=self.per_minute, at=at))
        self._buckets.move_to_end(who)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        if at > bucket.at:
            gained = (at - bucket.at) / _MINUTE * self.per_minute
            bucket.left = min(bucket.left + gained, self.per_minute)
            bucket.at = at
        return bucket

    def __len__(self) -> int:
        """Tell how many senders are remembered."""
        return len(self._buckets)
