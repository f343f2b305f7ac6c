"""The nursery of gateways with a Telegram bot: the SDK is loaded once, and each birth is quick.

python -m tests.crash.telegram.child
"""

import asyncio
import logging
import random
import sys
from contextvars import ContextVar
from importlib import import_module

from aiogram import Bot
from aiogram.client.session.middlewares.base import BaseRequestMiddleware, NextRequestMiddlewareType
from aiogram.methods import Response, TelegramMethod
from aiogram.methods.base import TelegramType
from msgspec.structs import replace

from tests.crash.dying_database import Fate, Moment, step_from
from tests.crash.gateway.child import SETTINGS, Teller, bear, serve_on
from tests.crash.gateway.remote_platform import TEXT_LIMIT
from tests.crash.telegram.bot_users import NAME
from tests.doubles.telegram import TOKEN
from threadline.core.access import AccessRules
from threadline.core.address import Address
from threadline.core.platform import Capabilities, Outgoing, ReadBlob
from threadline.platforms.telegram import Telegram, TelegramSettings
from threadline.platforms.telegram.rate_limit import TelegramRateLimit

_PAUSE = 0.1
"""Seconds at the most between two words: some answers grow for as long as they may be edited."""
_HURRY = 20
"""So much faster than Telegram would like is spoken, or nothing would ever come to rest."""
_KEY: ContextVar[str] = ContextVar("key")


class Label(BaseRequestMiddleware):
    """Writes on each message what it is for; Telegram overlooks that, and the bureau reads it."""

    async def __call__(
        self,
        make_request: NextRequestMiddlewareType[TelegramType],
        bot: Bot,
        method: TelegramMethod[TelegramType],
    ) -> Response[TelegramType]:
        if method.__api_method__ == "sendMessage":
            method = method.model_copy(update={"key": _KEY.get()})
        return await make_request(bot, method)


class LabelledTelegram(Telegram):
    """The bot as it is, but that its messages are shorter, and that it may die at a step."""

    def __init__(self, url: str, fate: Fate) -> None:
        settings = TelegramSettings.model_validate(
            {"token": TOKEN, "api_url": url, "groups": "all"}
        )
        super().__init__(NAME, settings, pacing=_hurried())
        self._fate = fate

    @property
    def capabilities(self) -> Capabilities:
        return replace(super().capabilities, text_limit=TEXT_LIMIT)

    async def label(self) -> None:
        """Label everything from now on."""
        async with self._line.open() as bot:
            bot.session.middleware(Label())

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        _KEY.set(outgoing.key)
        self._fate.meet("send", Moment.INSIDE)
        id = await super().send(outgoing, read_blob)
        self._fate.meet("send", Moment.TOLD)
        return id

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        self._fate.meet("edit", Moment.INSIDE)
        await super().edit(address, message_id, text)
        self._fate.meet("edit", Moment.TOLD)


def _hurried() -> TelegramRateLimit:
    return TelegramRateLimit(
        clock=lambda: asyncio.get_running_loop().time() * _HURRY,
        sleep=lambda seconds: asyncio.sleep(seconds / _HURRY),
    )


async def serve(where: str, url: str, seed: int, wanted: str | None) -> None:
    """Serve one bot."""
    step = None if wanted is None else step_from(wanted)
    telegram = LabelledTelegram(url, Fate(step))
    await telegram.label()
    access = AccessRules(allow=[f"{NAME}:*"], chats=[f"{NAME}:*"], per_minute=0)
    agent = Teller(random.Random(seed), _PAUSE)
    await serve_on([telegram], where, agent, step, replace(SETTINGS, access=access))


if __name__ == "__main__":
    logging.basicConfig(level=logging.WARNING)
    for module in ("update_processor", "polling", "message_sender"):
        import_module(f"threadline.platforms.telegram.{module}")
    for line in sys.stdin:
        bear(line, serve)
