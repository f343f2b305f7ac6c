"""Commands: what a person can ask for with a slash, in every chat. The table is in core."""

import difflib
import re
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from threadline.core.access_level import AccessLevel
from threadline.core.command import COMMANDS, Call, help_text, parse_command
from threadline.core.errors import Invalid, NotFound, Refused
from threadline.core.inbound import Inbound
from threadline.core.session import SessionId
from threadline.database.port import Transaction
from threadline.store.commands import (
    approve,
    jobs,
    link,
    model,
    navigate,
    platforms,
    status,
    steer,
    transcript,
    usage_export,
    web_variants,
)
from threadline.store.commands.context import CommandContext, CommandReply, describe_session

__all__ = [
    "VERBS",
    "CommandReply",
    "carry_out",
    "check_call",
    "describe_session",
    "suggest_command",
]

_NAME = re.compile(r"/([a-z]+)(@\w+)?", re.IGNORECASE)


def carry_out(
    tx: Transaction,
    inbound: Inbound,
    call: Call,
    *,
    rank: AccessLevel = AccessLevel.OWNER,
    session: SessionId | None = None,
) -> CommandReply:
    """Do what a command asks for, if the asker may, and answer what to say.

    It is about the session that goes on where it was given, or about one on a screen.
    """
    check_call(call, rank)
    ask = CommandContext(tx=tx, inbound=inbound, argument=call.argument, rank=rank, session=session)
    name = call.command.name
    if session is None:
        return VERBS[name](ask)
    if name in ON_SCREEN:
        return ON_SCREEN[name](ask)
    return replace(VERBS[name](ask), session_id=session)


def check_call(call: Call, rank: AccessLevel) -> None:
    """Refuse a command that the asker may not give, or words after one that takes none."""
    command = call.command
    if not rank.may(command.who):
        whom = (
            "who may speak here" if command.who is AccessLevel.MEMBER else f"who are {command.who}"
        )
        raise Refused(f"/{command.name} is for those {whom}", hint="/help lists yours")
    if call.argument and not command.arguments:
        raise Invalid(f"/{command.name} takes nothing after it")


def suggest_command(text: str) -> NotFound | None:
    """Tell that a text looks like a command which does not exist, and which one may be meant.

    A path (`/etc/hosts`) and a lone slash are words like others.
    """
    words = text.split(maxsplit=1)
    form = _NAME.fullmatch(words[0]) if words else None
    if form is None or parse_command(form[0]) is not None:
        return None
    names = [command.name for command in COMMANDS]
    near = difflib.get_close_matches(form[1].lower(), names, n=1)
    hint = f"Did you mean /{near[0]}?" if near else "/help lists the commands"
    return NotFound(f"There is no command /{form[1]}", hint=hint)


VERBS: Mapping[str, Callable[[CommandContext], CommandReply]] = {
    "new": navigate.new,
    "reset": navigate.reset,
    "resume": navigate.resume,
    "sessions": navigate.sessions,
    "title": status.title,
    "status": status.status,
    "stop": status.stop,
    "approve": approve.approve,
    "deny": approve.deny,
    "undo": transcript.undo,
    "redo": transcript.redo,
    "retry": transcript.retry,
    "branch": transcript.branch,
    "compress": transcript.compress,
    "model": model.model,
    "usage": usage_export.usage,
    "background": steer.background,
    "queue": steer.queue,
    "steer": steer.steer,
    "link": link.link,
    "unlink": link.unlink,
    "job": jobs.job,
    "platforms": platforms.platforms,
    "whoami": link.whoami,
    "sethome": platforms.sethome,
    "export": usage_export.export,
    "forget": usage_export.forget,
    "help": lambda ask: CommandReply(text=help_text(ask.rank)),
    "start": status.start,
}
"""What each command of the table does, by its name."""

ON_SCREEN: Mapping[str, Callable[[CommandContext], CommandReply]] = {
    "new": web_variants.new,
    "reset": web_variants.new,
    "resume": web_variants.resume,
    "branch": web_variants.branch,
    "background": web_variants.background,
    "sethome": web_variants.sethome,
}
"""What some of them do for whoever looks at one session, where a chat would go by its route."""
