"""Bot session: opened by whoever needs it, and closed when nobody does any more."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from threadline.core.errors import PlatformError
from threadline.platforms.telegram.settings import TelegramSettings

if TYPE_CHECKING:
    from aiogram import Bot

_HEAVY = ("update_processor", "polling", "message_sender")
"""The modules that bring the SDK along."""


class BotSession:
    """One bot with its connections. Sends may come before `run` begins, and after it has ended."""

    def __init__(self, settings: TelegramSettings) -> None:
        """Know the way; nothing is opened yet, and the SDK is not loaded."""
        self._settings = settings
        self._bot: Bot | None = None
        self._users = 0

    @asynccontextmanager
    async def open(self) -> "AsyncIterator[Bot]":
        """Keep the line open for as long as this lasts."""
        self._users += 1
        try:
            yield await self._ready()
        finally:
            self._users -= 1
            if not self._users and self._bot is not None:
                await self._bot.session.close()

    def bot(self) -> "Bot":
        """Answer the bot, while the line is open."""
        if self._bot is None:
            raise PlatformError("The line to Telegram is not open")
        return self._bot

    async def _ready(self) -> "Bot":
        if self._bot is None:
            # The SDK takes seconds to load, and the loop must not wait for it.
            self._keep(await asyncio.to_thread(_make_bot, self._settings))
        return self.bot()

    def _keep(self, made: "Bot") -> None:
        # Whoever came first made the bot that all use.
        self._bot = made if self._bot is None else self._bot


def _make_bot(settings: TelegramSettings) -> "Bot":
    for module in _HEAVY:
        import_module(f"threadline.platforms.telegram.{module}")
    from threadline.platforms.telegram.aiogram_session import make_bot

    return make_bot(settings.token.get_secret_value(), str(settings.api_url))
