"""Commands: what a person can ask for with a slash, in every chat. The table is in core."""

import difflib
import re
from collections.abc import Callable, Mapping
from datetime import datetime

from threadline.core.command import COMMANDS, Call, help_text
from threadline.core.errors import NotFound
from threadline.core.inbound import Inbound
from threadline.core.rules import Rules
from threadline.sessions.commands import belonging, keeping, moving, shaping, telling
from threadline.sessions.commands.ask import Ask, Reply, introduce
from threadline.sessions.conversations import NewId
from threadline.storage.database import Transaction

__all__ = ["Reply", "carry_out", "find_unknown", "introduce"]

_NAME = re.compile(r"/([a-z]+)(@\w+)?", re.IGNORECASE)


def carry_out(
    tx: Transaction, inbound: Inbound, call: Call, *, rules: Rules, now: datetime, new_id: NewId
) -> Reply:
    """Do what a command asks for, and answer what to say."""
    ask = Ask(tx=tx, inbound=inbound, argument=call.argument, rules=rules, now=now, new_id=new_id)
    return _VERBS[call.command.name](ask)


def find_unknown(text: str) -> NotFound | None:
    """Tell that a text looks like a command which does not exist, and which one may be meant.

    A path (`/etc/hosts`) and a lone slash are words like others.
    """
    words = text.split(maxsplit=1)
    form = _NAME.fullmatch(words[0]) if words else None
    names = [command.name for command in COMMANDS]
    if form is None or form[1].lower() in names:
        return None
    near = difflib.get_close_matches(form[1].lower(), names, n=1)
    hint = f"Did you mean /{near[0]}?" if near else "/help lists the commands"
    return NotFound(f"There is no command /{form[1]}", hint=hint)


_VERBS: Mapping[str, Callable[[Ask], Reply]] = {
    "new": moving.new,
    "reset": moving.reset,
    "resume": moving.resume,
    "sessions": moving.sessions,
    "title": telling.title,
    "status": telling.status,
    "stop": telling.stop,
    "undo": shaping.undo,
    "redo": shaping.redo,
    "retry": shaping.retry,
    "branch": shaping.branch,
    "compress": shaping.compress,
    "link": belonging.link,
    "unlink": belonging.unlink,
    "usage": keeping.usage,
    "export": keeping.export,
    "forget": keeping.forget,
    "help": lambda _: Reply(text=help_text()),
}
