"""Update processor: an update is read, its files are fetched, and the gate takes what it says."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from aiogram import Bot, types

from threadline.core.address import Address
from threadline.core.errors import Invalid, PlatformError
from threadline.core.inbound import Inbound, InboundKind
from threadline.core.message import Part, Text
from threadline.core.platform import Receiver, ReceiveResult
from threadline.platforms.telegram.albums import Album, AlbumItem, Albums
from threadline.platforms.telegram.errors import to_platform_error
from threadline.platforms.telegram.files import Fetcher, file_of
from threadline.platforms.telegram.mention_filter import Addressee, without_call
from threadline.platforms.telegram.people import (
    answered_by,
    chat_address,
    message_sender,
    sender_from_user,
)
from threadline.platforms.telegram.settings import TelegramSettings
from threadline.platforms.telegram.text_extraction import message_text, reply_excerpt
from threadline.platforms.telegram.updates import (
    ButtonPress,
    IgnoredUpdate,
    IncomingMessage,
    News,
    read_update,
)

log = logging.getLogger("threadline.platforms.telegram")

TOAST = 200
"""Characters that are shown to whoever pressed a button."""
_NO_LEAVE = "You may not do that here."
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class UpdateProcessor:
    """Takes in what updates bring, for one run of the platform."""

    def __init__(
        self,
        bot: Bot,
        me: types.User,
        gate: Receiver,
        *,
        name: str,
        settings: TelegramSettings,
        clock: Callable[[], datetime],
        albums: Albums,
        failures: Counter[str],
    ) -> None:
        """Stand between Telegram and a gate; albums and failures outlive a run."""
        self._bot = bot
        self._me = me
        self._gate = gate
        self._name = name
        self._settings = settings
        self._clock = clock
        self._albums = albums
        self._failures = failures
        self._fetcher = Fetcher(bot, gate, settings.download_limit)

    def read(self, raw: object) -> News:
        """Read an update."""
        return read_update(raw, self._me, self._settings)

    async def take(self, news: Sequence[News]) -> None:
        """Take in what came from one chat, in its order; when this returns it is on disk."""
        begun: set[str] = set()
        for one in news:
            if isinstance(one, IgnoredUpdate):
                self._pass(one.update_id, one.why, one.level)
            elif isinstance(one, ButtonPress):
                await self._press(one)
            elif one.album is None:
                await self._hear(one)
            elif one.kind is InboundKind.EDIT:
                await self._change_part(one, one.album)
            elif one.album not in begun:
                begun.add(one.album)
                await self._join(one.album, _parts_of(one.album, news))

    async def _hear(self, heard: IncomingMessage) -> None:
        if heard.aim is Addressee.NOBODY:
            self._pass(heard.update_id, "it was not said to us", logging.DEBUG)
            return
        message = heard.message
        await self._bring(heard, message.message_id, heard.kind, await self._share(message))

    async def _join(self, name: str, parts: Sequence[IncomingMessage]) -> None:
        """Take in an album; what comes of it later changes the message that stands for it."""
        first, known = parts[0], self._albums.find(parts[0].chat, name)
        aimed = [part for part in parts if part.aim is not Addressee.NOBODY]
        if not aimed and known is None:
            self._pass(first.update_id, "it was not said to us", logging.DEBUG)
            return
        had = {} if known is None else known.shares
        new = {
            part.message.message_id: await self._share(part.message)
            for part in parts
            if part.message.message_id not in had
        }
        album = Album(shares={**had, **new})
        speaks = min(aimed or parts, key=lambda part: part.aim is not Addressee.US)
        if known is None or not new:
            await self._bring(speaks, album.id, InboundKind.MESSAGE, album.whole)
        else:
            await self._bring(parts[-1], album.id, InboundKind.EDIT, album.whole)
        self._albums.keep(first.chat, name, album)

    async def _change_part(self, heard: IncomingMessage, name: str) -> None:
        known = self._albums.find(heard.chat, name)
        if known is None:
            self._pass(heard.update_id, "a part of an older album was changed", logging.INFO)
            return
        share = await self._share(heard.message)
        album = Album(shares={**known.shares, heard.message.message_id: share})
        await self._bring(heard, album.id, InboundKind.EDIT, album.whole)
        self._albums.keep(heard.chat, name, album)

    async def _share(self, message: types.Message) -> AlbumItem:
        """Gather what a message brings; a file that cannot be had is named in its words."""
        words, file = message_text(message), file_of(message)
        if file is None:
            return AlbumItem(words=words)
        if not await self._may_speak(message):
            return AlbumItem(words=words or file.name)
        fetched = await self._fetcher.fetch(file, self._failures)
        if isinstance(fetched, str):
            return AlbumItem(words="\n".join(filter(None, (words, fetched))))
        return AlbumItem(words=words, files=(fetched,))

    async def _may_speak(self, message: types.Message) -> bool:
        """Ask whether somebody may speak here: nothing of a stranger's is fetched."""
        try:
            knock = Inbound(
                address=self._address(message),
                sender=message_sender(message),
                parts=(Text(text="?"),),
                at=_moment(message, InboundKind.MESSAGE),
            )
        except (Invalid, OverflowError):
            return False  # It is passed over anyway, and that is told then.
        return await self._gate.admits(knock)

    async def _bring(
        self, heard: IncomingMessage, id: int, kind: InboundKind, share: AlbumItem
    ) -> None:
        message = heard.message
        answered = answered_by(message)
        try:
            inbound = Inbound(
                address=self._address(message),
                sender=message_sender(message),
                parts=self._parts(message, share),
                at=_moment(message, kind),
                kind=kind,
                message_id=str(id),
                version=heard.update_id if kind is InboundKind.EDIT else 0,
                reply_to=None if answered is None else str(answered.message_id),
                observed=heard.aim is Addressee.NEAR,
            )
        except (Invalid, OverflowError) as error:
            why = error.message if isinstance(error, Invalid) else "its date is none"
            self._pass(heard.update_id, why, logging.WARNING)
        else:
            await self._gate.take(inbound)

    async def _press(self, pressed: ButtonPress) -> None:
        query = pressed.query
        try:
            inbound = Inbound(
                address=self._address(pressed.message),
                sender=sender_from_user(query.from_user),
                parts=(Text(text=pressed.says),),
                at=self._clock(),
                message_id=f"callback-{query.id}",
                reply_to=str(pressed.message.message_id),
            )
        except Invalid as error:
            self._pass(pressed.update_id, error.message, logging.WARNING)
        else:
            await self._answer(query, await self._gate.take(inbound))

    async def _answer(self, query: types.CallbackQuery, taken: ReceiveResult) -> None:
        """Let the button come to rest; who may not press it is told so, and nobody else."""
        words = (taken.said or _NO_LEAVE)[:TOAST] if taken.reception.is_refusal else None
        try:
            async with to_platform_error():
                await self._bot.answer_callback_query(query.id, text=words)
        except PlatformError as error:
            log.info("%s: a pressed button could not be answered: %s", self._name, error)

    def _parts(self, message: types.Message, share: AlbumItem) -> tuple[Part, ...]:
        words = without_call(share.words, self._me)
        excerpt = "" if words.startswith("/") else self._excerpt(message)
        return (*(Text(text=text) for text in (words, excerpt) if text), *share.files)

    def _excerpt(self, message: types.Message) -> str:
        answered = answered_by(message)
        is_ours = answered is not None and (
            answered.from_user is not None and answered.from_user.id == self._me.id
        )
        if is_ours and answered is not None and answered.reply_markup is not None:
            return ""  # It answers a question of ours: the words alone are the answer.
        return reply_excerpt(message, answered)

    def _address(self, message: types.Message | types.InaccessibleMessage) -> Address:
        return chat_address(
            message.chat,
            platform=self._name,
            account=self._settings.account,
            message=message if isinstance(message, types.Message) else None,
        )

    def _pass(self, number: int | None, why: str, level: int) -> None:
        log.log(level, "%s: update %s is passed over: %s", self._name, number, why)


def by_chat(news: Iterable[News]) -> Mapping[int, list[News]]:
    """Sort news by chat, each in its order."""
    chats: dict[int, list[News]] = {}
    for one in news:
        chats.setdefault(one.chat, []).append(one)
    return chats


def _parts_of(album: str, news: Iterable[News]) -> list[IncomingMessage]:
    parts = [
        one
        for one in news
        if isinstance(one, IncomingMessage)
        and one.album == album
        and one.kind is InboundKind.MESSAGE
    ]
    return sorted(parts, key=lambda part: part.message.message_id)


def _moment(message: types.Message, kind: InboundKind) -> datetime:
    if kind is InboundKind.EDIT and message.edit_date is not None:
        return _EPOCH + timedelta(seconds=message.edit_date)
    return message.date
