"""A delivery: something owed to an address, what a turn said or words of its own."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import NewType

from msgspec import Struct

from threadline.core.address import Address
from threadline.core.session import Cause, SessionId
from threadline.core.system_notes import tell_person
from threadline.core.turn import TurnId
from threadline.core.validation import checked_count, checked_id

DeliveryId = NewType("DeliveryId", int)

STALE_AFTER = timedelta(hours=24)
MAX_DELIVERY_ATTEMPTS = 8
MAX_REPEATS = 5
"""How often a reply is sent again because the process stopped while it was being sent."""
KEEP_WORDS_OWED = timedelta(days=7)
STREAMER_FIRST = timedelta(seconds=60)
"""So long only the process that streamed an answer carries it on: its last call ends by then."""
REPEAT_MARKER = "[This may be a repeat.]"
"""What stands before a message that may have been seen already."""
_MARK_DIGITS = 12
LOCAL = "local"
"""The platform of a terminal, which reads its answers from the store."""
_FIRST_PAUSE = timedelta(seconds=1)
_LONGEST_PAUSE = timedelta(minutes=10)
_BETWEEN_LINES = "\n\n"


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
        # Somebody wants it to be tried once more.
        DeliveryState.FAILED: frozenset({DeliveryState.PENDING}),
        DeliveryState.ABANDONED: frozenset({DeliveryState.PENDING}),
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


class Delivery(Struct, frozen=True, kw_only=True):
    """Something owed to an address: what a turn said, perhaps with a notice, or words of its own.

    One that grows is streamed: its turn still runs, and its last word is not known.
    """

    id: DeliveryId
    session_id: SessionId | None
    turn_id: TurnId | None
    address: Address
    state: DeliveryState
    attempts: int
    """How often it was tried since something of it was last taken."""
    fence: int
    owed_at: datetime
    due_at: datetime
    sent_at: datetime | None
    notice: Cause | None
    """Why the session is new, when the person has to be told with this reply."""
    platform_id: str | None
    repeated_at: datetime | None
    """When it became unknown whether an attempt was seen: the next message is a possible repeat."""
    error: str | None
    unheard_at: datetime | None = None
    """When the platform did not answer an attempt; the next unanswered one is the last."""
    repeats: int = 0
    """How often the process stopped while sending, since a message of it was last taken."""
    seq: int | None = None
    """The line that it carries, if a person said it in the agent's place."""
    part: int = 0
    """Which one of its turn at this address, counted from 0."""
    is_growing: bool = False
    dead_at: datetime | None = None
    """Since when nothing could be sent to its address."""

    @property
    def is_doubtful(self) -> bool:
        """Whether something of it may have been seen that nobody knows of."""
        return self.repeated_at is not None and self.state is not DeliveryState.SENT


class SentPiece(Struct, frozen=True, kw_only=True):
    """One message of a delivery that its platform has taken."""

    n: int
    platform_id: str | None
    length: int
    """How many characters of the whole are in it; none in a file, negative while it still grows."""

    def __post_init__(self) -> None:
        """Refuse what is no number, and an id that no index could hold."""
        checked_count(self.n, "number of a piece")
        checked_count(self.length, "length of a piece", GROWING)
        if self.platform_id is not None:
            checked_id(self.platform_id, "platform's id of a piece")

    @property
    def is_settled(self) -> bool:
        """Whether it reads as it shall read in the end."""
        return self.length != GROWING


GROWING = -1
"""The length of a piece that still grows."""


def output_mark(key: str) -> str:
    """Return what the names of the files have in common that one message to `local` becomes."""
    return hashlib.sha256(key.encode()).hexdigest()[:_MARK_DIGITS]


def output_pattern(mark: str) -> str:
    """Return a glob for the files with a mark; a mark in the name of an attachment is not meant."""
    return f"{'[0-9]' * 8}-{'[0-9]' * 6}-{mark}*"


def output_marks(delivery_id: int, pieces: int) -> set[str]:
    """Return the marks that the first pieces of a delivery may have, sent once or again."""
    keys = (f"{delivery_id}-{n}{again}" for n in range(pieces) for again in ("", "-anew"))
    return {output_mark(key) for key in keys}


def is_carried_out(platform: str) -> bool:
    """Tell whether answers are owed to a platform; a terminal reads them from the store."""
    return platform != LOCAL


def compose(notice: Cause | None, lines: Iterable[str]) -> str:
    """Make one text of what has to be said; what is said later only adds to its end."""
    why = None if notice is None else tell_person(notice)
    return _BETWEEN_LINES.join(line for line in (why, *lines) if line and not line.isspace())


def pause_after(attempts: int, retry_after: timedelta | None = None) -> timedelta:
    """Answer how long to wait after so many attempts; the platform's own wish comes first."""
    doublings = min(max(attempts - 1, 0), 20)
    pause = min(_FIRST_PAUSE * (1 << doublings), _LONGEST_PAUSE)
    # What it would keep us from for longer than a day is given up by then.
    return min(max(pause, retry_after or timedelta(0)), STALE_AFTER)
