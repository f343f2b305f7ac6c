"""Pseudonyms: hashes in the place of ids that an agent need not know."""

import re

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.address import Address, Kind
from threadline.core.deletion import Seal
from threadline.core.errors import Invalid
from threadline.core.route import canonical_id
from threadline.core.target import Target, target_of

VEIL_DIGITS = 12
"""Hexadecimal digits of a hash that stands for an id."""

_DIGITS = f"[0-9a-f]{{{VEIL_DIGITS}}}"
_CHAT = re.compile(rf"(?:chat|user)_{_DIGITS}")
_THREAD = re.compile(rf"thread_{_DIGITS}")


class Pseudonymizer(Struct, frozen=True, kw_only=True):
    """Hides ids behind keyed hashes: the same id has the same hash, and nobody can guess it back.

    Without a seal it hides nothing. It spares the platforms where people are mentioned by their
    ids, which an agent must know then.
    """

    seal: Seal | None = None
    spares: frozenset[str] = frozenset()

    def hides(self, platform: str) -> bool:
        """Tell whether the ids of a platform are hidden."""
        return self.seal is not None and platform not in self.spares

    def user(self, platform: str, id: str) -> str:
        """Answer what stands for somebody's id."""
        return self._hashed(platform, "user", canonical_id(platform, id)) or id

    def chat(self, platform: str, id: str) -> str:
        """Answer what stands for the id of a chat."""
        return self._hashed(platform, "chat", id) or id

    def thread(self, platform: str, chat: str, id: str) -> str:
        """Answer what stands for the id of a thread in a chat."""
        return self._hashed(platform, "thread", chat, id) or id

    def target(self, address: Address) -> str | None:
        """Write a place as the target of a delivery; None: it cannot be named as one."""
        platform, chat, thread = address.platform, address.chat, address.thread
        shown = replace(
            address,
            chat=self.chat(platform, chat) if chat else "",
            thread=None if thread is None else self.thread(platform, chat, thread),
        )
        try:
            return str(target_of(shown))
        except Invalid:
            return None

    def stands_for(self, hidden: "PseudonymousAddress", address: Address) -> bool:
        """Tell whether a hidden place is this one."""
        platform, chat = address.platform, address.chat
        if platform != hidden.platform or not chat:
            return False
        if hidden.is_user:
            is_chat = address.kind is Kind.DM and self.user(platform, chat) == hidden.chat
        else:
            is_chat = self.chat(platform, chat) == hidden.chat
        thread = address.thread and self.thread(platform, chat, address.thread)
        return is_chat and (hidden.thread is None or thread == hidden.thread)

    def _hashed(self, platform: str, kind: str, *ids: str) -> str | None:
        if self.seal is None or platform in self.spares:
            return None
        return f"{kind}_{self.seal.mark(f'shown {kind}', platform, *ids)[:VEIL_DIGITS]}"


OPEN: Pseudonymizer = Pseudonymizer()
"""The veil that hides nothing."""


class PseudonymousAddress(Struct, frozen=True, kw_only=True):
    """A place as an agent names it to whom its ids were not shown."""

    platform: str
    chat: str
    thread: str | None = None

    @property
    def is_user(self) -> bool:
        """Whether it is the direct chat of somebody."""
        return self.chat.startswith("user_")


def find_hidden(target: Target) -> PseudonymousAddress | None:
    """Read a target that names a chat by its hash; None: it names it in another way."""
    if not _CHAT.fullmatch(target.chat):
        return None
    if target.thread is not None and not _THREAD.fullmatch(target.thread):
        return None
    return PseudonymousAddress(platform=target.platform, chat=target.chat, thread=target.thread)
