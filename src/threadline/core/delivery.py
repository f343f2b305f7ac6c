"""A delivery: one reply owed to an address."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import NewType

from threadline.core.address import Address
from threadline.core.session import Cause, SessionId
from threadline.core.turn import TurnId

DeliveryId = NewType("DeliveryId", int)

STALE_AFTER = timedelta(hours=24)
MAX_DELIVERY_ATTEMPTS = 8
_FIRST_PAUSE = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(minutes=10)


class DeliveryState(StrEnum):
    """Where a reply stands on its way out."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    ABANDONED = "abandoned"


DELIVERY_TRANSITIONS: Mapping[DeliveryState, frozenset[DeliveryState]] = MappingProxyType(
    {
        DeliveryState.PENDING: frozenset({DeliveryState.SENDING, DeliveryState.ABANDONED}),
        DeliveryState.SENDING: frozenset(
            {
                DeliveryState.PENDING,
                DeliveryState.SENT,
                DeliveryState.FAILED,
                DeliveryState.ABANDONED,
            }
        ),
        DeliveryState.SENT: frozenset(),
        DeliveryState.FAILED: frozenset(),
        DeliveryState.ABANDONED: frozenset(),
    }
)
"""What may follow each state of a delivery."""


class SendOutcome(StrEnum):
    """How a failed attempt to send failed."""

    REJECTED = "rejected"
    """The platform said no: nobody saw it."""
    AMBIGUOUS = "ambiguous"
    """We never heard: it may have been seen."""
    DEAD = "dead"
    """There is nobody at that address any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One reply owed to an address: what a turn said, perhaps with a notice before it."""

    id: DeliveryId
    session_id: SessionId
    turn_id: TurnId
    address: Address
    state: DeliveryState
    attempts: int
    fence: int
    owed_at: datetime
    due_at: datetime
    sent_at: datetime | None
    notice: Cause | None
    """Why the session is new, when the person has to be told with this reply."""
    platform_id: str | None
    repeated_at: datetime | None
    """When it was sent again without knowing whether the first attempt had been seen."""
    error: str | None


def pause_after(attempts: int, retry_after: timedelta | None = None) -> timedelta:
    """Answer how long to wait after so many attempts; the platform's own wish comes first."""
    doublings = min(max(attempts - 1, 0), 20)
    pause = min(_FIRST_PAUSE * (1 << doublings), _LONGEST_PAUSE)
    # What it would keep us from for longer than a day is given up by then.
    return min(max(pause, retry_after or timedelta(0)), STALE_AFTER)
