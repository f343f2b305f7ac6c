"""People on a simulated platform: they write, edit, delete, reply and send files."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from threadline.core.address import Address, Kind, Sender
from threadline.core.errors import NotFound
from threadline.core.inbound import InboundKind
from threadline.platforms.simulated.updates import describe_file

if TYPE_CHECKING:
    from threadline.platforms.simulated.platform import Simulated


class SentFile(Struct, frozen=True, kw_only=True):
    """A file that somebody sends."""

    name: str
    data: bytes
    media_type: str = "application/octet-stream"


class SimulatedPerson:
    """Somebody with an account on one platform."""

    def __init__(self, platform: "Simulated", sender: Sender) -> None:
        """Sit down at the platform. `Simulated.person` does this."""
        self.platform = platform
        """Where they are."""
        self.sender = sender
        self.dm = Address(
            platform=platform.name, kind=Kind.DM, chat=sender.id or "", chat_name=sender.name
        )
        """Where they are alone with us."""

    def writes(
        self,
        text: str = "",
        *,
        at: Address | None = None,
        reply_to: str | None = None,
        files: Sequence[SentFile] = (),
        observed: bool = False,
    ) -> str:
        """Write something, in their dm or elsewhere; answer the id of the message."""
        place = at or self.dm
        shown = self.platform.chats.show(
            place,
            text,
            by=self.sender.name or self.sender.id,
            files=tuple((file.name, file.data) for file in files),
            reply_to=reply_to,
        )
        extra: dict[str, object] = {"reply_to": reply_to, "observed": observed}
        if files:
            extra["files"] = [describe_file(f.name, f.data, f.media_type) for f in files]
        self._tell(InboundKind.MESSAGE, place, shown.id, text=text, **extra)
        return shown.id

    def edits(self, message_id: str, text: str) -> None:
        """Let one of their messages read differently."""
        shown = self.platform.chats.change(message_id, text)
        self._tell(InboundKind.EDIT, shown.address, message_id, text=text, version=shown.edits)

    def deletes(self, message_id: str) -> None:
        """Take one of their messages back."""
        shown = self.platform.chats.remove(message_id)
        self._tell(InboundKind.DELETION, shown.address, message_id, version=shown.edits + 1)

    def presses(self, message_id: str, label: str) -> str:
        """Press one of the choices under a message; answer the id of what is said by that."""
        shown = self.platform.chats.find(message_id)
        for choice in shown.choices:
            if choice.label == label:
                return self.writes(choice.says, at=shown.address, reply_to=message_id)
        raise NotFound("No such choice is shown there", id=label)

    def sees(self, at: Address | None = None) -> list[str]:
        """Read what we said, in their dm or elsewhere."""
        return [shown.text for shown in self.platform.chats.at(at or self.dm) if shown.by is None]

    def blocks(self) -> None:
        """Hear nothing from us any more in their dm."""
        self.platform.close(self.dm)

    def unblocks(self) -> None:
        """Hear from us again."""
        self.platform.reopen(self.dm)

    def _tell(self, kind: InboundKind, at: Address, message_id: str, **extra: object) -> None:
        self.platform.bring(
            {
                "kind": kind.value,
                "message_id": message_id,
                "address": at.as_dict(),
                "sender": self.sender.as_dict(),
                "at": self.platform.now().isoformat(),
                **extra,
            }
        )
