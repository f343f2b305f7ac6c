"""Deletion: what goes when a session or a person is forgotten, and the proof that it went."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NewType

from msgspec import Struct, field

from threadline.core.errors import Invalid
from threadline.core.session import SessionId
from threadline.core.validation import checked_count, checked_type

ForgettingId = NewType("ForgettingId", int)

SEAL_BYTES = 32
"""Length of the secret that tombstones are made with."""

OUT_OF_REACH = (
    "Backups that were made before: delete them, or restore and forget again.",
    "Exports that were made before, and what platforms and models' providers were given.",
    "Old blocks of the disk itself: only an encrypted disk protects those.",
    "What others said about it in answers of their own.",
)
"""What no program can take back, said plainly."""


class DeletionKind(StrEnum):
    """What is forgotten."""

    SESSION = "session"
    """One conversation."""
    PERSON = "person"
    """Everything that somebody said, and what was answered."""
    RETENTION = "retention"
    """Conversations whose time of keeping is over."""


class DeletionState(StrEnum):
    """How far a forgetting has come."""

    REMOVING = "removing"
    """Rows are being removed, slice by slice."""
    WIPING = "wiping"
    """No row is left; traces in the journal are still to be wiped."""
    DONE = "done"


class DeletionPreview(Struct, frozen=True, kw_only=True):
    """What would go if something were forgotten now."""

    kind: DeletionKind
    sessions: tuple[SessionId, ...]
    """They go as a whole."""
    shared: tuple[SessionId, ...] = ()
    """They stay, and lose what the person said there and what was answered."""
    branches: tuple[SessionId, ...] = ()
    """They stay, and lose the history that they shared with what goes."""
    messages: int = 0
    attachments: int = 0
    senders: int = 0


class Certificate(Struct, frozen=True, kw_only=True):
    """What was removed, and when. It holds numbers and keyed hashes, and nothing that was said."""

    id: ForgettingId
    kind: DeletionKind
    state: DeletionState
    asked_at: datetime
    done_at: datetime | None
    counts: Mapping[str, int] = field(default_factory=dict)
    tombstones: tuple[str, ...] = ()
    """Keyed hashes of what was forgotten, by which an import knows it again."""
    out_of_reach: tuple[str, ...] = OUT_OF_REACH

    def sentence(self) -> str:
        """Say what is gone, and what still has to be wiped."""
        gone = " · ".join(f"{what} {number:,}" for what, number in self.counts.items())
        rest = ""
        if self.state is not DeletionState.DONE:
            rest = " Traces in the journal are wiped as soon as nobody reads it."
        return f"Forgotten: {gone or 'nothing'}. Certificate {self.id}.{rest}"


class Seal(Struct, frozen=True, kw_only=True):
    """The secret of an installation, with which names become hashes that nobody can guess."""

    key: bytes

    def __post_init__(self) -> None:
        """Refuse a secret that could be guessed."""
        if len(checked_type(self.key, "secret", bytes)) < SEAL_BYTES:
            raise Invalid(f"A seal needs a secret of {SEAL_BYTES} bytes")

    def __repr__(self) -> str:
        """Show nothing of the secret."""
        return "Seal()"

    def mark(self, kind: str, *names: str) -> str:
        """Hash a name; its parts cannot run into each other."""
        parts = [part.encode() for part in (kind, *names)]
        framed = b"".join(len(part).to_bytes(8, "big") + part for part in parts)
        return hmac.new(self.key, framed, hashlib.sha256).hexdigest()


def checked_forgetting_id(value: object) -> ForgettingId:
    """Take what may be the id of a forgetting."""
    return ForgettingId(checked_count(value, "forgetting id"))
