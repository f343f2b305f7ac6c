"""Access: who may speak, decided by one pure function. Whoever is named nowhere may not."""

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from threadline.core.access_level import AccessLevel
from threadline.core.account import member_of
from threadline.core.address import Address, Kind, Sender
from threadline.core.delivery import LOCAL
from threadline.core.errors import Invalid
from threadline.core.inbound import Inbound
from threadline.core.message import Text
from threadline.core.person import Identity
from threadline.core.route import canonical_id
from threadline.core.validation import checked_count, checked_flag, checked_id, unfit

EVERYBODY = "*"

PAIRING_VALID = timedelta(hours=1)
PENDING_PAIRINGS = 3
"""People on one platform who can wait to be let in at once."""
PAIRING_PAUSE = timedelta(minutes=10)
"""How long nobody is given a second code."""
WRONG_APPROVALS = 5
"""Wrong codes within the span below that lock a platform for as long."""
LOCKED_FOR = timedelta(hours=1)
MESSAGES_PER_MINUTE = 30
"""Messages of one sender in a minute, unless the settings say otherwise."""

REQUESTER, ADMINS, OWNER = "requester", "admins", "owner"
"""Approvers who are not named by their id."""
_LISTS = ("allow", "chats", "admins", "bots")


class AccessRules(Struct, frozen=True, kw_only=True):
    """Whom the owner lets in by settings. An entry is `telegram:42`, or `telegram:*` for all."""

    allow: Collection[str] = ()
    """Senders who may speak."""
    chats: Collection[str] = ()
    """Groups, channels and threads in which everybody may speak."""
    roles: Collection[str] = ()
    """Platforms that let somebody in by a role they have there: `discord`, or `discord:<role>`."""
    admins: Collection[str] = ()
    """Senders who may also see and do what goes beyond their own chat."""
    bots: Collection[str] = ()
    """Bots that are heard; all others are ignored."""
    relays: Collection[str] = ()
    """Platforms whose senders an authenticated connector answers for, also after a restart."""
    pairing: bool = True
    """A stranger who writes directly is given a code to be let in with."""
    per_minute: int = MESSAGES_PER_MINUTE
    """Messages of one sender in a minute; 0: as many as they like."""

    def __post_init__(self) -> None:
        """Take every entry in its one form; refuse what names nobody, or too many."""
        for name in _LISTS:
            entries = frozenset(_entry(entry, name) for entry in _listed(getattr(self, name), name))
            force_setattr(self, name, entries)
        for name in ("admins", "bots"):
            for entry in getattr(self, name):
                if entry.endswith(f":{EVERYBODY}"):
                    raise Invalid(f"{entry} cannot stand in {name}", hint="Name each by their id")
        for name in ("roles", "relays"):
            platforms = {_platform(entry, name) for entry in _listed(getattr(self, name), name)}
            force_setattr(self, name, frozenset(platforms))
        checked_flag(self.pairing, "pairing")
        checked_count(self.per_minute, "per_minute")


class Approvers(Struct, frozen=True, kw_only=True):
    """Who may approve tools that change something: the owner, and those who are named here."""

    named: Collection[str] = (ADMINS,)
    """`requester`, `admins`, `owner`, or a sender such as `telegram:42`."""

    def __post_init__(self) -> None:
        """Take every entry in its one form; refuse what names no sender, or too many."""
        entries = frozenset(_approver(entry) for entry in _listed(self.named, "approvers"))
        force_setattr(self, "named", entries)

    @property
    def include_requester(self) -> bool:
        """Whether the sender whose message a turn answers may approve what it asks."""
        return REQUESTER in self.named

    @property
    def senders(self) -> frozenset[Identity]:
        """The approvers who are named by their id."""
        pairs = (entry.split(":", 1) for entry in self.named if ":" in entry)
        return frozenset(Identity(platform=platform, id=id) for platform, id in pairs)

    def include(self, rank: AccessLevel, platform: str, ids: Collection[str]) -> bool:
        """Return whether a sender of this rank, with these ids on a platform, may approve."""
        if rank.may(AccessLevel.OWNER) or (ADMINS in self.named and rank.may(AccessLevel.ADMIN)):
            return True
        is_named = any(f"{platform}:{id}" in self.named for id in ids)
        return is_named and rank.may(AccessLevel.MEMBER)


class SenderAccess(Struct, frozen=True, kw_only=True):
    """What the store knows of a sender: all ids that are theirs, and whether the owner let them in.

    The ids are those of one platform. Who was linked with them on another one has to be let in
    there by themselves: a link is made by its people, and access is given by the owner.
    """

    ids: frozenset[str] = frozenset()
    is_granted: bool = False


