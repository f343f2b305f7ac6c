"""A double of the Telegram Bot API: the documented wire, and people behind it."""

from threadline.testing.telegram.api import TOKEN, BotApi
from threadline.testing.telegram.chats import Chat, ChatKind, Shown, Standing
from threadline.testing.telegram.people import Person
from threadline.testing.telegram.trouble import SPEAKING, Limits

__all__ = [
    "SPEAKING",
    "TOKEN",
    "BotApi",
    "Chat",
    "ChatKind",
    "Limits",
    "Person",
    "Shown",
    "Standing",
]
