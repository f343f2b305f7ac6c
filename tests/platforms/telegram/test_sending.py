"""What is said on Telegram is seen there, and what goes wrong is told for what it is."""

import hashlib
import socket
from base64 import b64decode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from threadline.core.address import Address, Kind
from threadline.core.command import COMMANDS
from threadline.core.delivery import SendOutcome
from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.core.platform import Choice, Outgoing, SendFailed
from threadline.platforms.telegram.pacing import Pacing
from threadline.platforms.telegram.sending import Mouth
from threadline.platforms.telegram.wire import make_bot
from threadline.testing.telegram import TOKEN, BotApi, Chat

PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


class Scene:
    """A mouth, and somebody who hears it."""

    def __init__(self, api: BotApi, mouth: Mouth) -> None:
        """Let Alice start the bot."""
        self.api = api
        self.mouth = mouth
        self.alice = api.person("Alice")
        self.dm = api.dm(self.alice)

    async def say(
        self,
        text: str = "",
        *,
        to: Chat | None = None,
        thread: int | None = None,
        files: Sequence[Attachment] = (),
        choices: Sequence[Choice] = (),
        reply_to: str | None = None,
    ) -> str | None:
        """Say something to Alice, or elsewhere."""
        outgoing = Outgoing(
            address=place(to or self.dm, thread),
            text=text,
            attachments=tuple(files),
            choices=tuple(choices),
            reply_to=reply_to,
            key="1",
        )
        return await self.mouth.send(outgoing, read_blob)

    async def fail(self, text: str = "words", to: Chat | None = None) -> SendFailed:
        """Say something that is not taken."""
        with pytest.raises(SendFailed) as failed:
            await self.say(text, to=to)
        return failed.value


def place(chat: Chat, thread: int | None = None) -> Address:
    """Name a chat."""
    kind = Kind.DM if chat.id > 0 else Kind.GROUP
    return Address(
        platform="telegram",
        kind=kind,
        chat=str(chat.id),
        thread=None if thread is None else str(thread),
    )


def file(kind: MediaKind, media_type: str, name: str | None = "a.bin") -> Attachment:
    """Make an attachment."""
    blob = BlobHash(hashlib.sha256(PICTURE).hexdigest())
    return Attachment(kind=kind, blob=blob, media_type=media_type, size=len(PICTURE), name=name)


async def rest(_: float) -> None:
    """Take no time."""


async def read_blob(_: BlobHash) -> AsyncIterator[bytes]:
    """Read the one file that there is."""
    yield PICTURE[:7]
    yield PICTURE[7:]


@asynccontextmanager
async def on_telegram(url: str | None = None) -> AsyncIterator[Scene]:
    """Set the scene; another address than the double's is one where nobody is."""
    async with BotApi() as api:
        bot = make_bot(TOKEN, url or api.url)
        try:
            yield Scene(api, Mouth(lambda: bot))
        finally:
            await bot.session.close()


async def test_words_are_shown_in_style() -> None:
    """Markdown arrives as styles, and the id of the message is answered."""
    async with on_telegram() as scene:
        id = await scene.say("**Hello** 🧵 `you`")

        (shown,) = scene.dm.messages
        assert (str(shown.id), shown.text) == (id, "Hello 🧵 you")
        styles = [(one["type"], one["offset"], one["length"]) for one in shown.entities]
        assert styles == [("bold", 0, 5), ("code", 9, 3)]


async def test_choices_are_buttons() -> None:
    """What can be pressed says what it stands for; what a button cannot say is left out."""
    choices = [
        Choice(label="Approve", says="/approve 1"),
        Choice(label="Too long", says="/resume " + "x" * 64),
    ]
    async with on_telegram() as scene:
        await scene.say("May I?", choices=choices)

        (shown,) = scene.dm.messages
        assert [[one["callback_data"] for one in row] for row in shown.keyboard] == [["/approve 1"]]


async def test_a_topic_and_the_message_replied_to_are_told() -> None:
    """An answer goes into its topic, under what it answers; the general topic has no number."""
    async with on_telegram() as scene:
        group = scene.api.group("Friends", [scene.alice], forum=True)
        topic = await scene.alice.opens_topic(group, "Plans")
        asked = await scene.alice.writes(group, "/status", thread=topic.id)
        await scene.say("here", to=group, thread=topic.id, reply_to=str(asked.id))
        await scene.say("there", to=group, thread=1, reply_to="not a number")

        here, there = [one for one in group.messages if one.text in {"here", "there"}]
        assert (here.thread, here.reply_to) == (topic.id, asked.id)
        assert there.thread in {None, 1}


