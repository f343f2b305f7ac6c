"""Messages: words that the bot says, changes and takes back, and the buttons under them."""

from tests.doubles.telegram.calls import Call
from tests.doubles.telegram.chats import Chat, ChatKind, Shown
from tests.doubles.telegram.contents import (
    MEDIA,
    TEXT_LIMIT,
    caption_content,
    read_words,
    text_content,
)
from tests.doubles.telegram.entities import units
from tests.doubles.telegram.files import Stored
from tests.doubles.telegram.keyboards import checked_markup
from tests.doubles.telegram.refusals import Wire, bad
from tests.doubles.telegram.state import World

_SAME = (
    "message is not modified: specified new message content and reply markup are exactly the "
    "same as a current content and reply markup of the message"
)


def send_message(world: World, call: Call) -> Wire:
    """Say something."""
    chat = world.open_chat(call)
    return show(world, call, chat, text_content(call)).wire


def show(
    world: World, call: Call, chat: Chat, content: Wire, *, files: tuple[Stored, ...] = ()
) -> Shown:
    """Let something new stand in a chat, where and under what the call asks for."""
    answered = find_answered(chat, call)
    thread = chat.thread_for(call.number("message_thread_id"))
    if (markup := checked_markup(call.structure("reply_markup"))) is not None:
        content = {**content, "reply_markup": markup}
    if call.flag("protect_content"):
        content = {**content, "has_protected_content": True}
    chat.drafts.clear()
    return world.add_line(chat, content, by=None, files=files, reply_to=answered, thread=thread)


def find_answered(chat: Chat, call: Call) -> Shown | None:
    """Find the message that a call answers, if it names one."""
    told = call.structure("reply_parameters")
    if told is None and (number := call.number("reply_to_message_id")):
        told = {
            "message_id": number,
            "allow_sending_without_reply": call.flag("allow_sending_without_reply"),
        }
    if told is None:
        return None
    if not isinstance(told, dict) or not isinstance(told.get("message_id"), int):
        raise bad("can't parse reply parameters JSON object")
    found = chat.lines.get(told["message_id"])
    if found is None and not told.get("allow_sending_without_reply"):
        raise bad("message to be replied not found")
    if found and (quote := told.get("quote")) and quote not in found.text:
        raise bad("QUOTE_TEXT_INVALID")
    return found


def send_draft(world: World, call: Call) -> bool:
    """Show an answer that still grows, in a private chat."""
    chat = world.open_chat(call)
    if chat.kind is not ChatKind.PRIVATE:
        raise bad("PEER_ID_INVALID")
    number = call.number("draft_id")
    if not number:
        raise bad("draft_id must be non-zero")
    text, _ = read_words(call)
    if units(text) > TEXT_LIMIT:
        raise bad("message is too long")
    chat.thread_for(call.number("message_thread_id"))
    chat.drafts[number] = text
    world.bell.ring()
    return True


def edit_text(world: World, call: Call) -> Wire:
    """Let a message of the bot read differently."""
    shown = _own(world, call)
    if "text" not in shown.wire:
        raise bad("there is no text in the message to edit")
    return _change(world, call, shown, text_content(call), ("text", "entities"))


def edit_caption(world: World, call: Call) -> Wire:
    """Let the words under a file of the bot read differently."""
    shown = _own(world, call)
    if not MEDIA & shown.wire.keys():
        raise bad("there is no caption in the message to edit")
    content = caption_content(*read_words(call, "caption"))
    return _change(world, call, shown, content, ("caption", "caption_entities"))


def edit_markup(world: World, call: Call) -> Wire:
    """Put other buttons under a message of the bot, or none."""
    shown = _own(world, call)
    kept: Wire = {
        name: shown.wire[name]
        for name in ("text", "entities", "caption", "caption_entities")
        if name in shown.wire
    }
    return _change(world, call, shown, kept, tuple(kept))


def delete_message(world: World, call: Call) -> bool:
    """Take a message away."""
    chat = world.open_chat(call)
    shown = chat.find(call.number("message_id"), "message to delete not found")
    if not shown.is_ours and chat.kind is not ChatKind.PRIVATE and chat.standing == "member":
        raise bad("message can't be deleted")
    world.remove_line(shown)
    return True


