"""What people do behind the double, and what a bot of the real SDK hears of it."""

import pytest
from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest
from aiogram.types import BotCommand, BotCommandScopeAllPrivateChats, BotCommandScopeChat, Message

from tests.doubles.telegram import BotApi, Chat, Person
from tests.doubles.telegram_tests.bots import open_bot
from threadline.core.errors import NotFound


async def heard(bot: Bot) -> list[Message]:
    """Fetch what people said; it comes no more."""
    updates = await bot.get_updates()
    if updates:
        await bot.get_updates(offset=updates[-1].update_id + 1)
    return [one.message for one in updates if one.message]


async def test_a_message_says_who_and_where(bot: Bot, alice: Person, dm: Chat) -> None:
    """Sender, chat, words and what is obvious in them are written as Telegram writes them."""
    await alice.writes(dm, "/start @double_bot see https://example.org #tea")

    (message,) = await heard(bot)
    assert message.from_user is not None
    assert (message.from_user.full_name, message.chat.type) == ("Alice Liddell", "private")
    assert [entity.type for entity in message.entities or []] == [
        "bot_command",
        "mention",
        "url",
        "hashtag",
    ]


async def test_privacy_hides_what_is_not_meant(api: BotApi, bot: Bot, alice: Person) -> None:
    """In a group the bot hears commands, mentions and answers to it, and nothing else."""
    group = api.group("Tea", [alice])
    said = await bot.send_message(group.id, "Welcome")
    for words in ("hello all", "/help", "/help@other_bot", "/help@double_bot", "hi @Double_Bot"):
        await alice.writes(group, words)
    await alice.writes(group, "thanks", reply_to=group.lines[said.message_id])

    assert [message.text for message in await heard(bot)] == [
        "/help",
        "/help@double_bot",
        "hi @Double_Bot",
        "thanks",
    ]


@pytest.mark.parametrize("how", ["reads_all", "admin"])
async def test_a_bot_may_hear_everything(how: str) -> None:
    """Without privacy, and as an administrator, it hears all that is said in a group."""
    async with BotApi(reads_all=how == "reads_all") as api, open_bot(api) as bot:
        alice = api.person("Alice")
        await alice.writes(api.group("Tea", [alice], admin=how == "admin"), "hello all")

        assert [message.text for message in await heard(bot)] == ["hello all"]


async def test_topics_are_threads(api: BotApi, bot: Bot, alice: Person) -> None:
    """What stands in a topic answers the line that opened it, and the bot can speak there."""
    forum = api.group("Tea", [alice], forum=True, admin=True)
    cakes = await alice.opens_topic(forum, "Cakes")
    await alice.writes(forum, "Which?", thread=cakes)
    await alice.writes(forum, "In general")

    opened, asked, general = await heard(bot)
    assert opened.forum_topic_created is not None
    assert (asked.message_thread_id, asked.is_topic_message) == (cakes.id, True)
    assert asked.reply_to_message is not None
    assert asked.reply_to_message.forum_topic_created is not None
    assert (general.message_thread_id, general.is_topic_message) == (None, None)

    await bot.send_message(forum.id, "Sachertorte", message_thread_id=cakes.id)
    assert forum.messages[-1].thread == cakes.id
    with pytest.raises(TelegramBadRequest, match="message thread not found"):
        await bot.send_message(forum.id, "x", message_thread_id=99)


async def test_a_bot_keeps_topics(api: BotApi, bot: Bot, alice: Person) -> None:
    """As an administrator it opens, renames, closes and deletes topics; elsewhere it cannot."""
    forum = api.group("Tea", [alice], forum=True, admin=True)

    topic = await bot.create_forum_topic(forum.id, "Tarts")
    thread = topic.message_thread_id
    await bot.edit_forum_topic(forum.id, thread, name="Cakes")
    await bot.close_forum_topic(forum.id, thread)
    with pytest.raises(TelegramBadRequest, match="TOPIC_NOT_MODIFIED"):
        await bot.close_forum_topic(forum.id, thread)
    await bot.reopen_forum_topic(forum.id, thread)
    await bot.delete_forum_topic(forum.id, thread)

    assert forum.topics == {}
    with pytest.raises(TelegramBadRequest, match="the chat is not a forum"):
        await bot.create_forum_topic(api.group("Plain", [alice]).id, "x")


async def test_private_chats_may_have_topics(api: BotApi, bot: Bot) -> None:
    """A dm can be divided into threads too."""
    bob = api.person("Bob")
    dm = api.dm(bob, topics=True)
    topic = await bot.create_forum_topic(dm.id, "Cakes")

    await bob.writes(dm, "Which?", thread=topic.message_thread_id)

    assert (await heard(bot))[-1].message_thread_id == topic.message_thread_id


async def test_replies_in_a_supergroup_make_threads(api: BotApi, bot: Bot, alice: Person) -> None:
    """They carry a thread that is no topic."""
    group = api.group("Tea", [alice], admin=True)
    first = await alice.writes(group, "one")
    second = await alice.writes(group, "two", reply_to=first)
    await alice.writes(group, "three", reply_to=second)

    _, two, three = await heard(bot)
    assert two.message_thread_id == three.message_thread_id == first.id
    assert two.is_topic_message is None


