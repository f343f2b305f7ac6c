"""Bots of the real SDK that speak to the double."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiogram import Bot
from aiogram.client.session.aiohttp import AiohttpSession
from aiogram.client.telegram import TelegramAPIServer

from tests.doubles.telegram import BotApi


class Session(AiohttpSession):
    """A session that does not wait for TLS to end, as there is none."""

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


@asynccontextmanager
async def open_bot(api: BotApi, token: str | None = None) -> AsyncIterator[Bot]:
    """Connect a bot, with the right token or another."""
    session = Session(api=TelegramAPIServer.from_base(api.url))
    async with session:
        yield Bot(token or api.token, session=session)
