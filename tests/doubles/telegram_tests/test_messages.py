"""What a bot says through the double, with the real SDK."""

import pytest
from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest, TelegramForbiddenError, TelegramMigrateToChat
from aiogram.types import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    MessageEntity,
    ReactionTypeEmoji,
    ReplyParameters,
)

from tests.doubles.telegram import BotApi, Chat, Person


def keyboard(**buttons: str) -> InlineKeyboardMarkup:
    """Make a row of buttons, each with what it carries."""
    row = [InlineKeyboardButton(text=text, callback_data=data) for text, data in buttons.items()]
    return InlineKeyboardMarkup(inline_keyboard=[row])


async def test_a_bot_knows_itself(api: BotApi, bot: Bot) -> None:
    """Its own account is told as the Bot API tells it."""
    me = await bot.get_me()

    assert (me.id, me.is_bot, me.username) == (4242, True, "double_bot")
    assert me.can_read_all_group_messages is False


async def test_what_is_said_is_seen(bot: Bot, dm: Chat) -> None:
    """A message is shown, numbered, and answered as it stands there."""
    sent = await bot.send_message(dm.id, "  Hello there\n", parse_mode=None)

    assert (sent.text, sent.chat.id, sent.message_id) == ("Hello there", dm.id, 1)
    assert sent.from_user is not None
    assert sent.from_user.id == 4242
    assert dm.texts == ["Hello there"]


async def test_an_answer_stands_under_its_message(bot: Bot, alice: Person, dm: Chat) -> None:
    """A reply names what it answers; one to nothing is refused, unless that is allowed."""
    asked = await alice.writes(dm, "Tea?")

    await bot.send_message(dm.id, "Yes", reply_parameters=ReplyParameters(message_id=asked.id))
    assert dm.messages[0].reply_to == asked.id
    with pytest.raises(TelegramBadRequest, match="message to be replied not found"):
        await bot.send_message(dm.id, "No", reply_parameters=ReplyParameters(message_id=99))
    await bot.send_message(
        dm.id,
        "No",
        reply_parameters=ReplyParameters(message_id=99, allow_sending_without_reply=True),
    )

    assert [line.reply_to for line in dm.messages] == [asked.id, None]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("   \n", "message text is empty"),
        ("x" * 4097, "message is too long"),
        ("😀" * 2049, "message is too long"),
    ],
)
async def test_texts_have_limits(bot: Bot, dm: Chat, text: str, why: str) -> None:
    """Too much and too little are refused, counted in UTF-16 units."""
    with pytest.raises(TelegramBadRequest, match=why):
        await bot.send_message(dm.id, text)

    assert dm.texts == []


async def test_the_limit_itself_is_no_trouble(bot: Bot, dm: Chat) -> None:
    """4096 units pass, and markup does not count."""
    await bot.send_message(dm.id, "😀" * 2048)
    await bot.send_message(dm.id, f"<b>{'x' * 4096}</b>", parse_mode="HTML")

    assert [len(text) for text in dm.texts] == [2048, 4096]


async def test_entities_can_be_named(bot: Bot, dm: Chat) -> None:
    """Entities beside the text are kept; one that ends outside of it is refused."""
    await bot.send_message(
        dm.id, "😀 bold", entities=[MessageEntity(type="bold", offset=3, length=4)]
    )
    assert dm.messages[0].entities == [{"type": "bold", "offset": 3, "length": 4}]
    for offset, length in ((3, 40), (1, 2)):
        with pytest.raises(TelegramBadRequest, match="can't parse entities"):
            await bot.send_message(
                dm.id,
                "😀 bold",
                entities=[MessageEntity(type="bold", offset=offset, length=length)],
            )


async def test_a_message_can_be_changed(bot: Bot, alice: Person, dm: Chat) -> None:
    """An edit is seen; one that changes nothing, that is too late, or of another is refused."""
    sent = await bot.send_message(dm.id, "One", reply_markup=keyboard(Go="go"))
    asked = await alice.writes(dm, "Mine")

    edited = await bot.edit_message_text("Two", chat_id=dm.id, message_id=sent.message_id)

    assert isinstance(edited, type(sent))
    assert (edited.text, edited.edit_date is not None) == ("Two", True)
    assert (dm.messages[0].text, dm.messages[0].edits, dm.messages[0].labels) == ("Two", 1, [])
    for number, why in (
        (sent.message_id, "message is not modified"),
        (asked.id, "message can't be edited"),
        (99, "message to edit not found"),
    ):
        with pytest.raises(TelegramBadRequest, match=why):
            await bot.edit_message_text("Two", chat_id=dm.id, message_id=number)


async def test_buttons_can_be_pressed(api: BotApi, bot: Bot, alice: Person, dm: Chat) -> None:
    """A press is brought with what the button carries, and answered once."""
    await bot.send_message(dm.id, "Tea?", reply_markup=keyboard(Yes="y", No="n"))
    press = await alice.presses(dm.messages[0], "No")

    (update,) = await bot.get_updates()
    query = update.callback_query
    assert query is not None
    assert (query.data, query.from_user.id) == ("n", alice.id)
    assert query.message is not None
    assert query.message.message_id == dm.messages[0].id
    await query.answer("Well", show_alert=True)

    assert await api.answered(press) == {"text": "Well", "show_alert": True}
    with pytest.raises(TelegramBadRequest, match="query is too old"):
        await query.answer()