async def test_a_reply_to_what_is_gone_is_said_all_the_same() -> None:
    """That the message was deleted keeps nobody from answering it."""
    async with on_telegram() as scene:
        asked = await scene.alice.writes(scene.dm, "hello")
        await scene.alice.deletes(asked)
        await scene.say("hello to you", reply_to=str(asked.id))

        assert scene.dm.texts[-1] == "hello to you"


@pytest.mark.parametrize(
    ("kind", "media_type", "method"),
    [
        (MediaKind.IMAGE, "image/png", "sendPhoto"),
        (MediaKind.IMAGE, "image/svg+xml", "sendDocument"),
        (MediaKind.AUDIO, "audio/ogg", "sendVoice"),
        (MediaKind.AUDIO, "audio/mpeg", "sendAudio"),
        (MediaKind.AUDIO, "audio/x-odd", "sendDocument"),
        (MediaKind.FILE, "application/pdf", "sendDocument"),
    ],
)
async def test_a_file_is_shown_as_what_it_is(kind: MediaKind, media_type: str, method: str) -> None:
    """Pictures, voices and sounds are shown as such, and everything else as a document."""
    async with on_telegram() as scene:
        id = await scene.say("**look**", files=[file(kind, media_type, None)])

        assert [call.method for call in scene.api.calls] == [method]
        (shown,) = scene.dm.messages
        assert (str(shown.id), shown.text, shown.entities[0]["type"]) == (id, "look", "bold")


async def test_a_picture_that_telegram_cannot_show_is_sent_as_a_file() -> None:
    """Nothing is lost because Telegram does not like how a picture is made."""
    async with on_telegram() as scene:
        scene.api.fail(400, "Bad Request: IMAGE_PROCESS_FAILED", methods="sendPhoto")
        await scene.say(files=[file(MediaKind.IMAGE, "image/png")])

        assert [call.method for call in scene.api.calls] == ["sendPhoto", "sendDocument"]


async def test_many_words_and_many_files_are_messages_of_their_own() -> None:
    """What does not fit under a file goes before it."""
    async with on_telegram() as scene:
        long = "x" * 2000
        id = await scene.say(long, files=[file(MediaKind.FILE, "text/plain")] * 2)

        assert [call.method for call in scene.api.calls] == [
            "sendMessage",
            "sendDocument",
            "sendDocument",
        ]
        assert str(scene.dm.messages[0].id) == id


async def test_what_was_seen_in_part_is_not_called_unseen() -> None:
    """If the file fails after the words were shown, nobody claims that nothing was seen."""
    async with on_telegram() as scene:
        scene.api.fail(500, "Internal Server Error", methods="sendDocument")
        with pytest.raises(SendFailed) as failed:
            await scene.say("x" * 2000, files=[file(MediaKind.FILE, "text/plain")])

        assert failed.value.outcome is SendOutcome.AMBIGUOUS


async def test_styles_that_telegram_refuses_are_left_out() -> None:
    """The words are said plain, once."""
    async with on_telegram() as scene:
        scene.api.fail(400, "Bad Request: ENTITY_BOUNDS_INVALID")
        await scene.say("**hello**")

        (shown,) = scene.dm.messages
        assert (shown.text, shown.entities) == ("hello", [])


async def test_a_message_can_read_differently() -> None:
    """A change is seen; that nothing would change is no failure."""
    async with on_telegram() as scene:
        id = await scene.say("Once") or ""
        await scene.mouth.edit(place(scene.dm), id, "Once *upon*")
        await scene.mouth.edit(place(scene.dm), id, "Once *upon*")

        (shown,) = scene.dm.messages
        assert (shown.text, shown.entities[0]["type"]) == ("Once upon", "italic")


async def test_a_message_that_is_gone_cannot_be_changed() -> None:
    """Then that is told, so that the words are said anew."""
    async with on_telegram() as scene:
        with pytest.raises(SendFailed, match="not found"):
            await scene.mouth.edit(place(scene.dm), "777", "hello")


