"""The wire: the SDK's session and bot, and the one method that it reads too strictly."""

from typing import Any, ClassVar

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer
from aiogram.methods import TelegramMethod

CALL_SECONDS = 25.0
"""How long an ordinary call may take."""


class Wire(AiohttpSession):
    """The SDK's own session, which is closed at once."""

    async def close(self) -> None:
        """Close all connections, without the SDK's pause: nobody waits for a platform to end."""
        if self._session is not None and not self._session.closed:
            await self._session.close()


class GetRawUpdates(TelegramMethod[list[Any]]):
    """Asks for updates as they are: one that the SDK cannot read must not cost the others."""

    __returning__: ClassVar[Any] = list[Any]
    __api_method__: ClassVar[str] = "getUpdates"

    offset: int | None = None
    limit: int = 100
    timeout: int = 0
    allowed_updates: list[str]


def make_bot(token: str, api_url: str) -> Bot:
    """Make a bot that speaks to a server of the Bot API."""
    server = TelegramAPIServer.from_base(api_url.rstrip("/"))
    return Bot(token, session=Wire(api=server, timeout=CALL_SECONDS))
