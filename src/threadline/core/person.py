"""A person: whoever speaks through one or several senders, and what they may ask to see."""

import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NewType

from msgspec import Struct, field
from msgspec.structs import force_setattr

from threadline.core.address import Address, Sender
from threadline.core.errors import Invalid
from threadline.core.revision import revision_of
from threadline.core.route import MAIN_PROFILE, canonical_id, canonical_profile
from threadline.core.validation import (
    checked_count,
    checked_flag,
    checked_id,
    checked_name,
    checked_type,
)

PersonKey = NewType("PersonKey", int)

CODE_LENGTH = 8
CODE_BITS = 5 * CODE_LENGTH
"""Random bits in a code."""
CODE_VALID = timedelta(minutes=10)
LIVE_CODES = 3
"""Link codes of one sender that are valid at once; a further one replaces the oldest."""
WRONG_CODES = 5
"""Wrong link codes within the span below that lock a sender out for as long."""
WRONG_WITHIN = timedelta(hours=1)

# Nothing in it is taken for something else: no 0 and O, no 1 and I. 32 signs are five bits each.
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_BETWEEN = re.compile(r"[\s-]+")


class PeopleMode(StrEnum):
    """What it means for conversations that several senders are one person."""

    APART = "apart"
    """Each chat has its own conversation."""
    ONE_CONVERSATION = "one conversation"
    """All direct messages of a person go on in one, on every platform."""


class Identity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """By what id a platform knows somebody."""

    platform: str
    id: str

    def __post_init__(self) -> None:
        """Refuse what no platform could know; take the id in its one form."""
        for name in ("platform", "id"):
            if not checked_id(getattr(self, name), name):
                raise Invalid(f"Who is meant? The {name} is empty")
        force_setattr(self, "id", canonical_id(self.platform, self.id))

    def __str__(self) -> str:
        """Read as `telegram:42`."""
        return f"{self.platform}:{self.id}"


class KnownSender(Struct, frozen=True, kw_only=True):
    """A sender as the store knows them."""

    identity: Identity
    name: str | None
    first_seen_at: datetime | None
    """None: they are known by name only, and have not spoken yet."""


class Person(Struct, frozen=True, kw_only=True):
    """Somebody who speaks through several senders."""

    key: PersonKey
    name: str | None
    made_at: datetime
    senders: tuple[KnownSender, ...]

    @property
    def revision(self) -> str:
        """Name the state that they are in: what somebody can change about them."""
        return revision_of(self.key, self.name)


class Viewer(Struct, frozen=True, kw_only=True):
    """Who wants to see something, and from where; what they may see follows from that.

    The owner of the installation sees everything in a profile; `Viewer.owner()` makes one.
    """

    address: Address | None = None
    sender: Sender = field(default_factory=Sender)
    profile: str = MAIN_PROFILE
    sees_all: bool = False
    token: int | None = None
    """The key of the API token that was used, for the audit log; None: none."""

    def __post_init__(self) -> None:
        """Refuse an asker from nowhere who is not the owner: nothing could be proven of them."""
        checked_type(self.sender, "sender", Sender)
        checked_flag(self.sees_all, "sees_all")
        profile = checked_name(canonical_profile(self.profile), "profile")
        force_setattr(self, "profile", profile)
        if self.address is not None:
            checked_type(self.address, "address", Address)
        elif not self.sees_all:
            raise Invalid("Who asks? An asker who is not the owner needs an address")

    @classmethod
    def owner(cls, profile: str = MAIN_PROFILE) -> "Viewer":
        """Ask as the owner of the installation."""
        return cls(profile=profile, sees_all=True)


def checked_person_key(value: object) -> PersonKey:
    """Take the key of a person."""
    return PersonKey(checked_count(value, "key of a person", 1))


def write_code(bits: int) -> str:
    """Write forty random bits as a code that a person can read and type."""
    signs = []
    for _ in range(CODE_LENGTH):
        bits, sign = divmod(bits, len(_ALPHABET))
        signs.append(_ALPHABET[sign])
    return "".join(signs)


def read_code(text: str) -> str:
    """Bring a code as somebody typed it into its one form, whatever stands between its signs."""
    return _BETWEEN.sub("", text).upper()