async def test_numbers_are_counted_as_in_telegram(api: BotApi, alice: Person, dm: Chat) -> None:
    """Supergroups count for themselves, from their making on; dms and basic groups together."""
    basic, big = api.group("Old", [alice], basic=True), api.group("Big", [alice])

    numbers = [(await alice.writes(chat, "x")).id for chat in (dm, basic, big, dm)]

    assert numbers == [1, 2, 2, 3]
    assert (basic.id > -1_000_000_000_000, big.id < -1_000_000_000_000) == (True, True)


async def test_channels_speak_for_themselves(api: BotApi, bot: Bot, alice: Person) -> None:
    """A post and its edit have no sender but the channel; the bot can post there too."""
    channel = api.channel("News", username="news")
    post = await alice.writes(channel, "one")
    await alice.edits(post, "uno")

    posted, edited = await bot.get_updates()
    assert posted.channel_post is not None
    assert (posted.channel_post.from_user, posted.channel_post.text) == (None, "one")
    assert posted.channel_post.sender_chat is not None
    assert edited.edited_channel_post is not None
    await bot.send_message("@news", "two")
    assert channel.texts == ["two"]


async def test_edits_are_brought_and_deletions_are_not(bot: Bot, alice: Person, dm: Chat) -> None:
    """The bot learns of an edit; nobody ever tells it of a deletion."""
    sent = await alice.writes(dm, "one")
    await alice.edits(sent, "uno")
    await alice.deletes(sent)

    first, second = await bot.get_updates()
    assert first.message is not None
    assert second.edited_message is not None
    assert (first.message.text, second.edited_message.text) == ("one", "uno")


async def test_groups_say_who_comes_and_goes(api: BotApi, bot: Bot, alice: Person) -> None:
    """Members who join and leave are noted in the chat, and so is the bot's own fate."""
    bob, group = api.person("Bob"), api.group("Tea", [alice])
    await bob.joins(group)
    await bob.leaves(group)
    await alice.removes_bot(group)
    await alice.writes(group, "/gone")

    joined, left, out = await bot.get_updates()
    assert joined.message is not None
    assert joined.message.new_chat_members is not None
    assert left.message is not None
    assert left.message.left_chat_member is not None
    assert out.my_chat_member is not None
    assert out.my_chat_member.new_chat_member.status == "kicked"


async def test_a_group_moves_under_another_number(api: BotApi, bot: Bot, alice: Person) -> None:
    """Both chats say where the other one is."""
    old = api.group("Tea", [alice], basic=True)
    new = api.upgrade(old)

    away, here = await heard(bot)
    assert (away.chat.id, away.migrate_to_chat_id) == (old.id, new.id)
    assert (here.chat.id, here.migrate_from_chat_id) == (new.id, old.id)


async def test_chats_can_be_asked_about(api: BotApi, bot: Bot, alice: Person, dm: Chat) -> None:
    """A chat, its members and the bot's own standing are told."""
    group = api.group("Tea", [alice], forum=True, username="teaparty")

    assert (await bot.get_chat(dm.id)).full_name == "Alice Liddell"
    found = await bot.get_chat("@teaparty")
    assert (found.id, found.is_forum) == (group.id, True)
    assert (await bot.get_chat_member(group.id, alice.id)).status == "creator"
    assert (await bot.get_chat_member(group.id, 4242)).status == "member"
    assert [one.user.id for one in await bot.get_chat_administrators(group.id)] == [alice.id]
    assert await bot.get_chat_member_count(group.id) == 2
    await bot.leave_chat(group.id)
    assert (await bot.get_chat_member(group.id, 4242)).status == "left"


async def test_an_administrator_is_told_whole(api: BotApi, bot: Bot, alice: Person) -> None:
    """The rights of an administrator are there, as the SDK wants them."""
    group = api.group("Tea", [alice], admin=True)

    assert (await bot.get_chat_member(group.id, 4242)).status == "administrator"


async def test_a_button_that_is_not_there(bot: Bot, alice: Person, dm: Chat) -> None:
    """Nobody can press what is not shown."""
    await bot.send_message(dm.id, "x")

    with pytest.raises(NotFound):
        await alice.presses(dm.messages[0], "Go")


async def test_the_menu_has_scopes(api: BotApi, bot: Bot, dm: Chat) -> None:
    """Commands are kept by scope and language, and can be taken away."""
    await bot.set_my_commands([BotCommand(command="new", description="Begin anew")])
    await bot.set_my_commands(
        [BotCommand(command="stop", description="Halt")],
        scope=BotCommandScopeAllPrivateChats(),
        language_code="de",
    )

    assert api.commands() == {"new": "Begin anew"}
    assert api.commands("all_private_chats", "de") == {"stop": "Halt"}
    assert [one.command for one in await bot.get_my_commands()] == ["new"]
    await bot.delete_my_commands()
    assert await bot.get_my_commands() == []
    with pytest.raises(TelegramBadRequest, match="chat not found"):
        await bot.get_my_commands(scope=BotCommandScopeChat(chat_id=99))


@pytest.mark.parametrize(
    ("name", "words", "why"),
    [
        ("New", "x", "BOT_COMMAND_INVALID"),
        ("n" * 33, "x", "BOT_COMMAND_INVALID"),
        ("new", "x" * 257, "BOT_COMMAND_DESCRIPTION_INVALID"),
    ],
)
async def test_commands_are_checked(bot: Bot, name: str, words: str, why: str) -> None:
    """A command is short, low and plain, and its words are not too many."""
    with pytest.raises(TelegramBadRequest, match=why):
        await bot.set_my_commands([BotCommand(command=name, description=words)])