async def test_a_flood_is_heeded_by_all_that_follow() -> None:
    """The pause that Telegram asks for holds for the chat, and for no other."""
    async with on_telegram() as scene:
        bob = scene.api.dm(scene.api.person("Bob"))
        scene.api.flood(30)
        first, second = await scene.fail(), await scene.fail()
        await scene.say("hello", to=bob)

        assert first.retry_after == timedelta(seconds=30)
        assert second.retry_after is not None
        assert len(scene.api.called("sendMessage")) == 2


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (403, "Forbidden: bot was blocked by the user"),
        (403, "Forbidden: bot was kicked from the supergroup chat"),
        (403, "Forbidden: user is deactivated"),
        (400, "Bad Request: chat not found"),
        (400, "Bad Request: PEER_ID_INVALID"),
        (400, "Bad Request: message thread not found"),
    ],
)
async def test_where_nobody_is_any_more_is_told(status: int, reason: str) -> None:
    """Blocked, kicked, gone: that is remembered until somebody writes again."""
    async with on_telegram() as scene:
        scene.api.fail(status, reason)

        assert (await scene.fail()).outcome is SendOutcome.DEAD


@pytest.mark.parametrize("status", [500, 502, 400, 401, 409])
async def test_a_refusal_was_seen_by_nobody(status: int) -> None:
    """What Telegram says no to may be tried again, and names no token."""
    async with on_telegram() as scene:
        scene.api.fail(status, "Something")
        failed = await scene.fail()

        assert failed.outcome is SendOutcome.REJECTED
        assert TOKEN not in str(failed)


async def test_what_a_server_quotes_names_no_token() -> None:
    """A refusal that repeats the address, and a pause without end, do no harm."""
    async with on_telegram() as scene:
        scene.api.fail(400, f"Bad Request: /bot{TOKEN}/sendMessage")
        quoted = await scene.fail()
        scene.api.flood(10**12)
        flooded = await scene.fail()

        assert TOKEN not in str(quoted)
        assert flooded.retry_after == timedelta(days=1)


async def test_a_broken_line_leaves_a_doubt() -> None:
    """Whether it was seen nobody knows, whether it was or not."""
    async with on_telegram() as scene:
        scene.api.silence()
        seen = await scene.fail("seen")
        scene.api.drop()
        unseen = await scene.fail("unseen")

        assert (seen.outcome, unseen.outcome) == (SendOutcome.AMBIGUOUS,) * 2
        assert scene.dm.texts == ["seen"]


async def test_nobody_at_the_other_end_is_no_doubt() -> None:
    """What never left this machine was seen by nobody."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    async with on_telegram(url) as scene:
        failed = await scene.fail()

        assert failed.outcome is SendOutcome.REJECTED
        assert TOKEN not in str(failed)


async def test_a_group_that_moved_is_followed() -> None:
    """When a group has become a supergroup, what is owed to it is said there."""
    async with on_telegram() as scene:
        group = scene.api.group("Friends", [scene.alice], basic=True)
        moved = scene.api.upgrade(group)
        await scene.say("still with you", to=group)

        assert "still with you" in moved.texts


async def test_the_menu_is_set_once() -> None:
    """Telegram is told the commands when they are others than before."""
    async with on_telegram() as scene:
        await scene.mouth.register(COMMANDS)
        await scene.mouth.register(COMMANDS)

        assert scene.api.commands() == {one.name: one.help for one in COMMANDS}
        assert len(scene.api.called("setMyCommands")) == 1


async def test_typing_is_shown_in_its_topic() -> None:
    """It is seen where somebody waits for it."""
    async with on_telegram() as scene:
        group = scene.api.group("Friends", [scene.alice], forum=True)
        await scene.alice.writes(group, "hello")
        topic = await scene.alice.opens_topic(group, "Plans")
        await scene.mouth.show_typing(place(group, topic.id))

        assert scene.api.typing(group, topic.id) == 1


async def test_a_busy_chat_is_not_flooded() -> None:
    """More than Telegram likes is held back here, and the ledger waits."""
    async with on_telegram() as scene:
        group = scene.api.group("Friends", [scene.alice])
        mouth = Mouth(scene.mouth._bot, pacing=Pacing(lambda: 0.0, rest))
        outgoing = Outgoing(address=place(group), text="hello", key="1")
        sent = 0
        with pytest.raises(SendFailed) as failed:
            for sent in range(100):  # noqa: B007 - it is looked at when that fails
                await mouth.send(outgoing, read_blob)

        assert sent == len(group.messages) < 10
        assert failed.value.retry_after
