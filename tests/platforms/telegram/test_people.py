import pytest

from tests.doubles.telegram.sample_contents import CHANNEL, DM, GROUP
from tests.platforms.telegram.raw_updates import heard, in_group, line, update
from threadline.core.address import Address, Kind

FORUM = {**GROUP, "is_forum": True}
BEGUN = line(None, number=3, forum_topic_created={"name": "Tea", "icon_color": 1})


async def test_a_direct_chat_is_a_dm() -> None:
    """It is told by its number, and its person by theirs."""
    inbound = await heard(update(line()))

    assert inbound.address == Address(platform="telegram", kind=Kind.DM, chat="1001")
    assert (inbound.sender.id, inbound.sender.name) == ("1001", "Alice Liddell")
    assert (inbound.message_id, inbound.reply_to, inbound.observed) == ("7", None, False)
    assert inbound.at.timestamp() == 1_760_000_000


@pytest.mark.parametrize("kind", ["group", "supergroup"])
async def test_a_group_has_its_title(kind: str) -> None:
    """Groups of both kinds are groups, named as people see them."""
    inbound = await heard(update(line("/new", chat={**GROUP, "type": kind})))

    assert inbound.address.kind is Kind.GROUP
    assert (inbound.address.chat, inbound.address.chat_name) == ("-1000000002001", "Tea party")


async def test_a_topic_is_a_thread_with_a_name() -> None:
    """What is said in a topic belongs there, and its beginning is answered by nobody."""
    said = {"message_thread_id": 3, "is_topic_message": True, "reply_to_message": BEGUN}
    inbound = await heard(update(line("/new", chat=FORUM, **said)))

    assert (inbound.address.kind, inbound.address.thread) == (Kind.THREAD, "3")
    assert (inbound.address.topic, inbound.reply_to) == ("Tea", None)


async def test_replies_make_no_topic() -> None:
    """A supergroup numbers the thread of every reply; only a forum's threads are places."""
    said = {"message_thread_id": 3, "reply_to_message": line("before", number=3)}
    inbound = await heard(in_group("/new", **said))

    assert (inbound.address.kind, inbound.address.thread) == (Kind.GROUP, None)
    assert inbound.reply_to == "3"


async def test_a_topic_of_a_direct_chat_stays_direct() -> None:
    """Who sorts a direct chat into topics is still alone with us."""
    inbound = await heard(update(line(message_thread_id=5, is_topic_message=True)))

    assert (inbound.address.kind, inbound.address.thread) == (Kind.DM, "5")


async def test_a_channel_speaks_as_itself() -> None:
    """A post has no person; who signed it is named beside the channel."""
    post = line("/new", chat=CHANNEL, sender_chat=CHANNEL, author_signature="Ann", **{"from": None})
    inbound = await heard(update(post, "channel_post"))

    assert (inbound.address.kind, inbound.address.chat_name) == (Kind.CHANNEL, "News")
    assert (inbound.sender.id, inbound.sender.name) == ("-1000000002002", "Ann (News)")


async def test_an_anonymous_admin_is_the_group() -> None:
    """Who hides behind the group is not taken for the bot that Telegram names instead."""
    stand_in = {"id": 1087968824, "is_bot": True, "first_name": "Group"}
    inbound = await heard(in_group("/new", sender_chat=GROUP, **{"from": stand_in}))

    assert (inbound.sender.id, inbound.sender.is_bot) == ("-1000000002001", False)


async def test_other_bots_are_known_as_such() -> None:
    """Access decides whether a bot is heard; it has to know that it is one."""
    bot = {"id": 5, "is_bot": True, "first_name": "Robot"}
    inbound = await heard(in_group("/new", **{"from": bot}))

    assert inbound.sender.is_bot


async def test_somebody_without_a_name_goes_by_their_user_name() -> None:
    """A name of nothing that could be seen is none."""
    alice = {"id": 1001, "is_bot": False, "first_name": "\u200b", "username": "alice"}
    inbound = await heard(update(line(**{"from": alice})))

    assert inbound.sender.name == "alice"


async def test_an_account_tells_our_bots_apart() -> None:
    """Two bots of one installation have conversations of their own with one person."""
    inbound = await heard(update(line(chat=DM)), account="shop")

    assert inbound.address.account == "shop"