def delete_messages(world: World, call: Call) -> bool:
    """Take several messages away; those that are gone already do not matter."""
    chat = world.open_chat(call)
    numbers = call.structure("message_ids")
    if not isinstance(numbers, list) or not 1 <= len(numbers) <= 100:
        raise bad("MESSAGE_IDS_INVALID")
    for number in numbers:
        if number in chat.lines:
            world.remove_line(chat.lines[number])
    return True


def show_action(world: World, call: Call) -> bool:
    """Show for some seconds that something is going on."""
    chat = world.open_chat(call)
    if call.text("action") not in _ACTIONS:
        raise bad("wrong parameter action in request")
    thread = chat.thread_for(call.number("message_thread_id"))
    chat.typing.append({"action": call.text("action"), "thread": thread, "at": call.at})
    world.bell.ring()
    return True


def react(world: World, call: Call) -> bool:
    """Put an emoji under a message, or take it away."""
    chat = world.open_chat(call)
    shown = chat.find(call.number("message_id"), "message to react not found")
    given = call.structure("reaction") or []
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise bad("can't parse reaction types JSON object")
    if len(given) > 1:
        raise bad("REACTIONS_TOO_MANY")
    if any(one.get("emoji") not in _EMOJI for one in given if one.get("type") == "emoji"):
        raise bad("REACTION_INVALID")
    shown.reactions = tuple(one.get("emoji", one.get("custom_emoji_id", "")) for one in given)
    world.bell.ring()
    return True


def answer_press(world: World, call: Call) -> bool:
    """Let a button spin no longer, and perhaps say something to whoever pressed it."""
    press = world.presses.get(call.text("callback_query_id"))
    if press is None or press.answer is not None:
        raise bad(
            "query is too old and response timeout expired or query ID is invalid",
        )
    if units(call.text("text")) > 200:
        raise bad("MESSAGE_TOO_LONG")
    press.answer = {"text": call.text("text"), "show_alert": call.flag("show_alert")}
    world.bell.ring()
    return True


def _own(world: World, call: Call) -> Shown:
    """Find the message that is to be changed; only the bot's own can be."""
    chat = world.open_chat(call)
    shown = chat.find(call.number("message_id"), "message to edit not found")
    if not shown.is_ours:
        raise bad("message can't be edited")
    return shown


def _change(world: World, call: Call, shown: Shown, content: Wire, names: tuple[str, ...]) -> Wire:
    if (markup := checked_markup(call.structure("reply_markup"))) is not None:
        content = {**content, "reply_markup": markup}
    old = {name: shown.wire[name] for name in (*names, "reply_markup") if name in shown.wire}
    if content == old:
        raise bad(_SAME)
    world.change_line(shown, content)
    return shown.wire


_ACTIONS = {
    "choose_sticker",
    "find_location",
    "record_video",
    "record_video_note",
    "record_voice",
    "typing",
    "upload_document",
    "upload_photo",
    "upload_video",
    "upload_video_note",
    "upload_voice",
}
_EMOJI = set(
    "👍👎🔥🥰👏😁🤔🤯😱🤬😢🎉🤩🤮💩🙏👌🕊🤡🥱🥴😍🐳🌚🌭💯🤣🍌🏆💔🤨😐🍓🍾💋🖕😈😴😭🤓👻👀🎃🙈😇😨🤝🤗🫡🎅🎄💅🤪🗿🆒💘🙉🦄😘💊🙊😎👾😡"
) | {"❤", "⚡", "✍", "☃"}

MESSAGE_METHODS = {
    "sendMessage": send_message,
    "sendMessageDraft": send_draft,
    "editMessageText": edit_text,
    "editMessageCaption": edit_caption,
    "editMessageReplyMarkup": edit_markup,
    "deleteMessage": delete_message,
    "deleteMessages": delete_messages,
    "sendChatAction": show_action,
    "setMessageReaction": react,
    "answerCallbackQuery": answer_press,
}
