"""People and places: who said something on Telegram, and where."""

from aiogram import types

from threadline.core.address import Address, Kind, Sender
from threadline.core.validation import clean_title

_KINDS = {"private": Kind.DM, "group": Kind.GROUP, "supergroup": Kind.GROUP}


def chat_address(
    chat: types.Chat, *, platform: str, account: str = "", message: types.Message | None = None
) -> Address:
    """Tell where something was said; a topic is a place of its own inside its group."""
    thread = None if message is None else topic_in(message)
    kind = _KINDS.get(chat.type, Kind.CHANNEL)
    return Address(
        platform=platform,
        account=account,
        # A direct chat stays one, whatever topics it is sorted into.
        kind=Kind.THREAD if thread and kind is Kind.GROUP else kind,
        chat=str(chat.id),
        thread=thread,
        chat_name=None if kind is Kind.DM else one_line_name(chat.title),
        topic=None if message is None or thread is None else _topic_name(message),
    )


def topic_in(message: types.Message) -> str | None:
    """Tell the topic of a message; the thread of mere replies to one message is none."""
    if message.message_thread_id is None or not message.is_topic_message:
        return None
    return str(message.message_thread_id)


def answered_by(message: types.Message) -> types.Message | None:
    """Find the message that this one answers; a topic's own beginning is not meant by anybody."""
    answered = message.reply_to_message
    if answered is None or answered.forum_topic_created is not None:
        return None
    is_beginning = message.is_topic_message and answered.message_id == message.message_thread_id
    return None if is_beginning else answered


def message_sender(message: types.Message) -> Sender:
    """Tell who said something; who speaks in the name of a chat is that chat."""
    if message.sender_chat is not None:
        return sender_from_chat(message.sender_chat, message.author_signature)
    if message.from_user is not None:
        return sender_from_user(message.from_user)
    return sender_from_chat(message.chat, message.author_signature)


def sender_from_user(user: types.User) -> Sender:
    """Tell who somebody is; the id stays, names and user names come and go."""
    return Sender(id=str(user.id), name=person_name(user), is_bot=user.is_bot)


def sender_from_chat(chat: types.Chat, signature: str | None) -> Sender:
    """Tell who speaks as a channel, or as an anonymous admin of a group."""
    title = one_line_name(chat.title) or one_line_name(chat.username)
    signed = one_line_name(signature)
    name = f"{signed} ({title})" if signed and title else signed or title
    return Sender(id=str(chat.id), name=name)


def person_name(user: types.User) -> str | None:
    """Answer by what name a person goes."""
    return one_line_name(user.full_name) or one_line_name(user.username)


def one_line_name(text: str | None) -> str | None:
    """Make one short line of a name, whatever somebody wrote into it."""
    return clean_title(text) or None if text else None


def _topic_name(message: types.Message) -> str | None:
    answered = message.reply_to_message
    created = answered.forum_topic_created if answered is not None else None
    return one_line_name(created.name) if created is not None else None
