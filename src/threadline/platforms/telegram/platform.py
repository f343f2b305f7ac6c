"""Telegram as a platform: news are polled for or called in, and the mouth carries out the rest."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING

from threadline.core.address import Address
from threadline.core.command import Command
from threadline.core.errors import Invalid
from threadline.core.platform import (
    Capabilities,
    Outgoing,
    ReadBlob,
    Receive,
    Receiver,
    Scope,
    Send,
    Unit,
)
from threadline.platforms.telegram.albums import Albums
from threadline.platforms.telegram.bot_session import BotSession
from threadline.platforms.telegram.rate_limit import TelegramRateLimit
from threadline.platforms.telegram.settings import TelegramSettings
from threadline.platforms.telegram.webhook import WebhookReceiver

if TYPE_CHECKING:
    from aiogram import Bot
    from aiogram.types import User

    from threadline.platforms.telegram.message_sender import MessageSender
    from threadline.platforms.telegram.update_processor import UpdateProcessor

Settings = TelegramSettings
"""By this name `make`'s module says which settings there are, so that a wrong one is explained."""

NOTES = (
    "Telegram shows bold, italic, struck and fixed-width text, code blocks, links, lists and"
    " quotes as you write them in Markdown. Headings become bold lines and tables fixed-width"
    " text, so keep tables narrow: most people read on a phone. Formulas and HTML are shown as"
    " they are written."
)
QUIET = timedelta(seconds=0.5)
"""An album to which nothing was added for so long is whole."""
CAPABILITIES = Capabilities(
    text_limit=4096,
    unit=Unit.UTF16,
    edits=True,
    typing=True,
    attachments=True,
    attachment_limit=50_000_000,
    threads=True,
    buttons=True,
    raw_ids=False,
)


class Telegram:
    """A platform and an endpoint: one bot, which people write to."""

    def __init__(
        self,
        name: str,
        settings: TelegramSettings,
        *,
        clock: Callable[[], datetime] | None = None,
        quiet: timedelta = QUIET,
        pacing: TelegramRateLimit | None = None,
    ) -> None:
        """Set it up; nothing is opened and nothing heavy loaded yet. The rest is for tests."""
        self._name = name
        self._settings = settings
        self._clock = clock or _now
        self._quiet = quiet
        self._line = BotSession(settings)
        self._pacing = pacing or TelegramRateLimit()
        self._mouth: MessageSender | None = None
        self._doorway = WebhookReceiver(name, settings.secret if settings.mode == "webhook" else "")
        self._albums = Albums()
        self._failures: Counter[str] = Counter()

    @property
    def name(self) -> str:
        """How it is called in addresses and settings."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        return CAPABILITIES

    @property
    def notes(self) -> str:
        """What an agent should know when it speaks there."""
        return NOTES

    async def check(self) -> str:
        """Ask Telegram whose token it is."""
        async with self._line.open() as bot:
            me = await _who_we_are(bot)
        reads = "" if me.can_read_all_group_messages else " In groups it hears what is said to it."
        return f"The bot is @{me.username}.{reads}"

    async def run(self, gate: Receiver) -> None:
        """Bring in what people say, until cancelled."""
        async with self._line.open() as bot:
            intake = await self._introduce(bot, gate)
            if self._settings.mode == "webhook":
                await self._listen(bot, intake)
            else:
                await self._poll(bot, intake)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call of Telegram, where it calls us."""
        await self._doorway.serve(scope, receive, send)

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Show one message."""
        async with self._speaking() as mouth:
            return await mouth.send(outgoing, read_blob)

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        """Let a message that was sent read differently."""
        async with self._speaking() as mouth:
            await mouth.edit(address, message_id, text)

    async def show_typing(self, address: Address) -> None:
        """Show for a few seconds that somebody writes."""
        async with self._speaking() as mouth:
            await mouth.show_typing(address)

    async def register(self, commands: Sequence[Command]) -> None:
        """Fill the menu of the bot."""
        async with self._speaking() as mouth:
            await mouth.register(commands)

    @asynccontextmanager
    async def _speaking(self) -> "AsyncIterator[MessageSender]":
        async with self._line.open():
            if self._mouth is None:
                from threadline.platforms.telegram.message_sender import MessageSender

                self._mouth = MessageSender(self._line.bot, pacing=self._pacing)
            yield self._mouth

    async def _introduce(self, bot: "Bot", gate: Receiver) -> "UpdateProcessor":
        """Ask who we are, which also shows whether the token is right."""
        from threadline.platforms.telegram.update_processor import UpdateProcessor

        return UpdateProcessor(
            bot,
            await _who_we_are(bot),
            gate,
            name=self._name,
            settings=self._settings,
            clock=self._clock,
            albums=self._albums,
            failures=self._failures,
        )

    async def _poll(self, bot: "Bot", intake: "UpdateProcessor") -> None:
        from threadline.platforms.telegram.errors import to_platform_error
        from threadline.platforms.telegram.polling import Poller

        ours = self._settings.webhook_url
        if ours is not None:
            # Whoever went over from a webhook to polling need not know that it is still set.
            async with to_platform_error():
                if (await bot.get_webhook_info()).url == str(ours):
                    await bot.delete_webhook()
        await Poller(bot, intake, quiet=self._quiet).run()

    async def _listen(self, bot: "Bot", intake: "UpdateProcessor") -> None:
        from threadline.platforms.telegram.album_buffer import AlbumBuffer
        from threadline.platforms.telegram.errors import to_platform_error
        from threadline.platforms.telegram.updates import WANTED

        with self._doorway.open(AlbumBuffer(intake, self._quiet)):
            async with to_platform_error():
                await bot.set_webhook(
                    str(self._settings.webhook_url),
                    secret_token=self._settings.secret,
                    allowed_updates=list(WANTED),
                )
            await asyncio.Event().wait()


def make(name: str, settings: Mapping[str, object]) -> Telegram:
    """Make a bot from its settings; pydantic tells what is wrong with them."""
    if find_spec("aiogram") is None:
        hint = "Run: pip install 'threadline[telegram]'"
        raise Invalid("Telegram needs an extra package", hint=hint)
    return Telegram(name, TelegramSettings.model_validate(dict(settings)))


async def _who_we_are(bot: "Bot") -> "User":
    from threadline.platforms.telegram.errors import to_platform_error

    async with to_platform_error():
        return await bot.get_me()


def _now() -> datetime:
    return datetime.now(UTC)
