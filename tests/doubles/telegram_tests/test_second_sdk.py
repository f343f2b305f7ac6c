"""The double agrees with python-telegram-bot, an SDK that Threadline itself does not use."""

from collections.abc import AsyncIterator

import pytest
from telegram import (
    Bot,
    BotCommand,
    ForceReply,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    InputMediaDocument,
    InputMediaPhoto,
    InputMediaVideo,
    LinkPreviewOptions,
    ReplyKeyboardMarkup,
    ReplyKeyboardRemove,
    ReplyParameters,
)
from telegram.error import BadRequest, Forbidden, InvalidToken, NetworkError, RetryAfter

from tests.doubles.telegram import BotApi, Chat, Person
from tests.doubles.telegram.samples import PICTURE

BUTTONS = InlineKeyboardMarkup([[InlineKeyboardButton("Yes", callback_data="yes")]])


@pytest.fixture
async def ptb(api: BotApi) -> AsyncIterator[Bot]:
    """A bot of the other SDK."""
    bot = Bot(api.token, base_url=f"{api.url}/bot", base_file_url=f"{api.url}/file/bot")
    async with bot:
        yield bot


async def test_it_logs_in_with_its_token_only(api: BotApi, ptb: Bot) -> None:
    """The right token is known, another one is not."""
    assert (await ptb.get_me()).username == "double_bot"
    with pytest.raises(InvalidToken):
        async with Bot("1:another", base_url=f"{api.url}/bot"):
            pass


@pytest.mark.parametrize(
    ("mode", "written", "kinds"),
    [
        (None, "*a*", []),
        ("HTML", "<b>a</b> <i>b</i> <a href='http://c.org'>c</a>", ["bold", "italic", "text_link"]),
        ("MarkdownV2", "*a* __b__ ||c||", ["bold", "underline", "spoiler"]),
        ("Markdown", "*a* _b_ `c` [d](http://e.org)", ["bold", "italic", "code", "text_link"]),
        ("Markdown", "1. a-b (c) \\*d\\* ```\nx\n```", ["pre"]),
    ],
)
async def test_styles(ptb: Bot, dm: Chat, mode: str | None, written: str, kinds: list[str]) -> None:
    """Each way to mark up a text is read, and returned as entities."""
    sent = await ptb.send_message(dm.id, written, parse_mode=mode)

    assert [one.type for one in sent.entities] == kinds
    assert dm.texts == [sent.text]


@pytest.mark.parametrize(
    ("mode", "written", "why"),
    [
        ("HTML", "a <b>a", "find end tag"),
        ("MarkdownV2", "a *a", "byte offset 2"),
        ("Markdown", "a *a", "byte offset 2"),
    ],
)
async def test_styles_that_do_not_end_are_refused(
    ptb: Bot, dm: Chat, mode: str, written: str, why: str
) -> None:
    """The refusal is the one that the SDK knows."""
    with pytest.raises(BadRequest, match=why):
        await ptb.send_message(dm.id, written, parse_mode=mode)


@pytest.mark.parametrize(
    "markup", [BUTTONS, ReplyKeyboardMarkup([["a"]]), ReplyKeyboardRemove(), ForceReply()]
)
async def test_keyboards(ptb: Bot, dm: Chat, markup: object) -> None:
    """Every kind is taken; the one that belongs to its message comes back with it."""
    sent = await ptb.send_message(dm.id, "press", reply_markup=markup)  # type: ignore[arg-type]

    assert sent.reply_markup == (BUTTONS if markup is BUTTONS else None)


async def test_replies_edits_and_deletions(ptb: Bot, dm: Chat) -> None:
    """A message is replied to, changed once, and deleted once."""
    first = await ptb.send_message(
        dm.id, "first", link_preview_options=LinkPreviewOptions(is_disabled=True)
    )
    reply = await ptb.send_message(
        dm.id, "reply", reply_parameters=ReplyParameters(first.message_id)
    )
    assert reply.reply_to_message is not None
    assert reply.reply_to_message.message_id == first.message_id

    changed = await ptb.edit_message_text("second", dm.id, first.message_id)
    assert not isinstance(changed, bool)
    assert (changed.text, changed.edit_date is not None) == ("second", True)
    with pytest.raises(BadRequest, match="not modified"):
        await ptb.edit_message_text("second", dm.id, first.message_id)
    await ptb.edit_message_reply_markup(dm.id, first.message_id, reply_markup=BUTTONS)

    assert await ptb.delete_message(dm.id, first.message_id)
    with pytest.raises(BadRequest, match="not found"):
        await ptb.delete_message(dm.id, first.message_id)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("notes.txt", "notes.txt"),
        ("two words.txt", "two words.txt"),
        ("Übung größer.txt", "Übung größer.txt"),
        ("日本語 🧵.pdf", "日本語 🧵.pdf"),
        ('a"b.txt', "a%22b.txt"),
        ("a%20b.txt", "a%20b.txt"),
        ("a;b.txt", '"a'),
    ],
)
async def test_file_names(ptb: Bot, dm: Chat, name: str, shown: str) -> None:
    """A name arrives as the SDK writes it; the Bot API undoes no escapes, and ends it at `;`."""
    sent = await ptb.send_document(dm.id, b"data", filename=name)

    assert sent.document is not None
    assert sent.document.file_name == shown
    assert dm.messages[0].files[0].data == b"data"


