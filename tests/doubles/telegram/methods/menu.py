"""The menu: which commands people are offered, and what the bot says of itself."""

import re

from tests.doubles.telegram.calls import Call
from tests.doubles.telegram.refusals import Wire, bad
from tests.doubles.telegram.state import World

_SCOPES = {
    "all_chat_administrators",
    "all_group_chats",
    "all_private_chats",
    "chat",
    "chat_administrators",
    "chat_member",
    "default",
}


def tell_bot(world: World, _: Call) -> Wire:
    """Tell who the bot is."""
    return world.bot


def set_commands(world: World, call: Call) -> bool:
    """Offer commands to people, all or those of a scope and a language."""
    given = call.structure("commands")
    if not isinstance(given, list):
        raise bad("can't parse commands: expected an Array")
    if len(given) > 100:
        raise bad("BOT_COMMANDS_TOO_MUCH")
    world.commands[_scope(world, call)] = [_checked_command(one) for one in given]
    world.bell.ring()
    return True


def tell_commands(world: World, call: Call) -> list[Wire]:
    """Tell which commands are offered to this scope and language."""
    return world.commands.get(_scope(world, call), [])


def delete_commands(world: World, call: Call) -> bool:
    """Offer no commands to this scope and language any more."""
    world.commands.pop(_scope(world, call), None)
    world.bell.ring()
    return True


def _scope(world: World, call: Call) -> tuple[str, str]:
    """Name a scope and a language, as a key."""
    told = call.structure("scope") or {"type": "default"}
    if not isinstance(told, dict) or told.get("type") not in _SCOPES:
        raise bad("can't parse BotCommandScope: unsupported type specified")
    parts = [told["type"]]
    if told["type"].startswith("chat"):
        parts.append(str(world.find_chat(str(told.get("chat_id", ""))).id))
    if told["type"] == "chat_member":
        parts.append(str(told.get("user_id")))
    language = call.text("language_code")
    if language and not re.fullmatch(r"[a-z]{2}", language):
        raise bad("invalid language_code specified")
    return "/".join(parts), language


def _checked_command(one: object) -> Wire:
    if not isinstance(one, dict):
        raise bad("can't parse commands: expected an Object")
    name, words = one.get("command"), one.get("description")
    if not isinstance(name, str) or not re.fullmatch(r"/?[a-z0-9_]{1,32}", name):
        raise bad("BOT_COMMAND_INVALID")
    if not isinstance(words, str) or not 1 <= len(words) <= 256:
        raise bad("BOT_COMMAND_DESCRIPTION_INVALID")
    kept: Wire = {"command": name.lstrip("/"), "description": words}
    return kept


def note(world: World, call: Call) -> bool:
    """Remember something that the bot says of itself."""
    key = call.method.removeprefix("set")
    world.notes[key] = dict(call.parameters)
    return True


MENU_METHODS = {
    "getMe": tell_bot,
    "setMyCommands": set_commands,
    "getMyCommands": tell_commands,
    "deleteMyCommands": delete_commands,
    "setMyDescription": note,
    "setMyShortDescription": note,
    "setMyName": note,
    "setChatMenuButton": note,
}
