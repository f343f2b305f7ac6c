"""Inbound: one thing that arrived from a platform."""

from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import force_setattr

from threadline.core.address import Address, Sender
from threadline.core.errors import Invalid
from threadline.core.message import Part, Text, checked_parts
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.validation import (
    checked_choice,
    checked_count,
    checked_flag,
    checked_id,
    checked_moment,
    checked_name,
    checked_type,
)

LATE = timedelta(minutes=1)
"""A message that arrives this long after it was written counts as late."""


class InboundKind(StrEnum):
    """What sort of thing arrived."""

    MESSAGE = "message"
    EDIT = "edit"
    DELETION = "deletion"


class Inbound(Struct, frozen=True, kw_only=True):
    """One thing that arrived: a message, an edit of one, or its deletion."""

    address: Address
    sender: Sender = field(default_factory=Sender)
    parts: tuple[Part, ...] = ()
    at: datetime
    """When it was written, as the platform says."""
    kind: InboundKind = InboundKind.MESSAGE
    message_id: str | None = None
    version: int = 0
    reply_to: str | None = None
    profile: str = MAIN_PROFILE
    observed: bool = False
    """Said where the agent listens, but not to it: kept as context, starts no turn."""
    is_trusted: bool = False
    """An authenticated connector answers for the sender, so that nobody asks who they are.

    Only a local transport says so; it is never read from a payload.
    """
    token: int | None = None
    """The key of the API token that was used, for the audit log; never read from a payload."""

    def __post_init__(self) -> None:
        """Refuse what could not be kept, or could not be found again."""
        checked_type(self.address, "address", Address)
        checked_type(self.sender, "sender", Sender)
        force_setattr(self, "at", checked_moment(self.at, "time of the message"))
        force_setattr(self, "kind", checked_choice(self.kind, "kind", InboundKind))
        checked_flag(self.observed, "observed")
        checked_flag(self.is_trusted, "is_trusted")
        if self.message_id is not None:
            checked_id(self.message_id, "message id")
        if self.reply_to is not None:
            checked_id(self.reply_to, "id of the message replied to")
        checked_count(self.version, "edit version")
        profile = checked_name(canonical_profile(self.profile), "profile")
        force_setattr(self, "profile", profile)
        if self.kind is not InboundKind.MESSAGE and self.message_id is None:
            raise Invalid(f"Which message? A {self.kind} needs a message id")
        least = 0 if self.kind is InboundKind.DELETION else 1
        force_setattr(self, "parts", checked_parts(self.parts, least))

    def lateness(self, now: datetime) -> timedelta:
        """Return how long after it was written it arrives; zero if that is not noticeable."""
        late = now - self.at
        return late if late >= LATE else timedelta(0)

    @classmethod
    def text(
        cls,
        words: str,
        *,
        address: Address,
        at: datetime,
        sender: Sender | None = None,
        message_id: str | None = None,
        profile: str = MAIN_PROFILE,
    ) -> "Inbound":
        """Make an everyday message of plain words."""
        return cls(
            address=address,
            sender=sender or Sender(),
            parts=(Text(text=words),),
            at=at,
            message_id=message_id,
            profile=profile,
        )
