"""The command table: one row makes the parser, the help text, the menus and the docs."""

import re
from dataclasses import dataclass
from enum import StrEnum


class WhileRunning(StrEnum):
    """What a command does while a turn runs."""

    RUN = "run"
    """It is carried out at once."""
    WAIT = "wait"
    """It waits until the turn has ended."""
    STOP = "stop"
    """It stops the turn and keeps its partial output."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One thing a person can ask for with a slash, in every chat."""

    name: str
    help: str
    arguments: str = ""
    while_running: WhileRunning = WhileRunning.RUN

    @property
    def usage(self) -> str:
        """How it is written."""
        return f"/{self.name} {self.arguments}".rstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A command as somebody wrote it."""

    command: Command
    argument: str


COMMANDS = (
    Command(
        name="new",
        arguments="[title]",
        help="Begin a new conversation",
        while_running=WhileRunning.STOP,
    ),
    Command(
        name="reset",
        help="Begin a new conversation, as /new does",
        while_running=WhileRunning.STOP,
    ),
    Command(
        name="resume",
        arguments="[n|id|title]",
        help="Go on with an earlier conversation, or list them to choose from",
        while_running=WhileRunning.STOP,
    ),
    Command(name="sessions", arguments="[search]", help="List your conversations"),
    Command(name="title", arguments="[title]", help="Show or set the title"),
    Command(name="status", help="Say where you are and what is going on"),
    Command(
        name="stop",
        help="Stop the running turn and keep what it said",
        while_running=WhileRunning.STOP,
    ),
    Command(
        name="undo",
        arguments="[n]",
        help="Take back what you said last, and the answer",
        while_running=WhileRunning.STOP,
    ),
    Command(
        name="redo",
        help="Bring back what was undone last",
        while_running=WhileRunning.WAIT,
    ),
    Command(
        name="retry",
        help="Have your last words answered once more",
        while_running=WhileRunning.STOP,
    ),
    Command(
        name="branch",
        arguments="[title]",
        help="Go another way from here; this conversation stays as it is",
        while_running=WhileRunning.STOP,
    ),
    Command(
        name="compress",
        arguments="[summary|undo]",
        help="Let a summary stand for the older part, or take that back",
        while_running=WhileRunning.WAIT,
    ),
    Command(
        name="link",
        arguments="[code]",
        help="Show that you are the same person in another app",
    ),
    Command(name="unlink", help="Be a person of your own again here"),
    Command(name="usage", help="Say what this conversation has spent"),
    Command(
        name="export",
        arguments="[md|html|jsonl]",
        help="Write this conversation to a file",
    ),
    Command(
        name="forget",
        arguments="[this|me]",
        help="Delete this conversation, or everything of yours, for good",
        while_running=WhileRunning.STOP,
    ),
    Command(name="help", help="List the commands"),
)

# Chat apps write `/new@botname` where several bots listen.
_WRITTEN = re.compile(r"/(?P<name>\w+)(@\S*)?(\s+(?P<argument>.*))?", re.DOTALL)

_BY_NAME = {command.name: command for command in COMMANDS}


def parse_command(text: str) -> Call | None:
    """Read a command; None when the text is none, or names one that does not exist."""
    written = _WRITTEN.fullmatch(text)
    command = _BY_NAME.get(written["name"].lower()) if written else None
    if written is None or command is None:
        return None
    return Call(command=command, argument=(written["argument"] or "").strip())


def help_text() -> str:
    """List all commands, one a line."""
    width = max(len(command.usage) for command in COMMANDS)
    return "\n".join(f"{command.usage:<{width}}  {command.help}" for command in COMMANDS)
