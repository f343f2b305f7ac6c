"""Hidden range: lines of a transcript that are not shown, and the results of hiding them."""

from datetime import datetime
from enum import StrEnum
from typing import NewType

from msgspec import Struct

from threadline.core.message import Message
from threadline.core.session import Session
from threadline.core.turn import TurnId

CutKey = NewType("CutKey", int)


class HiddenRangeKind(StrEnum):
    """Why a stretch of a transcript is hidden."""

    UNDONE = "undone"
    """Somebody took it back: hidden from the model and from people, until it is redone."""
    RETRIED = "retried"
    """An answer that was asked for again: hidden from the model and from people."""
    COMPACTED = "compacted"
    """The model is shown a summary in its place; people can still read it."""


class HiddenRange(Struct, frozen=True, kw_only=True):
    """One stretch of a transcript that is out of sight, its first and last line included."""

    key: CutKey
    kind: HiddenRangeKind
    from_seq: int
    to_seq: int
    user_messages: int
    """What a person wrote and, because of this cut, does not see any more."""
    summary: str | None
    """What the model is shown in its place."""
    made_at: datetime


class Undone(Struct, frozen=True, kw_only=True):
    """What was taken back."""

    from_seq: int
    messages: int
    turns: int
    texts: tuple[str, ...]
    """What the person had written, in order, so that it can be offered again."""


class Redone(Struct, frozen=True, kw_only=True):
    """What is shown again."""

    from_seq: int
    messages: int


class Retried(Struct, frozen=True, kw_only=True):
    """A turn that answers the last words of a person once more."""

    turn_id: TurnId
    messages: int
    """The lines of the answer before it, which are hidden now."""


class Edited(Struct, frozen=True, kw_only=True):
    """The branch in which a line reads differently, and the turn that answers it there."""

    session: Session
    turn_id: TurnId


class Boundary(Struct, frozen=True, kw_only=True):
    """Where a compaction would end, and what its summary would stand for."""

    to_seq: int
    messages: tuple[Message, ...]
    """The lines that would be replaced; an earlier summary is the first of them."""