@pytest.mark.parametrize(
    "kind", ["video", "animation", "audio", "voice", "video_note", "sticker", "document"]
)
async def test_each_kind_of_file(ptb: Bot, dm: Chat, kind: str) -> None:
    """A file is taken, comes back as what it was sent as, and can be sent again by its id."""
    sent = await getattr(ptb, f"send_{kind}")(dm.id, b"data")
    file = getattr(sent, kind)
    again = await getattr(ptb, f"send_{kind}")(dm.id, file.file_id)
    fetched = await (await ptb.get_file(file.file_id)).download_as_bytearray()

    assert getattr(again, kind).file_unique_id == file.file_unique_id
    assert bytes(fetched) == b"data"


async def test_albums_and_captions(ptb: Bot, dm: Chat) -> None:
    """Photos and videos share an album, documents another; captions have styles of their own."""
    mixed = await ptb.send_media_group(
        dm.id, [InputMediaPhoto(PICTURE, caption="one"), InputMediaVideo(b"film")]
    )
    papers = await ptb.send_media_group(
        dm.id,
        [
            InputMediaDocument(b"1", filename="ä.txt", caption="_x_", parse_mode="Markdown"),
            InputMediaDocument(b"2", filename="b.txt"),
        ],
    )
    photo = await ptb.send_photo(dm.id, PICTURE, caption="*c*", parse_mode="Markdown")
    await ptb.edit_message_caption(dm.id, photo.message_id, caption="d")

    assert mixed[0].media_group_id == mixed[1].media_group_id != papers[0].media_group_id
    assert papers[0].document is not None
    assert (papers[0].caption, papers[0].document.file_name) == ("x", "ä.txt")
    assert dm.texts[-1] == "d"


async def test_chats_and_menus(api: BotApi, ptb: Bot, dm: Chat, alice: Person) -> None:
    """Chats, members, the menu, reactions and typing are known to the SDK."""
    group = api.group("Friends", [alice])
    sent = await ptb.send_message(dm.id, "hello")
    await ptb.set_my_commands([BotCommand("new", "Begin again")])

    assert (await ptb.get_chat(dm.id)).username == "alice"
    assert (await ptb.get_chat(group.id)).title == "Friends"
    assert (await ptb.get_chat_member(group.id, alice.id)).user.id == alice.id
    assert await ptb.get_chat_member_count(group.id) == 2
    assert [one.command for one in await ptb.get_my_commands()] == ["new"]
    assert await ptb.set_message_reaction(dm.id, sent.message_id, "👍")
    assert await ptb.send_chat_action(dm.id, "typing")


async def test_updates(ptb: Bot, dm: Chat, alice: Person) -> None:
    """What people write, send and press is read by the SDK, and confirmed by its offset."""
    await alice.writes(dm, "/help me")
    await alice.sends(dm, "photo", PICTURE, caption="look")
    (command, photo) = await ptb.get_updates(timeout=0)

    assert command.message is not None
    assert photo.message is not None
    assert command.message.entities[0].type == "bot_command"
    assert (photo.message.caption, len(photo.message.photo)) == ("look", 2)
    assert await ptb.get_updates(offset=photo.update_id + 1, timeout=0) == ()


async def test_webhooks(ptb: Bot) -> None:
    """A webhook is set, shown and deleted."""
    await ptb.set_webhook("https://bot.example.org/updates", secret_token="a-secret")

    assert (await ptb.get_webhook_info()).url == "https://bot.example.org/updates"
    assert await ptb.delete_webhook()


async def test_errors(
    api: BotApi, ptb: Bot, dm: Chat, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each refusal is the error that the SDK has for it."""
    monkeypatch.setenv("PTB_TIMEDELTA", "true")  # Without it the SDK warns.
    for text, to, why in (
        (" ", dm.id, "empty"),
        ("x" * 4097, dm.id, "too long"),
        ("x", 987, "not found"),
    ):
        with pytest.raises(BadRequest, match=why):
            await ptb.send_message(to, text)
    with pytest.raises(BadRequest, match="file"):
        await ptb.send_document(dm.id, "no-such-file")
    api.flood(7)
    with pytest.raises(RetryAfter):
        await ptb.send_message(dm.id, "x")
    api.fail(502)
    with pytest.raises(NetworkError, match="Bad Gateway"):
        await ptb.send_message(dm.id, "x")
    await alice.blocks(dm)
    with pytest.raises(Forbidden, match="blocked"):
        await ptb.send_message(dm.id, "x")
