"""Mention filter: whether something in a group or channel was said to us, or only near us."""

import re
from enum import StrEnum

from aiogram import types

from threadline.platforms.telegram.people import answered_by
from threadline.platforms.telegram.settings import TelegramSettings
from threadline.platforms.telegram.text_extraction import entity_text

_COMMAND = re.compile(r"/\w+(@(?P<bot>\w+))?(\s|$)")


class Addressee(StrEnum):
    """To whom something was said."""

    US = "us"
    NEAR = "near"
    """Said where we listen, but not to us."""
    NOBODY = "nobody"
    """Nothing that we are to hear at all."""


def aim_of(message: types.Message, me: types.User, settings: TelegramSettings) -> Addressee:
    """Decide whether a message is answered, kept as context, or left out."""
    if message.chat.type == "private":
        return Addressee.US
    answering = settings.channels if message.chat.type == "channel" else settings.groups
    if answering == "off":
        return Addressee.NOBODY
    is_ours = not _is_for_other(message, me) and (answering == "all" or _is_for(message, me))
    if is_ours:
        return Addressee.US
    return Addressee.NEAR if settings.observe else Addressee.NOBODY


def without_call(words: str, me: types.User) -> str:
    """Let a command stand first that is written behind our name: `@bot /new`."""
    name = f"@{me.username or ''}"
    called, rest = words[: len(name)], words[len(name) :].lstrip()
    is_called = bool(me.username) and called.casefold() == name.casefold()
    return rest if is_called and rest.startswith("/") else words


def _is_for(message: types.Message, me: types.User) -> bool:
    text = without_call(message.text or message.caption or "", me)
    answered = answered_by(message)
    is_answer = (
        answered is not None and answered.from_user is not None and answered.from_user.id == me.id
    )
    return is_answer or _COMMAND.match(text) is not None or _is_mentioned(message, me)


def _is_for_other(message: types.Message, me: types.User) -> bool:
    command = _COMMAND.match(message.text or message.caption or "")
    bot = command["bot"] if command else None
    return bot is not None and bot.casefold() != (me.username or "").casefold()


def _is_mentioned(message: types.Message, me: types.User) -> bool:
    text = message.text or message.caption or ""
    name = f"@{me.username or ''}".casefold()
    for entity in (message.entities if message.text else message.caption_entities) or []:
        if entity.type == "text_mention" and entity.user is not None and entity.user.id == me.id:
            return True
        if entity.type == "mention" and entity_text(text, entity).casefold() == name:
            return True
    return False
