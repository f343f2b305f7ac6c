"""Commands: what a person can ask for with a slash, in every chat. The table is in core."""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from threadline.core.command import COMMANDS, Call, help_text
from threadline.core.errors import Invalid, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.rank import Rank
from threadline.core.rules import Rules
from threadline.core.session import SessionId
from threadline.sessions.commands import (
    answering,
    belonging,
    choosing,
    keeping,
    moving,
    placing,
    scheduling,
    screens,
    shaping,
    speaking,
    telling,
)
from threadline.sessions.commands.ask import Ask, Reply, introduce
from threadline.sessions.conversations import NewId
from threadline.storage.database import Transaction

__all__ = ["VERBS", "Reply", "carry_out", "check_call", "find_unknown", "introduce"]

_NAME = re.compile(r"/([a-z]+)(@\w+)?", re.IGNORECASE)


def carry_out(
    tx: Transaction,
    inbound: Inbound,
    call: Call,
    *,
    rules: Rules,
    now: datetime,
    new_id: NewId,
    rank: Rank = Rank.OWNER,
    session: SessionId | None = None,
) -> Reply:
    """Do what a command asks for, if the asker may, and answer what to say.

    It is about the session that goes on where it was given, or about one on a screen.
    """
    check_call(call, rank)
    ask = Ask(
        tx=tx,
        inbound=inbound,
        argument=call.argument,
        rules=rules,
        now=now,
        new_id=new_id,
        rank=rank,
        session=session,
    )
    name = call.command.name
    if session is None:
        return VERBS[name](ask)
    if name in ON_SCREEN:
        return ON_SCREEN[name](ask)
    return replace(VERBS[name](ask), session_id=session)


def check_call(call: Call, rank: Rank) -> None:
    """Refuse a command that the asker may not give, or words after one that takes none."""
    command = call.command
    if not rank.may(command.who):
        whom = "who may speak here" if command.who is Rank.MEMBER else f"who are {command.who}"
        raise Refused(f"/{command.name} is for those {whom}", hint="/help lists yours")
    if call.argument and not command.arguments:
        raise Invalid(f"/{command.name} takes nothing after it")


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


VERBS: Mapping[str, Callable[[Ask], Reply]] = {
    "new": moving.new,
    "reset": moving.reset,
    "resume": moving.resume,
    "sessions": moving.sessions,
    "title": telling.title,
    "status": telling.status,
    "stop": telling.stop,
    "approve": answering.approve,
    "deny": answering.deny,
    "undo": shaping.undo,
    "redo": shaping.redo,
    "retry": shaping.retry,
    "branch": shaping.branch,
    "compress": shaping.compress,
    "model": choosing.model,
    "usage": keeping.usage,
    "background": speaking.background,
    "queue": speaking.queue,
    "steer": speaking.steer,
    "link": belonging.link,
    "unlink": belonging.unlink,
    "job": scheduling.job,
    "platforms": placing.platforms,
    "whoami": belonging.whoami,
    "sethome": placing.sethome,
    "export": keeping.export,
    "forget": keeping.forget,
    "help": lambda ask: Reply(text=help_text(ask.rank)),
}
"""What each command of the table does, by its name."""

ON_SCREEN: Mapping[str, Callable[[Ask], Reply]] = {
    "new": screens.new,
    "reset": screens.new,
    "resume": screens.resume,
    "branch": screens.branch,
    "background": screens.background,
    "sethome": screens.sethome,
}
"""What some of them do for whoever looks at one session, where a chat would go by its route."""
