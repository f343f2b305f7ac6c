"""Inbound: one thing that arrived from a platform."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from threadline.core.address import Address, Sender
from threadline.core.errors import Invalid
from threadline.core.message import PARTS_LIMIT, Part, Text
from threadline.core.route import MAIN_PROFILE, canonical_profile
from threadline.core.text import checked_count, checked_id, checked_moment, checked_name


class InboundKind(StrEnum):
    """What sort of thing arrived."""

    MESSAGE = "message"
    EDIT = "edit"
    DELETION = "deletion"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """One thing that arrived: a message, an edit of one, or its deletion."""

    address: Address
    sender: Sender = field(default_factory=Sender)
    parts: tuple[Part, ...] = ()
    at: datetime
    kind: InboundKind = InboundKind.MESSAGE
    message_id: str | None = None
    version: int = 0
    reply_to: str | None = None
    profile: str = MAIN_PROFILE
    observed: bool = False
    """Said where the agent listens, but not to it: kept as context, starts no turn."""

    def __post_init__(self) -> None:
        """Refuse what could not be kept, or could not be found again."""
        object.__setattr__(self, "at", checked_moment(self.at, "time of the message"))
        if self.message_id is not None:
            checked_id(self.message_id, "message id")
        if self.reply_to is not None:
            checked_id(self.reply_to, "id of the message replied to")
        checked_count(self.version, "edit version")
        profile = checked_name(canonical_profile(self.profile), "profile")
        object.__setattr__(self, "profile", profile)
        if self.kind is not InboundKind.MESSAGE and self.message_id is None:
            raise Invalid(f"Which message? A {self.kind} needs a message id")
        if self.kind is not InboundKind.DELETION and not 1 <= len(self.parts) <= PARTS_LIMIT:
            raise Invalid(f"A message has 1 to {PARTS_LIMIT} parts, not {len(self.parts)}")

    @classmethod
    def text(  # noqa: PLR0913 - the fields of an everyday message
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
