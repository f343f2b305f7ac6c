"""Commands, as they are asked for and answered on a screen."""

from pydantic import Field

from threadline.core.command import Command, WhileRunning
from threadline.core.platform import Choice
from threadline.core.rank import Rank
from threadline.web.api.shapes.model import Answer, Wish

LINE_MOST = 10_000


class CommandShape(Answer):
    """Something that can be asked for with a slash."""

    name: str = Field(examples=["title"])
    arguments: str = Field(description="What may follow it.", examples=["[title]"])
    usage: str = Field(description="How it is written.", examples=["/title [title]"])
    help: str = Field(description="What it does, in a sentence.")
    while_running: WhileRunning = Field(description="What it does while a turn runs.")
    who: Rank = Field(description="The least rank that may ask for it.")

    @classmethod
    def from_command(cls, command: Command) -> "CommandShape":
        """Show a row of the table of commands."""
        return cls(
            name=command.name,
            arguments=command.arguments,
            usage=command.usage,
            help=command.help,
            while_running=command.while_running,
            who=command.who,
        )


class CommandWish(Wish):
    """A command as somebody wrote it."""

    line: str = Field(min_length=1, max_length=LINE_MOST, examples=["/title The lighthouse"])


class ChoiceShape(Answer):
    """Something that can be pressed instead of being written."""

    label: str
    says: str = Field(description="The line it sends.", examples=["/resume 2"])

    @classmethod
    def from_choice(cls, choice: Choice) -> "ChoiceShape":
        """Show a button."""
        return cls(label=choice.label, says=choice.says)


class CommandAnswer(Answer):
    """What came of a command."""

    text: str = Field(description="The answer; empty where the transcript says it all.")
    choices: list[ChoiceShape]
    session_id: str | None = Field(
        description="Where the screen goes on; null: with a conversation that is begun by its "
        "first words."
    )
    turn_id: int | None = Field(description="The turn that answers, if one does.")
    offer: str | None = Field(description="Words that were taken back, to be said differently.")
    download: str | None = Field(
        description="Where a file is to be had.",
        examples=["/api/exports/sessions/20260131_184500_0a1b2c3d?format=md"],
    )
