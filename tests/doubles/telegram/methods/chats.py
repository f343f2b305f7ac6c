"""Rooms: what a bot can learn of chats and do with them, and the topics of forums."""

from tests.doubles.telegram.calls import Call
from tests.doubles.telegram.chats import Chat, ChatKind, Standing, Topic
from tests.doubles.telegram.refusals import Refusal, Wire, bad
from tests.doubles.telegram.state import World, member_wire


def tell_chat(world: World, call: Call) -> Wire:
    """Tell all about a chat."""
    chat = world.find_chat(call.text("chat_id"))
    accepted = {
        "unlimited_gifts": False,
        "limited_gifts": False,
        "unique_gifts": False,
        "premium_subscription": False,
        "gifts_from_channels": False,
    }
    return {
        **chat.wire(),
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": accepted,
    }


def leave_chat(world: World, call: Call) -> bool:
    """Go out of a group or a channel."""
    chat = world.open_chat(call)
    if chat.kind is ChatKind.PRIVATE:
        raise bad("chat member status can't be changed in private chats")
    chat.standing = Standing.LEFT
    world.bell.ring()
    return True


def tell_member(world: World, call: Call) -> Wire:
    """Tell what somebody is in a chat."""
    chat = world.find_chat(call.text("chat_id"))
    wanted = call.number("user_id")
    if wanted == world.bot["id"]:
        return member_wire(world.signature, chat.standing)
    if wanted in chat.members:
        person, standing = chat.members[wanted]
        return member_wire(person.wire(), standing)
    if wanted in world.people:
        return member_wire(world.people[wanted].wire(), Standing.LEFT)
    raise bad("PARTICIPANT_ID_INVALID")


def tell_administrators(world: World, call: Call) -> list[Wire]:
    """Tell who may do more than others in a chat."""
    chat = world.find_chat(call.text("chat_id"))
    if chat.kind is ChatKind.PRIVATE:
        raise bad("there are no administrators in the private chat")
    high = {Standing.CREATOR, Standing.ADMINISTRATOR}
    return [
        member_wire(p.wire(), standing) for p, standing in chat.members.values() if standing in high
    ]


def count_members(world: World, call: Call) -> int:
    """Count who is in a chat, the bot too."""
    return len(world.find_chat(call.text("chat_id")).members) + 1


def create_topic(world: World, call: Call) -> Wire:
    """Open a topic in a forum."""
    chat = _forum(world, call)
    name = call.text("name")
    if not 1 <= len(name) <= 128:
        raise bad("TOPIC_TITLE_INVALID" if name else "TOPIC_TITLE_EMPTY")
    topic = world.add_topic(chat, name, by=None)
    return {"message_thread_id": topic.id, "name": name, "icon_color": 7_322_096}


def edit_topic(world: World, call: Call) -> bool:
    """Give a topic another name."""
    topic = _topic(world, call)
    if call.text("name") == topic.name:
        raise bad("TOPIC_NOT_MODIFIED")
    topic.name = call.text("name") or topic.name
    return True


def close_topic(world: World, call: Call) -> bool:
    """Let nobody write in a topic any more, but for administrators."""
    topic = _topic(world, call)
    if topic.is_closed:
        raise bad("TOPIC_NOT_MODIFIED")
    topic.is_closed = True
    return True


def reopen_topic(world: World, call: Call) -> bool:
    """Let everybody write in a topic again."""
    topic = _topic(world, call)
    if not topic.is_closed:
        raise bad("TOPIC_NOT_MODIFIED")
    topic.is_closed = False
    return True


def delete_topic(world: World, call: Call) -> bool:
    """Take a topic away with all that was said there."""
    topic = _topic(world, call)
    chat = topic.opening.chat
    for shown in [line for line in chat.lines.values() if line.thread == topic.id]:
        world.remove_line(shown)
    del chat.topics[topic.id]
    return True


def _forum(world: World, call: Call) -> Chat:
    chat = world.open_chat(call)
    if not chat.is_forum:
        raise bad("the chat is not a forum")
    if chat.kind is not ChatKind.PRIVATE and chat.standing is not Standing.ADMINISTRATOR:
        raise Refusal(400, "not enough rights to create a topic")
    return chat


def _topic(world: World, call: Call) -> Topic:
    chat = _forum(world, call)
    number = call.number("message_thread_id")
    if number not in chat.topics:
        raise bad("message thread not found")
    return chat.topics[number]


ROOM_METHODS = {
    "getChat": tell_chat,
    "leaveChat": leave_chat,
    "getChatMember": tell_member,
    "getChatAdministrators": tell_administrators,
    "getChatMemberCount": count_members,
    "createForumTopic": create_topic,
    "editForumTopic": edit_topic,
    "closeForumTopic": close_topic,
    "reopenForumTopic": reopen_topic,
    "deleteForumTopic": delete_topic,
}
