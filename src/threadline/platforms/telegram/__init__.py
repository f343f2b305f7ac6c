"""Telegram: a bot that people write to, in direct chats, groups, topics and channels."""

from threadline.platforms.telegram.platform import Telegram, make
from threadline.platforms.telegram.settings import TelegramSettings

__all__ = ["Telegram", "TelegramSettings", "make"]