class AccessSponsor(StrEnum):
    """Who answers for a sender whom neither the settings nor a grant name.

    Only the platform can say so, when they speak; what goes on without them goes by the last time.
    """

    ROLE = "role"
    """A role that they have on the platform."""
    RELAY = "relay"
    """An authenticated connector."""


class Grant(Struct, frozen=True, kw_only=True):
    """Somebody whom the owner let in, beside those whom the settings name."""

    identity: Identity
    name: str | None
    granted_at: datetime


class Pairing(Struct, frozen=True, kw_only=True):
    """Somebody who asked to be let in. The code was shown to them alone."""

    identity: Identity
    name: str | None
    asked_at: datetime
    expires_at: datetime


class PairingCode(Struct, frozen=True, kw_only=True):
    """A code to be shown to the owner. It is shown once: the store keeps only its keyed hash."""

    code: str
    expires_at: datetime


def rank_of(
    inbound: Inbound, rules: AccessRules, standing: SenderAccess = SenderAccess()
) -> AccessLevel:
    """Tell how far the sender of something is let in, where they said it."""
    address, sender = inbound.address, inbound.sender
    if address.platform == LOCAL:
        # Whoever sits at the terminal of this machine; members came in by an account of theirs.
        is_member = member_of(LOCAL, sender.id or "") is not None
        return AccessLevel.MEMBER if is_member else AccessLevel.OWNER
    ids = ids_of(address.platform, sender) | standing.ids
    named = {f"{address.platform}:{id}" for id in ids if id != EVERYBODY}
    if not named.isdisjoint(rules.admins):
        return AccessLevel.ADMIN
    is_known = (
        inbound.is_trusted
        or standing.is_granted
        or not named.isdisjoint(rules.allow)
        or not named.isdisjoint(rules.bots)
        # Another bot is heard only if somebody meant exactly this one, or the two talk for ever.
        or (not sender.is_bot and _is_let_in_with_others(address, sender, rules))
    )
    return AccessLevel.MEMBER if is_known else AccessLevel.STRANGER


def spoken_again(
    address: Address,
    sender: Sender,
    voucher: AccessSponsor | None,
    rules: AccessRules,
    *,
    profile: str,
    at: datetime,
) -> Inbound:
    """Return the message by which a sender is ranked who does not speak just now.

    Whoever answered for the sender counts as at the last message, if the rules still allow it.
    """
    return Inbound(
        address=address,
        sender=replace(sender, by_role=voucher is AccessSponsor.ROLE),
        parts=(Text(text="?"),),
        at=at,
        profile=profile,
        is_trusted=voucher is AccessSponsor.RELAY and address.platform in rules.relays,
    )


def voucher_of(inbound: Inbound) -> AccessSponsor | None:
    """Tell who answers for the sender of something."""
    if inbound.is_trusted:
        return AccessSponsor.RELAY
    return AccessSponsor.ROLE if inbound.sender.by_role else None


def ids_of(platform: str, sender: Sender) -> frozenset[str]:
    """List the ids that a sender came with, each in its one form."""
    return frozenset(canonical_id(platform, id) for id in (sender.id, sender.alt_id) if id)


def _is_let_in_with_others(address: Address, sender: Sender, rules: AccessRules) -> bool:
    everybody = f"{address.platform}:{EVERYBODY}"
    if everybody in rules.allow or (sender.by_role and address.platform in rules.roles):
        return True
    if address.kind is Kind.DM:
        return False
    # A thread belongs to the chat that it branches off.
    chats = {f"{address.platform}:{chat}" for chat in (address.chat, address.parent) if chat}
    return everybody in rules.chats or not chats.isdisjoint(rules.chats)


def _listed(value: object, what: str) -> Collection[object]:
    if isinstance(value, Collection) and not isinstance(value, str | bytes):
        return value
    raise unfit(value, what, "a list of entries such as telegram:42")


def _entry(value: object, what: str) -> str:
    platform, colon, id = checked_id(value, f"entry in {what}").partition(":")
    if not (platform and colon and id):
        raise unfit(value, f"entry in {what}", "written as telegram:42, or telegram:*")
    return f"{platform}:{id if what == 'chats' else canonical_id(platform, id)}"


def _approver(value: object) -> str:
    if value in {REQUESTER, ADMINS, OWNER}:
        return str(value)
    entry = _entry(value, "approvers")
    if entry.endswith(f":{EVERYBODY}"):
        raise Invalid(f"{entry} cannot stand in approvers", hint="Name each by their id")
    return entry


def _platform(value: object, what: str) -> str:
    platform = checked_id(value, f"entry in {what}").partition(":")[0]
    if not platform:
        raise unfit(value, f"entry in {what}", "the name of a platform")
    return platform
