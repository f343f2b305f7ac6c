"""The command table: one row makes the parser, the help text, the menus and the docs."""

import re
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from threadline.core.access_level import AccessLevel
from threadline.core.errors import Invalid
from threadline.core.message import Part, Text

NAME_LIMIT = 32
"""Characters of a command's name: as many as every platform's menu takes."""
HELP_LIMIT = 100
"""Characters of a command's help: as many as every platform's menu takes."""


class WhileRunning(StrEnum):
    """What a command does while a turn runs."""

    RUN = "run"
    """It is carried out at once."""
    WAIT = "wait"
    """It waits until the turn has ended."""
    STOP = "stop"
    """It stops the turn and keeps its partial output."""


_MENU_NAME = re.compile(rf"[a-z][a-z0-9_]{{0,{NAME_LIMIT - 1}}}")


class Command(Struct, frozen=True, kw_only=True):
    """One thing a person can ask for with a slash, in every chat."""

    name: str
    help: str
    arguments: str = ""
    while_running: WhileRunning = WhileRunning.RUN
    who: AccessLevel = AccessLevel.MEMBER
    """The least rank that may ask for it."""

    def __post_init__(self) -> None:
        """Refuse what no menu could show."""
        if not _MENU_NAME.fullmatch(self.name):
            raise Invalid(f"/{self.name} is no name of a command", hint=f"a-z, up to {NAME_LIMIT}")
        if not self.help or "\n" in self.help or len(self.help) > HELP_LIMIT:
            raise Invalid(f"/{self.name} needs one line of help", hint=f"Up to {HELP_LIMIT} signs")

    @property
    def usage(self) -> str:
        """How it is written."""
        return f"/{self.name} {self.arguments}".rstrip()


class Call(Struct, frozen=True, kw_only=True):
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
        name="approve",
        arguments="[n] [once|session|always] [words]",
        help="Say yes to what the agent asks: this once, in this conversation, or always",
    ),
    Command(
        name="deny",
        arguments="[n] [words]",
        help="Say no to what the agent asks",
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
        arguments="[focus|undo]",
        help="Let a summary stand for the older part, or take that back",
        while_running=WhileRunning.WAIT,
    ),
    Command(
        name="model",
        arguments="[name|provider:name|default]",
        help="Show or choose the model of this conversation",
    ),
    Command(name="usage", help="Say what this conversation has spent"),
    Command(
        name="background",
        arguments="<prompt>",
        help="Have something done beside this conversation",
    ),
    Command(
        name="queue",
        arguments="[words]",
        help="Show what waits, or say something that waits for its turn",
    ),
    Command(
        name="steer",
        arguments="<words>",
        help="Say something to the agent while it works",
    ),
    Command(
        name="link",
        arguments="[code|yes|no]",
        help="Show that you are the same person in another app",
    ),
    Command(name="unlink", help="Be a person of your own again here"),
    Command(
        name="job",
        arguments="[add|pause|resume|run|runs|delete]",
        help="List what is asked by itself at set times, or change that",
    ),
    Command(
        name="platforms",
        help="Say which platforms are connected",
        who=AccessLevel.ADMIN,
    ),
    Command(name="whoami", help="Say as whom you are known here"),
    Command(
        name="sethome",
        help="Make this chat the platform's home, where unasked messages go",
        who=AccessLevel.ADMIN,
    ),
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

START = Command(name="start", arguments="[anything]", help="Show how to begin")
"""What Telegram sends for the user who opens a chat with a bot. No menu and no help lists it."""

# Chat apps write `/new@botname` where several bots listen.
_WRITTEN = re.compile(r"/(?P<name>\w+)(@\S*)?(\s+(?P<argument>.*))?", re.DOTALL)

_SAYING = frozenset({"queue", "steer"})
"""Commands whose words become a message of their own."""

_BY_NAME = {command.name: command for command in (*COMMANDS, START)}


def parse_command(text: str) -> Call | None:
    """Read a command; None when the text is none, or names one that does not exist."""
    written = _WRITTEN.fullmatch(text)
    command = _BY_NAME.get(written["name"].lower()) if written else None
    if written is None or command is None:
        return None
    return Call(command=command, argument=(written["argument"] or "").strip())


def list_commands(rank: AccessLevel = AccessLevel.OWNER) -> tuple[Command, ...]:
    """List the commands that somebody of a rank may use: for help, and for a platform's menu."""
    return tuple(command for command in COMMANDS if rank.may(command.who))


def help_text(rank: AccessLevel = AccessLevel.OWNER) -> str:
    """List the commands that somebody of a rank may use, one a line."""
    known = list_commands(rank)
    width = max((len(command.usage) for command in known), default=0)
    return "\n".join(f"{command.usage:<{width}}  {command.help}" for command in known)


def command_text(argument: str, parts: Sequence[Part]) -> tuple[Part, ...]:
    """Answer what a message says when its command is taken away: the words, and what came along."""
    rest = tuple(part for part in parts if not isinstance(part, Text))
    return (Text(text=argument), *rest) if argument else rest


def without_command(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Answer what is said in a message, also if it begins with a command that says it otherwise."""
    written = "\n".join(part.text for part in parts if isinstance(part, Text))
    call = parse_command(written.strip())
    if call is None or call.command.name not in _SAYING or not call.argument:
        return parts
    return command_text(call.argument, parts)
