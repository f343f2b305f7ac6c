"""What is said on Telegram is seen there, and what goes wrong is told for what it is."""

import hashlib
import json
import socket
from base64 import b64decode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import cast

import pytest
from aiogram.exceptions import TelegramNetworkError
from aiogram.methods import SendMessage
from aiohttp import (
    ClientConnectorDNSError,
    ClientConnectorError,
    ClientConnectorSSLError,
    ClientOSError,
    ClientPayloadError,
    ClientTimeout,
    ConnectionTimeoutError,
    ServerDisconnectedError,
    SocketTimeoutError,
)
from aiohttp.client_reqrep import ConnectionKey

from tests.doubles.telegram import TOKEN, BotApi, Chat
from threadline.core.address import Address, Kind
from threadline.core.command import COMMANDS
from threadline.core.delivery import SendOutcome
from threadline.core.message import Attachment, BlobHash, MediaKind
from threadline.core.platform import Choice, Outgoing, SendFailed
from threadline.platforms.telegram.aiogram_session import make_bot
from threadline.platforms.telegram.errors import explained
from threadline.platforms.telegram.message_sender import MessageSender
from threadline.platforms.telegram.rate_limit import TelegramRateLimit

PICTURE = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)

CONNECTION = ConnectionKey("127.0.0.1", 1, False, True, None, None, None)


class Scene:
    """A mouth, and somebody who hears it."""

    def __init__(self, api: BotApi, mouth: MessageSender) -> None:
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
            yield Scene(api, MessageSender(lambda: bot))
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
        (MediaKind.FILE, "video/mp4", "sendVideo"),
        (MediaKind.FILE, "Video/MP4; codecs=avc1", "sendVideo"),
        (MediaKind.FILE, "video/x-matroska", "sendDocument"),
        (MediaKind.IMAGE, "image/gif", "sendAnimation"),
        (MediaKind.FILE, "application/pdf", "sendDocument"),
    ],
)
async def test_a_file_is_shown_as_what_it_is(kind: MediaKind, media_type: str, method: str) -> None:
    """Pictures, videos, voices and sounds are shown as such, everything else as a document."""
    async with on_telegram() as scene:
        id = await scene.say("**look**", files=[file(kind, media_type, None)])

        assert [call.method for call in scene.api.calls] == [method]
        (shown,) = scene.dm.messages
        assert (str(shown.id), shown.text, shown.entities[0]["type"]) == (id, "look", "bold")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (None, "file"),
        ("Übung 日本.txt", "Übung 日本.txt"),
        ("a;b.txt", "a_b.txt"),
        ('a"b\\c.txt', "a_b_c.txt"),
        ("a\r\nX-Evil: 1.txt", "a__X-Evil: 1.txt"),
    ],
)
async def test_a_file_keeps_its_name(name: str | None, shown: str) -> None:
    """A name arrives; signs that would end it on the way are replaced."""
    async with on_telegram() as scene:
        await scene.say(files=[file(MediaKind.FILE, "text/plain", name)])

        assert scene.dm.messages[0].files[0].name == shown


async def test_a_picture_that_telegram_cannot_show_is_sent_as_a_file() -> None:
    """Nothing is lost because Telegram does not like how a picture is made."""
    async with on_telegram() as scene:
        scene.api.fail(400, "Bad Request: IMAGE_PROCESS_FAILED", methods="sendPhoto")
        await scene.say(files=[file(MediaKind.IMAGE, "image/png")])

        assert [call.method for call in scene.api.calls] == ["sendPhoto", "sendDocument"]


@pytest.mark.parametrize(
    ("kind", "media_type", "form"),
    [
        (MediaKind.FILE, "video/mp4", "Video"),
        (MediaKind.IMAGE, "image/gif", "Animation"),
        (MediaKind.AUDIO, "audio/mpeg", "Audio"),
        (MediaKind.AUDIO, "audio/ogg", "Voice"),
    ],
)
async def test_media_that_telegram_refuses_is_sent_as_a_file(
    kind: MediaKind, media_type: str, form: str
) -> None:
    """A video, animation or sound that Telegram refuses arrives as a document, with its words."""
    async with on_telegram() as scene:
        scene.api.fail(400, "Bad Request: VOICE_MESSAGES_FORBIDDEN", methods=f"send{form}")
        await scene.say("words", files=[file(kind, media_type)])

        assert [call.method for call in scene.api.calls] == [f"send{form}", "sendDocument"]
        (shown,) = scene.dm.messages
        assert (shown.text, "document" in shown.wire) == ("words", True)


