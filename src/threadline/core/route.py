"""Route: which conversation a message belongs to, as a text that can be parsed back.

    agent:<profile>:<platform>[@<account>]:<kind>:<chat>[:thread=<thread>][:member=<sender>]

Each part is percent-escaped: two different conversations never share a route, whatever their ids.
"""

import re
from enum import StrEnum
from typing import NewType
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import Invalid
from threadline.core.validation import checked_choice, checked_id, checked_text, unfit

Route = NewType("Route", str)

MAIN_PROFILE = "main"
WHATSAPP = "whatsapp"

# A route is stored, and must stay the same text for ever. Which characters can be printed changes
# with each Unicode release; so only those of ASCII are written as they are.
_PLAIN = "".join(character for character in map(chr, range(0x20, 0x7F)) if character not in "%:=")
_PLAIN_IN_PLATFORM = _PLAIN.replace("@", "")

_FORM = re.compile(
    r"agent:(?P<profile>[^:]*)"
    r":(?P<platform>[^:@]*)(@(?P<account>[^:]*))?"
    r":(?P<kind>[^:]*)"
    r":(?P<chat>[^:]*)"
    r"(:thread=(?P<thread>[^:]*))?"
    r"(:member=(?P<member>[^:]*))?"
)

_WHATSAPP_ID = re.compile(r"\+?(?P<number>[0-9]+)(:[0-9]+)?(@(?P<domain>.+))?")
_PHONE_DOMAINS = {None, "s.whatsapp.net", "c.us", "hosted"}
_LID_DOMAINS = {"lid", "hosted.lid"}


class Sharing(StrEnum):
    """Who takes part in one conversation."""

    MEMBER = "member"
    """Each member has an own one."""
    SHARED = "shared"
    """All members have one together."""


class Scopes(Struct, frozen=True, kw_only=True):
    """How conversations are shared outside of threads, and inside of them."""

    groups: Sharing = Sharing.MEMBER
    threads: Sharing = Sharing.SHARED

    def __post_init__(self) -> None:
        """Take the two words also as plain text."""
        for name in ("groups", "threads"):
            force_setattr(self, name, checked_choice(getattr(self, name), name, Sharing))

    def sharing_at(self, address: Address) -> Sharing:
        """Tell who takes part in a conversation there; a thread asks only the rule for threads."""
        return self.threads if address.thread else self.groups


class RouteParts(Struct, frozen=True, kw_only=True):
    """What a route says, part by part; as text it is the route."""

    profile: str = MAIN_PROFILE
    platform: str
    account: str = ""
    kind: Kind
    chat: str = ""
    thread: str | None = None
    member: str | None = None

    def __str__(self) -> str:
        """Write the route."""
        platform = _escape(self.platform, _PLAIN_IN_PLATFORM)
        if self.account:
            platform += "@" + _escape(self.account, _PLAIN_IN_PLATFORM)
        text = f"agent:{_escape(self.profile)}:{platform}:{self.kind}:{_escape(self.chat)}"
        if self.thread is not None:
            text += f":thread={_escape(self.thread)}"
        if self.member is not None:
            text += f":member={_escape(self.member)}"
        return text


def route(
    address: Address,
    sender: Sender,
    scopes: Scopes = Scopes(),
    profile: str = MAIN_PROFILE,
) -> Route:
    """Decide which conversation a message belongs to.

    Two ids of one human (WhatsApp's LID and phone number) are made one by the caller beforehand.
    """
    parts = RouteParts(
        profile=canonical_profile(profile),
        platform=address.platform,
        account=address.account,
        kind=address.kind,
        chat=canonical_chat(address, sender),
        thread=address.thread,
        member=_member_of(address, sender, scopes),
    )
    return Route(str(parts))


def parse_route(text: str) -> RouteParts:
    """Read a route back; refuse every text that `route` cannot have made."""
    form = _FORM.fullmatch(checked_text(text, "route"))
    if form is None:
        raise _no_route(text)
    parts = RouteParts(
        profile=_unescape(form["profile"]),
        platform=_unescape(form["platform"]),
        account=_unescape(form["account"]),
        kind=checked_choice(form["kind"], "kind", Kind),
        chat=_unescape(form["chat"]),
        thread=_unescape(form["thread"]) or None,
        member=_unescape(form["member"]) or None,
    )
    if _made_again(parts) != text:
        raise _no_route(text)
    return parts


def is_multi_user(address: Address, scopes: Scopes) -> bool:
    """Tell whether several people speak in one conversation there, by place and settings alone."""
    return address.kind is not Kind.DM and scopes.sharing_at(address) is Sharing.SHARED


def is_member_only(address: Address, scopes: Scopes) -> bool:
    """Whether each member of a group has a conversation of their own there."""
    return address.kind is not Kind.DM and scopes.sharing_at(address) is Sharing.MEMBER


def canonical_profile(profile: str) -> str:
    """Name a profile; empty and `default` mean the main one."""
    named = checked_id(profile, "profile")
    return MAIN_PROFILE if named in {"", "default"} else named


def canonical_sender(platform: str, sender: Sender) -> str | None:
    """Give the id that identifies a sender on a platform, in its one canonical form."""
    return None if sender.canonical is None else canonical_id(platform, sender.canonical)


def canonical_id(platform: str, id: str) -> str:
    """Give the one form of a person's id that may be written in several.

    On WhatsApp `+49170`, `49170:3@s.whatsapp.net` and `49170@c.us` are the phone number `49170`. A
    LID keeps its `@lid`: its digits are no phone number, and may be those of somebody else's.
    Anything odd (no digits, the domain of a group) is a plain id and stays as it is.
    """
    form = _WHATSAPP_ID.fullmatch(id) if platform == WHATSAPP else None
    if form is not None and form["domain"] in _PHONE_DOMAINS:
        return form["number"]
    if form is not None and form["domain"] in _LID_DOMAINS:
        return f"{form['number']}@lid"
    return id


def canonical_chat(address: Address, sender: Sender) -> str:
    """Give the one form of the chat that a message belongs to; a dm may be told by its sender."""
    if address.kind is not Kind.DM:
        return address.chat
    if address.chat:
        return canonical_id(address.platform, address.chat)
    return canonical_sender(address.platform, sender) or ""


def _member_of(address: Address, sender: Sender, scopes: Scopes) -> str | None:
    if address.kind is Kind.DM or scopes.sharing_at(address) is Sharing.SHARED:
        return None
    return canonical_sender(address.platform, sender)


def _made_again(parts: RouteParts) -> Route:
    address = Address(
        platform=parts.platform,
        account=parts.account,
        kind=parts.kind,
        chat=parts.chat,
        thread=parts.thread,
    )
    sharing = Sharing.SHARED if parts.member is None else Sharing.MEMBER
    scopes = Scopes(groups=sharing, threads=sharing)
    return route(address, Sender(id=parts.member), scopes, parts.profile)


def _escape(part: str, plain: str = _PLAIN) -> str:
    # Nearly every id is made of letters and digits, and needs no second look.
    return part if part.isascii() and part.isalnum() else quote(part, safe=plain)


def _unescape(part: str | None) -> str:
    return unquote(part or "")  # what is no UTF-8 comes back changed, and so makes another route


def _no_route(text: str) -> Invalid:
    return unfit(text, "route", "agent:<profile>:<platform>:<kind>:<chat>…, as `route` writes it")
