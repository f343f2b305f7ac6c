"""Payloads: addresses, choices, styles and files in Telegram's own terms."""

import re
from collections.abc import Sequence

from aiogram.types import (
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    LinkPreviewOptions,
    MessageEntity,
    ReplyParameters,
)

from threadline.core.address import Address
from threadline.core.message import Attachment, MediaKind
from threadline.core.platform import Choice, Outgoing, Unit
from threadline.core.splitting import text_length
from threadline.platforms.telegram.entities import Rendered

CAPTION_LIMIT = 1024
"""UTF-16 units under a file."""
CHOICE_LIMIT = 64
"""Bytes that a button can say."""
PHOTO_LIMIT = 10_000_000
NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
_PHOTOS = frozenset({"image/jpeg", "image/png", "image/webp"})
_SOUNDS = frozenset({"audio/mpeg", "audio/mp4", "audio/x-m4a", "audio/aac"})
_VOICES = frozenset({"audio/ogg", "audio/opus"})
_MOVING = {"video/mp4": "video", "image/gif": "animation"}
_GENERAL_TOPIC = "1"
_UNSAFE_IN_NAMES = re.compile(r'[\x00-\x1f\x7f";\\]')


def chat_of(address: Address) -> int | str:
    """Answer which chat is meant: a number, or the name of a channel."""
    chat = address.chat or ""
    digits = chat.removeprefix("-")
    return int(chat) if digits.isascii() and digits.isdecimal() else chat


def thread_of(address: Address) -> int | None:
    """Answer which topic is meant; the general one is where nothing is said of any."""
    thread = address.thread or ""
    is_topic = thread.isascii() and thread.isdecimal() and thread != _GENERAL_TOPIC
    return int(thread) if is_topic else None


def reply_to(outgoing: Outgoing) -> ReplyParameters | None:
    """Answer which message is replied to; that it may be gone harms nothing."""
    id = outgoing.reply_to or ""
    if not (id.isascii() and id.isdecimal()):
        return None
    return ReplyParameters(message_id=int(id), allow_sending_without_reply=True)


def keyboard_of(choices: Sequence[Choice]) -> InlineKeyboardMarkup | None:
    """Make a button of each choice, one in a line; what a button cannot say is not offered."""
    buttons = [
        [InlineKeyboardButton(text=choice.label or choice.says, callback_data=choice.says)]
        for choice in choices
        if 0 < len(choice.says.encode()) <= CHOICE_LIMIT
    ]
    return InlineKeyboardMarkup(inline_keyboard=buttons) if buttons else None


def entities_of(shown: Rendered) -> list[MessageEntity] | None:
    """Answer the styles of a text."""
    return [
        MessageEntity(
            type=one.type,
            offset=one.offset,
            length=one.length,
            url=one.url,
            language=one.language,
        )
        for one in shown.entities
    ] or None


def form_of(file: Attachment) -> str:
    """Choose how a file is shown."""
    media_type = file.media_type.partition(";")[0].strip().lower()
    if file.kind is MediaKind.IMAGE and media_type in _PHOTOS and file.size <= PHOTO_LIMIT:
        return "photo"
    if file.kind is MediaKind.AUDIO and media_type in _VOICES:
        return "voice"
    if file.kind is MediaKind.AUDIO and media_type in _SOUNDS:
        return "audio"
    return _MOVING.get(media_type, "document")


def file_name_of(file: Attachment) -> str:
    """Return the name of a file without signs that would end it, or its header, on the wire."""
    return _UNSAFE_IN_NAMES.sub("_", file.name or "") or "file"


def fits_under(shown: Rendered | None) -> bool:
    """Tell whether words can stand under a file."""
    return shown is None or text_length(shown.text, Unit.UTF16) <= CAPTION_LIMIT