async def test_several_files_are_shown_each_as_what_it_is() -> None:
    """A video and a picture in one reply are sent as a video and a picture, after the words."""
    files = [file(MediaKind.FILE, "video/mp4"), file(MediaKind.IMAGE, "image/png")]
    async with on_telegram() as scene:
        await scene.say("x" * 1025, files=files)

        methods = [call.method for call in scene.api.calls]
        assert methods == ["sendMessage", "sendVideo", "sendPhoto"]


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


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (400, SendOutcome.REJECTED),
        (401, SendOutcome.REJECTED),
        (404, SendOutcome.REJECTED),
        (409, SendOutcome.REJECTED),
        (413, SendOutcome.REJECTED),
        (429, SendOutcome.REJECTED),
        (500, SendOutcome.AMBIGUOUS),
        (502, SendOutcome.AMBIGUOUS),
        (503, SendOutcome.REJECTED),
        (504, SendOutcome.AMBIGUOUS),
        (520, SendOutcome.AMBIGUOUS),
    ],
)
async def test_a_status_says_whether_the_message_may_have_been_sent(
    status: int, outcome: SendOutcome
) -> None:
    """A refusal sent nothing; after a failure inside Telegram the message may have been sent."""
    async with on_telegram() as scene:
        scene.api.fail(status, "Something")
        failed = await scene.fail()

        assert failed.outcome is outcome
        assert TOKEN not in str(failed)


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (413, "<html>nginx</html>", SendOutcome.REJECTED),
        (404, "", SendOutcome.REJECTED),
        (429, "slow down", SendOutcome.REJECTED),
        (429, '{"ok": false, "parameters": {"retry_after": "soon"}}', SendOutcome.REJECTED),
        (503, "<html>nginx</html>", SendOutcome.REJECTED),
        (502, "<html>nginx</html>", SendOutcome.AMBIGUOUS),
        (502, '{"ok": false}', SendOutcome.AMBIGUOUS),
        (500, '{"ok": true, "result": null}', SendOutcome.AMBIGUOUS),
        (504, "[" * 100_000, SendOutcome.AMBIGUOUS),
        (200, "<html>welcome</html>", SendOutcome.AMBIGUOUS),
        (200, '{"ok": true, "result": {}}', SendOutcome.AMBIGUOUS),
        (200, '{"ok": false, "description": "no"}', SendOutcome.REJECTED),
    ],
)
async def test_an_error_page_counts_by_its_status(
    status: int, body: str, outcome: SendOutcome
) -> None:
    """What a proxy before the Bot API responds is read by its status, whatever its body says."""
    bot = make_bot(TOKEN, "http://127.0.0.1:1")
    call = SendMessage(chat_id=1, text="words")
    with pytest.raises(SendFailed) as failed:
        async with explained():
            bot.session.check_response(bot, call, status, body)

    assert failed.value.outcome is outcome


@pytest.mark.parametrize(
    ("cause", "outcome"),
    [
        (ClientConnectorError(CONNECTION, OSError(111, "refused")), SendOutcome.REJECTED),
        (ClientConnectorDNSError(CONNECTION, OSError(-2, "no name")), SendOutcome.REJECTED),
        (ClientConnectorSSLError(CONNECTION, OSError(1, "tls")), SendOutcome.REJECTED),
        (ConnectionTimeoutError(), SendOutcome.REJECTED),
        (SocketTimeoutError(), SendOutcome.AMBIGUOUS),
        (TimeoutError(), SendOutcome.AMBIGUOUS),
        (ServerDisconnectedError(), SendOutcome.AMBIGUOUS),
        (ClientOSError(104, "reset"), SendOutcome.AMBIGUOUS),
        (ClientPayloadError(), SendOutcome.AMBIGUOUS),
    ],
)
async def test_a_network_error_says_whether_the_request_was_written(
    cause: Exception, outcome: SendOutcome
) -> None:
    """What failed before the request was written sent nothing; after that there is a doubt."""
    call = SendMessage(chat_id=1, text="words")
    with pytest.raises(SendFailed) as failed:
        async with explained():
            raise TelegramNetworkError(method=call, message="broken") from cause

    assert failed.value.outcome is outcome


async def test_waiting_for_a_connection_sent_nothing() -> None:
    """A connection that is never made is told from a request that is never answered."""
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        # It never answers the TLS handshake.
        async with on_telegram(f"https://127.0.0.1:{mute.getsockname()[1]}") as scene:
            session = scene.mouth._bot().session
            timeout = cast("ClientTimeout", session.timeout)
            assert 0 < cast("float", timeout.connect) < cast("float", timeout.total)
            session.timeout = ClientTimeout(total=timeout.total, connect=0.01)  # type: ignore[assignment]

            assert (await scene.fail()).outcome is SendOutcome.REJECTED


async def test_a_result_that_the_sdk_cannot_read_was_sent() -> None:
    """An unknown part in what Telegram returns does not make a message that was sent a failure."""
    bot = make_bot(TOKEN, "http://127.0.0.1:1")
    answered = {"message_id": 6, "date": 1, "chat": {"id": 1, "type": "private"}}
    answered["paid_media"] = {"star_count": 1, "paid_media": [{"type": "of tomorrow"}]}
    answered["forward_origin"] = {"type": "of tomorrow"}
    sent = {"message_id": 7, "date": 1, "chat": {"id": 1, "type": "private"}, "text": "words"}
    body = json.dumps({"ok": True, "result": {**sent, "reply_to_message": answered}})

    response = bot.session.check_response(bot, SendMessage(chat_id=1, text="words"), 200, body)

    assert response.result is not None
    assert response.result.message_id == 7


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
        mouth = MessageSender(scene.mouth._bot, pacing=TelegramRateLimit(lambda: 0.0, rest))
        outgoing = Outgoing(address=place(group), text="hello", key="1")
        sent = 0
        with pytest.raises(SendFailed) as failed:
            for sent in range(100):  # noqa: B007 - it is looked at when that fails
                await mouth.send(outgoing, read_blob)

        assert sent == len(group.messages) < 10
        assert failed.value.retry_after