async def test_buttons_can_go(bot: Bot, dm: Chat) -> None:
    """The buttons of a message can be replaced and taken away, and its words stay."""
    sent = await bot.send_message(dm.id, "Tea?", reply_markup=keyboard(Yes="y"))

    await bot.edit_message_reply_markup(
        chat_id=dm.id, message_id=sent.message_id, reply_markup=keyboard(Maybe="m")
    )
    assert dm.messages[0].labels == ["Maybe"]
    await bot.edit_message_reply_markup(chat_id=dm.id, message_id=sent.message_id)
    assert (dm.texts, dm.messages[0].labels) == (["Tea?"], [])
    with pytest.raises(TelegramBadRequest, match="message is not modified"):
        await bot.edit_message_reply_markup(chat_id=dm.id, message_id=sent.message_id)


@pytest.mark.parametrize(
    ("data", "why"),
    [("x" * 65, "BUTTON_DATA_INVALID"), ("é" * 33, "BUTTON_DATA_INVALID"), (None, "Text buttons")],
)
async def test_buttons_carry_little(bot: Bot, dm: Chat, data: str | None, why: str) -> None:
    """A button carries 1 to 64 bytes, and does something."""
    button = InlineKeyboardButton(text="Go", callback_data=data)

    with pytest.raises(TelegramBadRequest, match=why):
        await bot.send_message(
            dm.id, "x", reply_markup=InlineKeyboardMarkup(inline_keyboard=[[button]])
        )


async def test_messages_can_be_deleted(bot: Bot, alice: Person, dm: Chat) -> None:
    """What is deleted is seen no more, and cannot be deleted again."""
    first = await bot.send_message(dm.id, "One")
    second = await bot.send_message(dm.id, "Two")

    assert await bot.delete_message(dm.id, first.message_id)
    assert dm.texts == ["Two"]
    with pytest.raises(TelegramBadRequest, match="message to delete not found"):
        await bot.delete_message(dm.id, first.message_id)
    assert await bot.delete_messages(dm.id, [first.message_id, second.message_id])
    assert dm.texts == []


async def test_typing_is_seen(api: BotApi, bot: Bot, dm: Chat) -> None:
    """An action is counted; one that there is not is refused."""
    await bot.send_chat_action(dm.id, "typing")

    assert api.typing(dm) == 1
    with pytest.raises(TelegramBadRequest, match="wrong parameter action"):
        await bot.send_chat_action(dm.id, "thinking")


async def test_reactions_are_seen(bot: Bot, alice: Person, dm: Chat) -> None:
    """A bot can put one of the known emoji under a message."""
    asked = await alice.writes(dm, "Good?")

    await bot.set_message_reaction(dm.id, asked.id, [ReactionTypeEmoji(emoji="👍")])

    assert asked.reactions == ("👍",)
    with pytest.raises(TelegramBadRequest, match="REACTION_INVALID"):
        await bot.set_message_reaction(dm.id, asked.id, [ReactionTypeEmoji(emoji="🫖")])


async def test_a_draft_grows_until_the_message_comes(bot: Bot, dm: Chat) -> None:
    """A draft is shown in a private chat, and gives way to the message."""
    await bot.send_message_draft(dm.id, 3, text="Hel")
    await bot.send_message_draft(dm.id, 3, text="Hello")
    assert dm.drafts == {3: "Hello"}

    await bot.send_message(dm.id, "Hello!")

    assert (dm.drafts, dm.texts) == ({}, ["Hello!"])


async def test_a_draft_is_for_private_chats(api: BotApi, bot: Bot, alice: Person) -> None:
    """In a group there are no drafts."""
    with pytest.raises(TelegramBadRequest, match="PEER_ID_INVALID"):
        await bot.send_message_draft(api.group("Tea", [alice]).id, 3, text="Hel")


async def test_who_blocks_hears_nothing(bot: Bot, alice: Person, dm: Chat) -> None:
    """A blocked bot is told so, by a refusal and by an update; unblocked, it speaks again."""
    await alice.blocks(dm)

    with pytest.raises(TelegramForbiddenError, match="bot was blocked by the user"):
        await bot.send_message(dm.id, "x")
    (update,) = await bot.get_updates()
    assert update.my_chat_member is not None
    assert update.my_chat_member.new_chat_member.status == "kicked"
    await alice.unblocks(dm)
    await bot.send_message(dm.id, "y")
    assert dm.texts == ["y"]


async def test_dead_ends_are_told_apart(api: BotApi, bot: Bot, alice: Person) -> None:
    """A chat is not there, or never began, or threw the bot out, or moved: each is told."""
    group, old = api.group("Tea", [alice]), api.group("Old", [alice], basic=True)
    fresh = api.dm(api.person("Bob"), started=False)
    await alice.removes_bot(group)
    new = api.upgrade(old)

    with pytest.raises(TelegramBadRequest, match="chat not found"):
        await bot.send_message(99, "x")
    with pytest.raises(TelegramForbiddenError, match="can't initiate conversation"):
        await bot.send_message(fresh.id, "x")
    with pytest.raises(TelegramForbiddenError, match="bot was kicked from the supergroup chat"):
        await bot.send_message(group.id, "x")
    with pytest.raises(TelegramMigrateToChat) as moved:
        await bot.send_message(old.id, "x")
    assert moved.value.migrate_to_chat_id == new.id
    await bot.send_message(new.id, "x")
    assert new.texts == ["x"]
