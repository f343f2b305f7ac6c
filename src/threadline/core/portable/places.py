"""Places and people: where the lines of an export were said, and by whom."""

from dataclasses import dataclass
from datetime import datetime

from threadline.core.address import Kind
from threadline.core.errors import Invalid
from threadline.core.portable.words import Word
from threadline.core.shape import Id


@dataclass(frozen=True, slots=True, kw_only=True)
class SenderReference:
    """Which sender: one platform knows them by one id."""

    platform: Word
    id: Word


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where something was said, with the names it had."""

    platform: Word
    kind: Kind
    chat: Id = ""
    account: Id = ""
    thread: Id | None = None
    alt_chat: Id | None = None
    parent: Id | None = None
    scope: Id | None = None
    chat_name: str | None = None
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableAlias:
    """Another id under which the platform knows a sender."""

    id: Word
    learned_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PortablePerson:
    """The person behind a sender, by all their senders."""

    name: str | None = None
    made_at: datetime
    senders: tuple[SenderReference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableSender:
    """Somebody who owns the session, speaks in it, or asked for what it spent."""

    platform: Word
    id: Word
    name: str | None = None
    first_seen_at: datetime
    aliases: tuple[PortableAlias, ...] = ()
    person: PortablePerson | None = None

    def __post_init__(self) -> None:
        """Refuse a person that this sender does not belong to."""
        me = SenderReference(platform=self.platform, id=self.id)
        if self.person is not None and me not in self.person.senders:
            raise Invalid("A sender is one of the senders of its person")
