"""Updates: what Telegram brings, read with care; most of it is for us, some of it is not."""

import copy
import logging
from typing import TypeAlias

from aiogram import types
from msgspec import Struct
from pydantic import ValidationError

from threadline.core.inbound import InboundKind
from threadline.core.validation import COUNT_LIMIT
from threadline.platforms.telegram.files import file_of
from threadline.platforms.telegram.mention_filter import Addressee, aim_of
from threadline.platforms.telegram.settings import TelegramSettings
from threadline.platforms.telegram.text_extraction import message_text
from threadline.platforms.telegram.unknown_fields import drop_unreadable, with_plain_words

log = logging.getLogger("threadline.platforms.telegram")

WANTED = (
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
)
"""The kinds of updates that we ask for."""


class IncomingMessage(Struct, frozen=True, kw_only=True):
    """A message, or a change of one, that is to be taken in."""

    update_id: int
    message: types.Message
    kind: InboundKind
    aim: Addressee

    @property
    def chat(self) -> int:
        """The chat that it was said in."""
        return self.message.chat.id

    @property
    def album(self) -> str | None:
        """The album that it is a part of."""
        return self.message.media_group_id


class ButtonPress(Struct, frozen=True, kw_only=True):
    """A button that somebody pressed, and what that says."""

    update_id: int
    query: types.CallbackQuery
    message: types.Message | types.InaccessibleMessage
    says: str

    @property
    def chat(self) -> int:
        """The chat that the button is in."""
        return self.message.chat.id


class IgnoredUpdate(Struct, frozen=True, kw_only=True):
    """Something that is not taken in, and why."""

    update_id: int | None
    why: str
    level: int = logging.INFO
    chat: int = 0


News: TypeAlias = IncomingMessage | ButtonPress | IgnoredUpdate


def id_of(raw: object) -> int | None:
    """Find the number of an update; without one it cannot be confirmed."""
    number: object = raw.get("update_id") if isinstance(raw, dict) else None
    if not isinstance(number, int) or isinstance(number, bool):
        return None
    return number if 0 <= number < COUNT_LIMIT else None


def read_update(raw: object, me: types.User, settings: TelegramSettings) -> News:
    """Read an update; whatever cannot be read, or is not for us, says so."""
    number = id_of(raw)
    try:
        update = _parsed(with_plain_words(raw))
    except (ValidationError, RecursionError) as error:
        # What pydantic says quotes the update, which is other people's words.
        why = f"it cannot be read ({type(error).__name__})"
        return IgnoredUpdate(update_id=number, why=why, level=logging.WARNING)
    if number is None:
        return IgnoredUpdate(update_id=None, why="it has no number", level=logging.WARNING)
    if (said := update.message or update.channel_post) is not None:
        return _hear(number, said, InboundKind.MESSAGE, me, settings)
    if (changed := update.edited_message or update.edited_channel_post) is not None:
        return _hear(number, changed, InboundKind.EDIT, me, settings)
    if update.callback_query is not None:
        return _press(number, update.callback_query)
    if (member := update.my_chat_member) is not None:
        why = f"in chat {member.chat.id} we are now {member.new_chat_member.status}"
        return IgnoredUpdate(update_id=number, why=why, chat=member.chat.id)
    return IgnoredUpdate(update_id=number, why=f"nothing is done with {_kind_of(update)}")


def _parsed(raw: object) -> types.Update:
    """Return an update, without those parts of it that the SDK does not know."""
    try:
        return types.Update.model_validate(raw)
    except ValidationError as error:
        raw, failed = copy.deepcopy(raw), error
    left_out: list[str] = []
    while dropped := drop_unreadable(raw, failed):
        left_out += dropped
        try:
            update = types.Update.model_validate(raw)
        except ValidationError as error:
            failed = error
        else:
            # Only names: what stands there is other people's words.
            names = ", ".join(name[:100] for name in left_out[:5])
            log.warning("Update %s has parts that are not known: %s", update.update_id, names)
            return update
    raise failed


def _hear(
    number: int,
    message: types.Message,
    kind: InboundKind,
    me: types.User,
    settings: TelegramSettings,
) -> News:
    why, level = _unheard(message, me), logging.INFO
    if message.migrate_to_chat_id is not None:
        # Conversations stay with the old id, and rules that name it have to name the new one.
        why = f"chat {message.chat.id} has become chat {message.migrate_to_chat_id}"
        level = logging.WARNING
    if why:
        return IgnoredUpdate(update_id=number, why=why, level=level, chat=message.chat.id)
    aim = aim_of(message, me, settings)
    return IncomingMessage(update_id=number, message=message, kind=kind, aim=aim)


def _unheard(message: types.Message, me: types.User) -> str:
    """Say why a message is none that anybody could answer; empty: it is one."""
    if message.from_user is not None and message.from_user.id == me.id:
        return "we said it ourselves"
    if message.chat.is_direct_messages:
        return "messages to a channel are not served"
    if not message_text(message) and file_of(message) is None:
        return f"nothing is done with {message.content_type} in chat {message.chat.id}"
    return ""


def _press(number: int, query: types.CallbackQuery) -> News:
    if query.message is None or not query.data:
        return IgnoredUpdate(update_id=number, why="a button was pressed that is not ours")
    return ButtonPress(update_id=number, query=query, message=query.message, says=query.data)


def _kind_of(update: types.Update) -> str:
    known = update.model_fields_set - {"update_id"}
    unknown = {name[:40] for name in update.model_extra or {}}
    return min(known | unknown, default="an empty update")
