"""Lease: whether this process still holds what it works on, and what follows when it does not.

A lost lease of a turn cancels its agent; only the usage of the turn is stored
(`Worker._close_lost`). A lost lease of a delivery ends its sending (`DeliverySender`). Another
process recovers both: `store/turn_queue/crash_recovery.py` and `store/deliveries/recovery.py`.
"""

from collections.abc import Callable
from datetime import timedelta

from threadline.gateway.intervals import uptime


class LeaseProof:
    """The time at which the store last confirmed a lease, by the machine's own clock.

    A process that was stopped or suspended finds its leases lapsed when it wakes up, and asks the
    store before it acts on them.
    """

    def __init__(
        self,
        lease: timedelta,
        clock: Callable[[], float] = uptime,
        asked_at: float | None = None,
    ) -> None:
        """Start with a lease that was asked for at this time of the clock, by default now."""
        self._lease = lease.total_seconds()
        self.clock = clock
        self._at = clock() if asked_at is None else asked_at

    @property
    def has_lapsed(self) -> bool:
        """Whether the lease may expire soon, or may have expired, since it was last confirmed.

        A third of it is left for what is done after this check.
        """
        return self.clock() - self._at > self._lease * 2 / 3

    def confirm(self, asked_at: float) -> None:
        """Note that the store confirmed the lease when it was asked at this time of the clock."""
        self._at = max(self._at, asked_at)
