"""Chats: where people and the bot meet, and everything that can be read there."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from tests.doubles.telegram.files import Stored
from tests.doubles.telegram.refusals import Refusal, Wire, bad

if TYPE_CHECKING:
    from tests.doubles.telegram.people import Person

GENERAL = 1
"""The thread of a forum that needs no naming."""


class ChatKind(StrEnum):
    """What sort of place it is."""

    PRIVATE = "private"
    GROUP = "group"
    SUPERGROUP = "supergroup"
    CHANNEL = "channel"


class Standing(StrEnum):
    """What somebody is in a chat."""

    CREATOR = "creator"
    ADMINISTRATOR = "administrator"
    MEMBER = "member"
    LEFT = "left"
    KICKED = "kicked"


INSIDE = frozenset({Standing.CREATOR, Standing.ADMINISTRATOR, Standing.MEMBER})


@dataclass(slots=True, kw_only=True, eq=False)
class Shown:
    """One message, as people see it and as the Bot API writes it."""

    chat: "Chat"
    wire: Wire
    is_ours: bool = False
    """Whether the bot said it."""
    files: tuple[Stored, ...] = ()
    edits: int = 0
    """How often it was changed."""
    reactions: tuple[str, ...] = ()
    """What the bot put under it."""

    @property
    def id(self) -> int:
        """Its number in the chat."""
        return int(self.wire["message_id"])

    @property
    def text(self) -> str:
        """Its words, or those under its file."""
        return str(self.wire.get("text", self.wire.get("caption", "")))

    @property
    def entities(self) -> list[Wire]:
        """Which stretches of its words are special."""
        found: list[Wire] = self.wire.get("entities") or self.wire.get("caption_entities") or []
        return found

    @property
    def reply_to(self) -> int | None:
        """The number of the message that it answers."""
        answered = self.wire.get("reply_to_message")
        return answered["message_id"] if answered else None

    @property
    def thread(self) -> int | None:
        """The thread that it stands in."""
        return self.wire.get("message_thread_id")

    @property
    def keyboard(self) -> list[list[Wire]]:
        """Its rows of buttons."""
        found: list[list[Wire]] = self.wire.get("reply_markup", {}).get("inline_keyboard", [])
        return found

    @property
    def labels(self) -> list[str]:
        """What can be read on its buttons."""
        return [button["text"] for row in self.keyboard for button in row]

    def quoted(self) -> Wire:
        """Write it as it stands in an answer to it, without what it answers itself."""
        return {key: value for key, value in self.wire.items() if key != "reply_to_message"}


@dataclass(slots=True, kw_only=True, eq=False)
class Topic:
    """A thread of a forum."""

    id: int
    name: str
    opening: Shown
    """The line that says that it was made; whatever stands in it answers this line."""
    is_closed: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Chat:
    """A place, with everybody who is there and all that was said."""

    id: int
    kind: ChatKind
    title: str | None = None
    username: str | None = None
    person: "Person | None" = None
    """With whom the bot is alone there."""
    is_forum: bool = False
    members: "dict[int, tuple[Person, Standing]]" = field(default_factory=dict)
    standing: Standing = Standing.MEMBER
    """What the bot is there; in a private chat, `kicked` is blocked."""
    moved_to: "Chat | None" = None
    """The supergroup that this group became."""
    topics: dict[int, Topic] = field(default_factory=dict)
    lines: dict[int, Shown] = field(default_factory=dict)
    count: int = 0
    """How many messages it has numbered itself."""
    typing: list[Wire] = field(default_factory=list)
    """Every time that something was shown to be going on."""
    drafts: dict[int, str] = field(default_factory=dict)
    """What is shown of answers that still grow."""

    @property
    def messages(self) -> list[Shown]:
        """What the bot said, in order, as far as it was not deleted."""
        return [line for line in self.lines.values() if line.is_ours]

    @property
    def texts(self) -> list[str]:
        """The words of what the bot said."""
        return [line.text for line in self.messages]

    def wire(self) -> Wire:
        """Write it as it stands in a message."""
        told: Wire = {"id": self.id, "type": self.kind.value}
        if self.person is not None:
            told |= {key: value for key, value in self.person.wire().items() if "name" in key}
        if self.title is not None:
            told["title"] = self.title
        if self.username is not None:
            told["username"] = self.username
        if self.is_forum and self.kind is not ChatKind.PRIVATE:
            told["is_forum"] = True
        return told

    def find(self, id: int, otherwise: str) -> Shown:
        """Answer the message with this number, or refuse in these words."""
        if id not in self.lines:
            raise bad(otherwise)
        return self.lines[id]

    def check_open(self) -> None:
        """Refuse what is sent to a chat in which the bot cannot speak."""
        if self.moved_to is not None:
            raise Refusal(
                400,
                "group chat was upgraded to a supergroup chat",
                migrate_to_chat_id=self.moved_to.id,
            )
        if self.kind is ChatKind.PRIVATE:
            if self.standing is Standing.KICKED:
                raise Refusal(403, "bot was blocked by the user")
            if self.standing is Standing.LEFT:
                raise Refusal(403, "bot can't initiate conversation with a user")
        elif self.standing is Standing.KICKED:
            raise Refusal(403, f"bot was kicked from the {self.kind} chat")
        elif self.standing is Standing.LEFT:
            raise Refusal(403, f"bot is not a member of the {self.kind} chat")
        elif self.kind is ChatKind.CHANNEL and self.standing is Standing.MEMBER:
            raise bad("need administrator rights in the channel chat")

    def thread_for(self, id: int | None) -> int | None:
        """Answer the thread that something is sent to, or refuse one that is not there."""
        if not id:
            return None
        if id not in self.topics:
            raise bad("message thread not found")
        if self.topics[id].is_closed and self.standing is Standing.MEMBER:
            raise bad("TOPIC_CLOSED")
        return id
