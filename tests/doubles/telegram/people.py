"""People: they write, send files, edit, press buttons, come and go; the bot hears of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.doubles.telegram.calls import Upload
from tests.doubles.telegram.chats import Chat, ChatKind, Shown, Standing, Topic
from tests.doubles.telegram.contents import set_words, write_media
from tests.doubles.telegram.files import Stored
from tests.doubles.telegram.refusals import Wire
from threadline.core.errors import NotFound

if TYPE_CHECKING:
    from tests.doubles.telegram.state import Press, World


class Person:
    """Somebody with an account."""

    def __init__(
        self, world: "World", *, id: int, name: str, username: str | None, is_bot: bool = False
    ) -> None:
        """Open an account. `BotApi.person` does this."""
        self._world = world
        self.id = id
        self.name = name
        self.username = username
        self.is_bot = is_bot

    def wire(self) -> Wire:
        """Write them as they stand in messages."""
        first, _, last = self.name.partition(" ")
        told: Wire = {"id": self.id, "is_bot": self.is_bot, "first_name": first}
        if last:
            told["last_name"] = last
        if self.username:
            told["username"] = self.username
        return told if self.is_bot else {**told, "language_code": "en"}

    async def writes(
        self,
        chat: Chat,
        text: str,
        *,
        reply_to: Shown | None = None,
        thread: Topic | int | None = None,
        entities: Sequence[Wire] = (),
        **more: object,
    ) -> Shown:
        """Write something; `more` is anything else that the message should carry."""
        content = {**set_words(text, list(entities)), **more}
        return self._says(chat, content, reply_to=reply_to, thread=thread)

    async def sends(
        self,
        chat: Chat,
        kind: str,
        data: bytes = b"",
        *,
        name: str = "",
        caption: str = "",
        media_type: str | None = None,
        size: int | None = None,
        reply_to: Shown | None = None,
        thread: Topic | int | None = None,
        **more: object,
    ) -> Shown:
        """Send a photo, document, voice, audio, video, video_note, animation or sticker.

        A size can be claimed that is not really there.
        """
        upload = Upload(name=name, data=data, media_type=media_type or "")
        media, stored = write_media(self._world.shelf, kind, upload, size=size)
        content = {**media, **set_words(caption, [], caption=True), **more}
        return self._says(chat, content, files=(stored,), reply_to=reply_to, thread=thread)

    async def sends_album(
        self, chat: Chat, kind: str, *files: bytes, caption: str = "", thread: int | None = None
    ) -> list[Shown]:
        """Send several files at once: as many messages, which share one media group."""
        group = str(13_000_000_000_000_000 + self._world.stamp() * 1000 + len(chat.lines))
        return [
            await self.sends(
                chat,
                kind,
                data,
                name=f"{kind}{n}",
                caption=caption if n == 0 else "",
                thread=thread,
                media_group_id=group,
            )
            for n, data in enumerate(files)
        ]

    async def shows(
        self,
        chat: Chat,
        *,
        reply_to: Shown | None = None,
        thread: Topic | int | None = None,
        **content: object,
    ) -> Shown:
        """Send anything else, such as `location={…}`, `contact={…}` or `poll={…}`."""
        return self._says(chat, dict(content), reply_to=reply_to, thread=thread)

    async def edits(self, shown: Shown, text: str) -> None:
        """Let one of their messages read differently."""
        words = set_words(text, [], caption="text" not in shown.wire)
        self._world.change_line(shown, words)
        channel = shown.chat.kind is ChatKind.CHANNEL
        self._world.tell("edited_channel_post" if channel else "edited_message", shown)

    async def deletes(self, shown: Shown) -> None:
        """Take one of their messages back; no bot is ever told."""
        self._world.remove_line(shown)

    async def presses(self, shown: Shown, label: str) -> "Press":
        """Press a button under a message."""
        for row in shown.keyboard:
            for button in row:
                if button["text"] == label and "callback_data" in button:
                    return self._world.press(self, shown, button["callback_data"])
        raise NotFound("No such button is shown there", id=label)

    async def reacts(self, shown: Shown, emoji: str) -> None:
        """Put an emoji under a message."""
        self._world.updates.push(
            "message_reaction",
            {
                "chat": shown.chat.wire(),
                "message_id": shown.id,
                "user": self.wire(),
                "date": self._world.stamp(),
                "old_reaction": [],
                "new_reaction": [{"type": "emoji", "emoji": emoji}],
            },
        )

    async def joins(self, chat: Chat) -> None:
        """Come into a group."""
        old = chat.members.get(self.id, (self, Standing.LEFT))[1]
        chat.members[self.id] = (self, Standing.MEMBER)
        self._world.tell_standing("chat_member", chat, self.wire(), old, Standing.MEMBER, by=self)
        self._says(chat, {"new_chat_members": [self.wire()]})

    async def leaves(self, chat: Chat) -> None:
        """Go out of a group."""
        old = chat.members.pop(self.id, (self, Standing.MEMBER))[1]
        self._world.tell_standing("chat_member", chat, self.wire(), old, Standing.LEFT, by=self)
        self._says(chat, {"left_chat_member": self.wire()})

    async def adds_bot(self, chat: Chat, *, admin: bool = False) -> None:
        """Bring the bot into a group or a channel."""
        self._world.place_bot(chat, Standing.ADMINISTRATOR if admin else Standing.MEMBER, by=self)

    async def removes_bot(self, chat: Chat) -> None:
        """Throw the bot out of a group or a channel."""
        self._world.place_bot(chat, Standing.KICKED, by=self)

    async def blocks(self, chat: Chat) -> None:
        """Hear nothing from the bot any more in their private chat."""
        self._world.place_bot(chat, Standing.KICKED, by=self)

    async def unblocks(self, chat: Chat) -> None:
        """Hear from the bot again."""
        self._world.place_bot(chat, Standing.MEMBER, by=self)

    async def opens_topic(self, chat: Chat, name: str) -> Topic:
        """Open a thread in a forum."""
        topic = self._world.add_topic(chat, name, by=self)
        self._world.tell("message", topic.opening)
        return topic

    def _says(
        self,
        chat: Chat,
        content: Wire,
        *,
        files: tuple[Stored, ...] = (),
        reply_to: Shown | None = None,
        thread: Topic | int | None = None,
    ) -> Shown:
        shown = self._world.add_line(
            chat,
            content,
            by=self,
            files=files,
            reply_to=reply_to,
            thread=thread.id if isinstance(thread, Topic) else thread,
        )
        channel = chat.kind is ChatKind.CHANNEL
        self._world.tell("channel_post" if channel else "message", shown)
        return shown
