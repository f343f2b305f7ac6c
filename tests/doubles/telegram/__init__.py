"""A double of the Telegram Bot API: the documented wire, and people behind it."""

from tests.doubles.telegram.api import TOKEN, BotApi
from tests.doubles.telegram.chats import Chat, ChatKind, Shown, Standing
from tests.doubles.telegram.faults import SPEAKING, Limits
from tests.doubles.telegram.people import Person

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
