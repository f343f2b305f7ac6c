"""The world behind the Bot API: one bot, the people, their chats, and the files on the shelf."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.doubles.telegram.calls import Call
from tests.doubles.telegram.chats import Chat, ChatKind, Shown, Standing, Topic
from tests.doubles.telegram.contents import MEDIA
from tests.doubles.telegram.files import Shelf, Stored
from tests.doubles.telegram.people import Person
from tests.doubles.telegram.refusals import Wire, bad
from tests.doubles.telegram.updates import Bell, Updates

CHANNEL_OFFSET = 1_000_000_000_000
"""Supergroups and channels are numbered below this, in the negative."""


@dataclass(slots=True, kw_only=True, eq=False)
class Press:
    """A button that somebody pressed, and what the bot answered to it."""

    id: str
    data: str
    person: Person
    message: Shown
    answer: Wire | None = None
    """What the bot answered; None: the button still spins."""


class World:
    """All state, which outlives every program that runs the bot."""

    def __init__(self, bot_id: int, name: str, username: str) -> None:
        """Begin with a bot and nobody else."""
        self.bot: Wire = {
            "id": bot_id,
            "is_bot": True,
            "first_name": name,
            "username": username,
            "can_join_groups": True,
            "can_read_all_group_messages": False,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
        }
        self.bell = Bell()
        self.shift = timedelta()
        """How far its clock runs ahead of ours."""
        self.updates = Updates(self.now, self.bell)
        self.shelf = Shelf()
        self.people: dict[int, Person] = {}
        self.chats: dict[int, Chat] = {}
        self.presses: dict[str, Press] = {}
        self.commands: dict[tuple[str, str], list[Wire]] = {}
        self.notes: dict[str, Wire] = {}
        """What the bot says of itself, by what it is."""
        self._lines = 0

    @property
    def signature(self) -> Wire:
        """The bot as it stands in messages."""
        return {key: self.bot[key] for key in ("id", "is_bot", "first_name", "username")}

    def now(self) -> datetime:
        """Read the clock."""
        return datetime.now(UTC) + self.shift

    def stamp(self) -> int:
        """Read the clock as the Bot API writes moments."""
        return int(self.now().timestamp())

    def find_chat(self, written: str) -> Chat:
        """Answer the chat that a call names, by its number or its public name."""
        if not written:
            raise bad("chat_id is empty")
        if written.startswith("@"):
            found = [one for one in self.chats.values() if one.username == written[1:]]
        else:
            found = [one for one in (self.chats.get(_number(written)),) if one]
        if not found:
            raise bad("chat not found")
        return found[0]

    def open_chat(self, call: Call) -> Chat:
        """Answer the chat that a call wants to speak in, if the bot can speak there."""
        chat = self.find_chat(call.text("chat_id"))
        chat.check_open()
        return chat

    def add_line(
        self,
        chat: Chat,
        content: Wire,
        *,
        by: Person | None,
        files: tuple[Stored, ...] = (),
        reply_to: Shown | None = None,
        thread: int | None = None,
    ) -> Shown:
        """Let a new message stand in a chat; without a person, the bot says it."""
        wire: Wire = {"message_id": self._number(chat)}
        if chat.kind is ChatKind.CHANNEL:
            wire["sender_chat"] = chat.wire()
        else:
            wire["from"] = by.wire() if by else self.signature
        wire |= {"chat": chat.wire(), "date": self.stamp()}
        if thread is not None and thread in chat.topics:
            wire |= {"message_thread_id": thread, "is_topic_message": True}
            reply_to = reply_to or chat.topics[thread].opening
        elif reply_to is not None and chat.kind is ChatKind.SUPERGROUP:
            # Replies make a thread of their own in a supergroup, which is no topic.
            wire["message_thread_id"] = reply_to.thread or reply_to.id
        if reply_to is not None:
            wire["reply_to_message"] = reply_to.quoted()
        shown = Shown(chat=chat, wire={**wire, **content}, is_ours=by is None, files=files)
        chat.lines[shown.id] = shown
        self.bell.ring()
        return shown

    def change_line(self, shown: Shown, content: Wire) -> None:
        """Let a message read differently."""
        kept = {k: v for k, v in shown.wire.items() if k not in _CHANGED or k in content}
        shown.wire = {**kept, "edit_date": self.stamp(), **content}
        shown.edits += 1
        self.bell.ring()

    def remove_line(self, shown: Shown) -> None:
        """Take a message away."""
        del shown.chat.lines[shown.id]
        self.bell.ring()

    def add_topic(self, chat: Chat, name: str, *, by: Person | None) -> Topic:
        """Open a thread in a forum."""
        if not chat.is_forum:
            raise bad("the chat is not a forum")
        created = {"name": name, "icon_color": 7_322_096}
        opening = self.add_line(chat, {"forum_topic_created": created}, by=by)
        opening.wire |= {"message_thread_id": opening.id, "is_topic_message": True}
        opening.is_ours = False
        topic = Topic(id=opening.id, name=name, opening=opening)
        chat.topics[topic.id] = topic
        return topic

    def hears(self, shown: Shown) -> bool:
        """Tell whether the bot is given a message, or privacy hides it."""
        chat = shown.chat
        if chat.kind is ChatKind.CHANNEL:
            return chat.standing is Standing.ADMINISTRATOR
        if chat.standing not in (Standing.MEMBER, Standing.ADMINISTRATOR):
            return False
        open_ear = self.bot["can_read_all_group_messages"]
        if chat.kind is ChatKind.PRIVATE or open_ear or chat.standing is Standing.ADMINISTRATOR:
            return True
        return self._is_meant(shown) or not (_SPOKEN & shown.wire.keys())

    def tell(self, kind: str, shown: Shown) -> None:
        """Bring the bot a message, if it is given it."""
        if self.hears(shown):
            self.updates.push(kind, dict(shown.wire))

    def move(self, chat: Chat) -> Chat:
        """Let a group become a supergroup, under another number."""
        new = Chat(
            id=-CHANNEL_OFFSET - abs(chat.id),
            kind=ChatKind.SUPERGROUP,
            title=chat.title,
            members=dict(chat.members),
            standing=chat.standing,
        )
        self.chats[new.id] = new
        chat.moved_to = new
        by = next((person for person, _ in chat.members.values()), None)
        self.tell("message", self._service(chat, {"migrate_to_chat_id": new.id}, by))
        self.tell("message", self._service(new, {"migrate_from_chat_id": chat.id}, by))
        return new

    def press(self, person: Person, shown: Shown, data: str) -> Press:
        """Let somebody press a button; it spins until the bot answers."""
        press = Press(
            id=f"{person.id}{len(self.presses):08d}", data=data, person=person, message=shown
        )
        self.presses[press.id] = press
        self.updates.push(
            "callback_query",
            {
                "id": press.id,
                "from": person.wire(),
                "message": dict(shown.wire),
                "chat_instance": str(7_000_000_000 + abs(shown.chat.id)),
                "data": data,
            },
        )
        return press

    def place_bot(self, chat: Chat, standing: Standing, *, by: Person) -> None:
        """Let the bot be something else in a chat from now on."""
        old, chat.standing = chat.standing, standing
        self.tell_standing("my_chat_member", chat, self.signature, old, standing, by=by)

    def tell_standing(
        self, kind: str, chat: Chat, who: Wire, old: Standing, new: Standing, *, by: Person
    ) -> None:
        """Bring the bot the news that somebody, or itself, is something else in a chat."""
        if kind == "chat_member" and chat.standing is not Standing.ADMINISTRATOR:
            return
        self.updates.push(
            kind,
            {
                "chat": chat.wire(),
                "from": by.wire(),
                "date": self.stamp(),
                "old_chat_member": member_wire(who, old),
                "new_chat_member": member_wire(who, new),
            },
        )

    def _service(self, chat: Chat, content: Wire, by: Person | None) -> Shown:
        shown = self.add_line(chat, content, by=by)
        shown.is_ours = False
        return shown

    def _is_meant(self, shown: Shown) -> bool:
        """Tell whether a message in a group is a command, a mention, or an answer to the bot."""
        answered = shown.wire.get("reply_to_message", {})
        if answered.get("from", {}).get("id") == self.bot["id"]:
            return True
        mine = f"@{self.bot['username']}".lower()
        words = shown.text.lower()
        if words.startswith("/"):
            command = words.split()[0]
            return "@" not in command or command.endswith(mine)
        return mine in words

    def _number(self, chat: Chat) -> int:
        """Number a message: supergroups and channels count for themselves, the rest together."""
        if chat.kind in (ChatKind.SUPERGROUP, ChatKind.CHANNEL):
            # The first of all tells that the place was made; in a forum it is the general topic.
            chat.count = max(chat.count + 1, 2)
            return chat.count
        self._lines += 1
        return self._lines


_CHANGED = frozenset({"text", "entities", "caption", "caption_entities", "reply_markup"})
_SPOKEN = MEDIA | {"text", "contact", "dice", "location", "poll", "venue"}


def _number(written: str) -> int:
    return int(written) if written.removeprefix("-").isdecimal() else 0


def member_wire(who: Wire, standing: Standing) -> Wire:
    """Write somebody as a member of a chat."""
    told: Wire = {"user": who, "status": standing.value}
    match standing:
        case Standing.ADMINISTRATOR:
            return {**told, "can_be_edited": False, "is_anonymous": False, **_RIGHTS}
        case Standing.CREATOR:
            return {**told, "is_anonymous": False}
        case Standing.KICKED:
            return {**told, "until_date": 0}
        case _:
            return told


_RIGHTS = dict.fromkeys(
    (
        "can_manage_chat",
        "can_delete_messages",
        "can_manage_video_chats",
        "can_restrict_members",
        "can_promote_members",
        "can_change_info",
        "can_invite_users",
        "can_post_stories",
        "can_edit_stories",
        "can_delete_stories",
        "can_send_welcome_messages",
    ),
    True,
)
