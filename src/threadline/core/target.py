"""A target: where something goes that nobody asked for just there, as a person writes it.

    origin | local | all | <platform> | <platform>[@<account>]:<chat>[:<thread>]

Several stand in a list with commas. A comma, a colon or a percent sign inside an id is written as
its percent-escape (`%2C`, `%3A`, `%25`). Only Matrix is known to have colons in its ids: there a
chat that begins with `!`, `#` or `@` takes everything up to a thread, which begins with `:$`.
"""

import re
from collections.abc import Collection
from enum import StrEnum
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import force_setattr

from threadline.core.address import Address, Kind
from threadline.core.delivery import LOCAL
from threadline.core.errors import Invalid
from threadline.core.validation import checked_choice, checked_id, checked_name, checked_text, unfit

MATRIX = "matrix"
TARGETS_LIMIT = 20
TARGET_LIMIT = 2_000
"""Characters."""

RESERVED_PLATFORMS = frozenset({"all", "api", "local", "origin", "output", "terminal", "web"})
"""Names that no platform of the settings may have: targets, and what is said from this machine."""

_PLAIN = "-._~!#$&'()*+;=@/"
_MATRIX_CHAT = re.compile(r"(?P<chat>[!#@](?:(?!:\$).)*)(?::(?P<thread>\$.*))?")
_WISH = "origin, local, all, a platform, or platform:chat"


class TargetKind(StrEnum):
    """What sort of thing a target names."""

    ORIGIN = "origin"
    """Where it was asked for."""
    LOCAL = "local"
    """A file in the output folder of the profile."""
    ALL = "all"
    """The home of every platform."""
    HOME = "home"
    """The home of one platform."""
    CHAT = "chat"
    """One chat, or a thread in it."""


_WORDS = {kind.value: kind for kind in (TargetKind.ORIGIN, TargetKind.LOCAL, TargetKind.ALL)}


class Target(Struct, frozen=True, kw_only=True):
    """Where something goes; as text it is what a person writes."""

    kind: TargetKind
    platform: str = ""
    account: str = ""
    chat: str = ""
    thread: str | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be written, or would be read as something else."""
        force_setattr(self, "kind", checked_choice(self.kind, "kind of target", TargetKind))
        named = self.kind in {TargetKind.HOME, TargetKind.CHAT}
        if named and checked_name(self.platform, "platform") in _WORDS:
            raise Invalid(f"“{self.platform}” is no platform with chats", hint=f"Write {_WISH}")
        for name in ("account", "chat", "thread"):
            if (value := getattr(self, name)) is not None:
                checked_id(value, name)
        wants_chat = self.kind is TargetKind.CHAT
        spare = (self.account, self.chat, self.thread or "", "" if named else self.platform)
        if bool(self.chat) != wants_chat or (any(spare) and not wants_chat):
            raise unfit(self.chat, "chat", "the id of a chat, where a chat is meant")
        force_setattr(self, "thread", self.thread or None)

    def __str__(self) -> str:
        """Write it so that it can be read back."""
        if self.kind is not TargetKind.CHAT:
            return self.platform or self.kind.value
        account = f"@{_escape(self.account)}" if self.account else ""
        return f"{self.platform}{account}:{self._written_chat()}"

    def _written_chat(self) -> str:
        chat, thread = _escape(self.chat), _escape(self.thread or "")
        if self.platform == MATRIX and chat[0] in "!#@":
            if not thread or thread.startswith("$"):
                colons = chat.replace("%3A", ":").replace(":$", "%3A$")
                return f"{colons}:{thread}" if thread else colons
            chat = f"%{ord(chat[0]):02X}{chat[1:]}"  # by the usual rule, then
        return f"{chat}:{thread}" if thread else chat


def parse_targets(text: str, *, platforms: Collection[str] | None = None) -> tuple[Target, ...]:
    """Read a list of targets, each once; a platform that is not among the known ones is refused.

    Without known platforms, any name may be one.
    """
    written = [item.strip() for item in checked_text(text, "target", TARGET_LIMIT).split(",")]
    if not all(written):
        raise Invalid("A target is missing", hint=f"Write {_WISH}")
    targets = tuple(dict.fromkeys(parse_target(item, platforms=platforms) for item in written))
    if len(targets) > TARGETS_LIMIT:
        raise Invalid(f"There may be {TARGETS_LIMIT} targets, not {len(targets)}")
    return targets


def parse_target(text: str, *, platforms: Collection[str] | None = None) -> Target:
    """Read one target."""
    head, colon, rest = text.strip().partition(":")
    platform, at, account = head.partition("@")
    platform = platform.strip().lower()
    if platform in _WORDS:
        if colon or at:
            raise Invalid(f"“{platform}” stands alone, without a chat", hint=f"Write {_WISH}")
        return Target(kind=_WORDS[platform])
    require_known(platform, platforms)
    if not colon and not at:
        return Target(kind=TargetKind.HOME, platform=platform)
    if not rest:
        raise Invalid(f"“{_shown(text)}” names no chat", hint=f"Write it as {platform}:42")
    chat, thread = _parse_chat(platform, rest)
    return Target(
        kind=TargetKind.CHAT,
        platform=platform,
        account=_unescape(account),
        chat=_unescape(chat),
        thread=None if thread is None else _unescape(thread),
    )


def target_of(address: Address) -> Target:
    """Answer the target that names an address."""
    if address.platform == LOCAL:
        return Target(kind=TargetKind.LOCAL)
    return Target(
        kind=TargetKind.CHAT,
        platform=address.platform,
        account=address.account,
        chat=address.chat,
        thread=address.thread,
    )


def likely_address(target: Target) -> Address:
    """Answer the address of a chat of which nobody has heard yet."""
    return Address(
        platform=target.platform,
        account=target.account,
        kind=Kind.THREAD if target.thread else Kind.CHANNEL,
        chat=target.chat,
        thread=target.thread,
    )


def output_address(profile: str) -> Address:
    """Answer the address of a profile's output folder."""
    return Address(platform=LOCAL, kind=Kind.CHANNEL, chat=checked_name(profile, "profile"))


def _parse_chat(platform: str, rest: str) -> tuple[str, str | None]:
    if platform == MATRIX and (form := _MATRIX_CHAT.fullmatch(rest)):
        return form["chat"], form["thread"]
    chat, colon, thread = rest.partition(":")
    if ":" in thread:
        raise Invalid(
            f"“{_shown(rest)}” has more colons than a chat and a thread need",
            hint="Write a colon inside an id as %3A",
        )
    if not chat or (colon and not thread):
        raise Invalid(f"“{_shown(rest)}” lacks the chat or the thread", hint="Write chat:thread")
    return chat, thread or None


def require_known(platform: str, platforms: Collection[str] | None) -> None:
    """Refuse a platform that is not among the known ones, and name those."""
    if platforms is not None and platform not in platforms:
        known = ", ".join(sorted({*platforms} - {LOCAL})) or "none yet"
        raise Invalid(
            f"There is no platform “{_shown(platform)}”",
            hint=f"Platforms: {known}; or write origin, local or all",
        )


def _escape(part: str) -> str:
    return quote(part, safe=_PLAIN)


def _unescape(part: str) -> str:
    try:
        return unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise unfit(part, "id", "text with percent-escapes of UTF-8") from None


def _shown(text: str) -> str:
    return text[:60]
