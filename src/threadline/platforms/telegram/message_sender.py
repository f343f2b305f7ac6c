"""Message sender: sends text, files and edits to Telegram, within its rate limits.

This module brings the whole SDK along, so it is imported when it is needed, and not before.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from aiogram import Bot
from aiogram.exceptions import TelegramBadRequest, TelegramMigrateToChat
from aiogram.types import BotCommand, BufferedInputFile, Message

from threadline.core.address import Address
from threadline.core.command import Command
from threadline.core.delivery import SendOutcome
from threadline.core.message import Attachment
from threadline.core.platform import Outgoing, ReadBlob, SendFailed
from threadline.platforms.telegram.entities import Rendered, render_entities
from threadline.platforms.telegram.errors import explained, is_unchanged, is_unreadable
from threadline.platforms.telegram.payloads import (
    NO_PREVIEW,
    chat_of,
    entities_of,
    file_name_of,
    fits_under,
    form_of,
    keyboard_of,
    reply_to,
    thread_of,
)
from threadline.platforms.telegram.rate_limit import TelegramRateLimit

log = logging.getLogger("threadline.platforms.telegram")

_DOCUMENT = "document"
T = TypeVar("T")


class MessageSender:
    """Says things on Telegram."""

    def __init__(self, bot: Callable[[], Bot], *, pacing: TelegramRateLimit | None = None) -> None:
        """Speak through a bot, whose line is open whenever something is said."""
        self._bot = bot
        self._pacing = pacing or TelegramRateLimit()

    async def send(self, outgoing: Outgoing, read_blob: ReadBlob) -> str | None:
        """Show one message; answer the id of its words, or of its first file."""
        shown = render_entities(outgoing.text) if outgoing.text.strip() else None
        if len(outgoing.attachments) == 1 and fits_under(shown):
            # Words and file are one message: both are seen, or none.
            return await self._send_file(outgoing, outgoing.attachments[0], read_blob, shown)
        first: str | None = None
        try:
            if shown is not None:
                first = await self._send_text(outgoing, shown)
            for file in outgoing.attachments:
                sent = await self._send_file(outgoing, file, read_blob, None)
                first = first or sent
        except SendFailed as error:
            if first is None:
                raise
            # Some of it was seen, so nobody can say that it was not.
            raise SendFailed(
                str(error), outcome=SendOutcome.AMBIGUOUS, retry_after=error.retry_after
            ) from error
        return first

    async def edit(self, address: Address, message_id: str, text: str) -> None:
        """Let a message of ours read differently; that it does already is as good."""

        async def change(chat: int | str, shown: Rendered) -> None:
            try:
                await self._bot().edit_message_text(
                    text=shown.text,
                    chat_id=chat,
                    message_id=int(message_id),
                    entities=entities_of(shown),
                    parse_mode=None,
                    link_preview_options=NO_PREVIEW,
                )
            except TelegramBadRequest as error:
                if not is_unchanged(error):
                    raise

        await self._say(address, render_entities(text), change)

    async def show_typing(self, address: Address) -> None:
        """Show for five seconds that somebody writes."""
        async with explained():
            await self._bot().send_chat_action(
                chat_id=chat_of(address), action="typing", message_thread_id=thread_of(address)
            )

    async def register(self, commands: Sequence[Command]) -> None:
        """Bring the menu up to date; Telegram is told only if it is another one."""
        menu = {one.name: one.help for one in commands}
        async with explained():
            shown = {one.command: one.description for one in await self._bot().get_my_commands()}
            if list(shown.items()) != list(menu.items()):
                await self._bot().set_my_commands(
                    [BotCommand(command=name, description=does) for name, does in menu.items()]
                )

    async def _send_text(self, outgoing: Outgoing, shown: Rendered) -> str:
        async def say(chat: int | str, shown: Rendered) -> Message:
            return await self._bot().send_message(
                chat_id=chat,
                text=shown.text,
                entities=entities_of(shown),
                parse_mode=None,
                message_thread_id=thread_of(outgoing.address),
                reply_parameters=reply_to(outgoing),
                reply_markup=keyboard_of(outgoing.choices),
                link_preview_options=NO_PREVIEW,
            )

        return str((await self._say(outgoing.address, shown, say)).message_id)

    async def _send_file(
        self, outgoing: Outgoing, file: Attachment, read_blob: ReadBlob, shown: Rendered | None
    ) -> str:
        data = b"".join([piece async for piece in read_blob(file.blob)])
        form = form_of(file)

        async def hand_over(chat: int | str, shown: Rendered, form: str = form) -> Message:
            send = getattr(self._bot(), f"send_{form}")
            sent: Message = await send(
                chat_id=chat,
                **{form: BufferedInputFile(data, filename=file_name_of(file))},
                caption=shown.text or None,
                caption_entities=entities_of(shown),
                parse_mode=None,
                message_thread_id=thread_of(outgoing.address),
                reply_parameters=reply_to(outgoing),
                reply_markup=keyboard_of(outgoing.choices),
            )
            return sent

        async def try_out(chat: int | str, shown: Rendered) -> Message:
            try:
                return await hand_over(chat, shown)
            except TelegramBadRequest:
                if form == _DOCUMENT:
                    raise
            # Not every picture is one that Telegram shows; every file is one that it keeps.
            return await hand_over(chat, shown, _DOCUMENT)

        said = await self._say(outgoing.address, shown or Rendered(""), try_out)
        return str(said.message_id)

    async def _say(
        self, address: Address, shown: Rendered, say: Callable[[int | str, Rendered], Awaitable[T]]
    ) -> T:
        """Say something at its time, and heed the pause that Telegram may ask for."""
        chat = chat_of(address)
        await self._pacing.take(str(chat))
        try:
            async with explained():
                return await _say_somehow(chat, shown, say)
        except SendFailed as error:
            if error.retry_after is not None:
                self._pacing.hold(str(chat), error.retry_after)
            raise


async def _say_somehow(
    chat: int | str, shown: Rendered, say: Callable[[int | str, Rendered], Awaitable[T]]
) -> T:
    """Say something: where the chat has moved to, and plain if Telegram dislikes its styles."""
    try:
        return await say(chat, shown)
    except TelegramMigrateToChat as moved:
        log.warning("Chat %s has become chat %s", chat, moved.migrate_to_chat_id)
        return await say(moved.migrate_to_chat_id, shown)
    except TelegramBadRequest as error:
        if not shown.entities or not is_unreadable(error):
            raise
    log.warning("Telegram refused the styles of a text; it is shown plain")
    return await say(chat, Rendered(shown.text))
