"""Chats: what people on a simulated platform see."""

from collections.abc import Iterator
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from threadline.core.address import Address
from threadline.core.delivery import SendOutcome
from threadline.core.platform import Choice, SendFailed


class ChatMessage(Struct, frozen=True, kw_only=True):
    """One message as people see it now."""

    id: str
    address: Address
    text: str
    by: str | None
    """Who wrote it; None: we did."""
    files: tuple[tuple[str, bytes], ...] = ()
    choices: tuple[Choice, ...] = ()
    reply_to: str | None = None
    edits: int = 0


class Chats:
    """All that was said on one platform, and by which id."""

    def __init__(self) -> None:
        """Begin with empty chats."""
        self._shown: dict[str, ChatMessage] = {}
        self._ids = count(1)

    def show(
        self,
        address: Address,
        text: str,
        *,
        by: str | None = None,
        files: tuple[tuple[str, bytes], ...] = (),
        choices: tuple[Choice, ...] = (),
        reply_to: str | None = None,
    ) -> ChatMessage:
        """Show one more message, under an id of its own."""
        shown = ChatMessage(
            id=str(next(self._ids)),
            address=address,
            text=text,
            by=by,
            files=files,
            choices=choices,
            reply_to=reply_to,
        )
        self._shown[shown.id] = shown
        return shown

    def find(self, message_id: str) -> ChatMessage:
        """Answer a message that is there, or say that it is not."""
        if (shown := self._shown.get(message_id)) is None:
            raise SendFailed(
                "There is no such message", outcome=SendOutcome.REJECTED, id=message_id
            )
        return shown

    def change(self, message_id: str, text: str) -> ChatMessage:
        """Let a message read differently."""
        shown = self.find(message_id)
        self._shown[message_id] = replace(shown, text=text, edits=shown.edits + 1)
        return self._shown[message_id]

    def remove(self, message_id: str) -> ChatMessage:
        """Take a message away."""
        shown = self.find(message_id)
        del self._shown[message_id]
        return shown

    def at(self, address: Address) -> list[ChatMessage]:
        """List what is seen in one place, in the order in which it came."""
        return [
            shown for shown in self._shown.values() if chat_key(shown.address) == chat_key(address)
        ]

    def __iter__(self) -> Iterator[ChatMessage]:
        """Walk over everything that is seen anywhere."""
        return iter(list(self._shown.values()))


def chat_key(address: Address) -> tuple[str, str | None]:
    """Tell one place of a platform from another, whatever else an address says."""
    return address.chat, address.thread
