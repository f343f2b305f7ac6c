"""Agent section: the agent, the scribe, and the tools they may use."""

import json
import re
from enum import StrEnum
from typing import Annotated

from msgspec.structs import replace
from pydantic import Field, field_validator

from threadline.config.sections import Flag, Section, tried
from threadline.core.access import ADMINS, Approvers
from threadline.core.approval import ToolRules
from threadline.core.errors import Invalid
from threadline.core.validation import checked_name, checked_text

_MODEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}:\S{1,200}")
_MODEL_WISH = "a provider and a model, such as openai:gpt-5.1"
_PATTERN_WISH = 'a list of names of tools, in which * stands for any characters: ["github_*"]'
_APPROVERS_WISH = (
    "a list of requester, admins, owner or senders such as telegram:42; the owner always may"
)
_COMMAND_WISH = 'a list of a program and its arguments, such as ["npx", "-y", "a-server"]'

Model = Annotated[str, Field(description=_MODEL_WISH)]
Models = Annotated[tuple[str, ...], Field(description=f"a list of models, each {_MODEL_WISH}")]
Patterns = Annotated[tuple[str, ...], Field(description=_PATTERN_WISH)]
Command = Annotated[tuple[str, ...], Field(description=_COMMAND_WISH)]
Environment = Annotated[
    dict[str, str], Field(description='a table of variables: {TOKEN = "env:TOKEN"}')
]


class AgentType(StrEnum):
    """What kind of agent answers."""

    AUTO = "auto"
    """The one whose setting is made; echo, if none is."""
    ECHO = "echo"
    MODEL = "model"
    ACP = "acp"
    PYTHON = "python"


NAMED_BY = {AgentType.MODEL: "model", AgentType.ACP: "command", AgentType.PYTHON: "python"}
"""The setting that each kind of agent cannot do without."""


class AgentSettings(Section):
    """Who answers."""

    type: AgentType = Field(default=AgentType.AUTO, description=f"one of {', '.join(AgentType)}")
    model: Model | None = Field(default=None, description=_MODEL_WISH)
    fallback: Models = ()
    models: Models = ()
    instructions: str = Field(default="", description="words for the agent")
    max_steps: int = Field(
        default=50, ge=1, le=1000, description="a whole number from 1 to 1,000: calls in a turn"
    )
    context_tokens: int | None = Field(
        default=None, ge=1000, le=10**9, description="a whole number of tokens, from 1,000 on"
    )
    command: Command = Field(default=(), repr=False)
    folder: str | None = Field(default=None, description="the path of a folder")
    python: str | None = Field(
        default=None, description="a dotted name such as package.module:agent"
    )
    options: dict[str, object] = Field(
        default={},
        repr=False,
        description="a table of what is asked of models, such as {temperature = 0.3}",
    )
    personalities: dict[str, str] = Field(
        default={}, description='a table of instructions by name, such as {terse = "Be brief."}'
    )
    environment: Environment = Field(default={}, repr=False)

    @field_validator("model", "fallback", "models")
    @classmethod
    def _names_models(cls, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        for name in (value,) if isinstance(value, str) else value or ():
            check_model(name)
        return value

    @field_validator("python")
    @classmethod
    def _is_dotted(cls, text: str | None) -> str | None:
        module, _, attribute = (text or "").partition(":")
        words = [*module.split("."), *attribute.split(".")]
        if text is not None and not all(word.isidentifier() for word in words):
            raise ValueError("no dotted name")
        return text

    @field_validator("command")
    @classmethod
    def _can_be_run(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        return check_command(words)

    @field_validator("instructions", "folder")
    @classmethod
    def _can_be_kept(cls, text: str | None) -> str | None:
        return None if text is None else checked_words(text)

    @field_validator("personalities")
    @classmethod
    def _are_named(cls, table: dict[str, str]) -> dict[str, str]:
        for name, words in table.items():
            tried(lambda name: checked_name(name, "personality"), name)
            checked_words(words)
        return table

    @field_validator("options")
    @classmethod
    def _are_plain(cls, table: dict[str, object]) -> dict[str, object]:
        return {name: _plain(value) for name, value in table.items()}

    @property
    def named(self) -> tuple[AgentType, ...]:
        """The kinds of agents whose own setting is made."""
        return tuple(kind for kind, key in NAMED_BY.items() if getattr(self, key))

    @property
    def kind(self) -> AgentType:
        """Which kind of agent answers."""
        if self.type is not AgentType.AUTO:
            return self.type
        return self.named[0] if self.named else AgentType.ECHO

    def over(self, below: "AgentSettings") -> "AgentSettings":
        """Lay these settings over others: who answers is said as a whole, the rest one by one."""
        said = self.model_fields_set
        whole = {"type", *NAMED_BY.values()}
        taken = said | whole if said & whole else said
        return below.model_copy(update={name: getattr(self, name) for name in taken})


class SummarizerSettings(Section):
    """Who writes titles and summaries, and when."""

    model: Model | None = Field(default=None, description=_MODEL_WISH)
    compact_at: float = Field(
        default=0.8, ge=0.1, le=1, description="a number from 0.1 to 1: a part of the context"
    )
    titles: Flag = True

    @field_validator("model")
    @classmethod
    def _names_a_model(cls, name: str | None) -> str | None:
        if name is not None:
            check_model(name)
        return name


class PlatformTools(Section):
    """The tools on one platform; what is not said is as everywhere."""

    use: Patterns | None = Field(default=None, description=_PATTERN_WISH)
    ask: Patterns | None = Field(default=None, description=_PATTERN_WISH)
    free: Patterns | None = Field(default=None, description=_PATTERN_WISH)


class ToolSettings(Section):
    """Which tools an agent may use, and for which of them a person is asked first."""

    use: Patterns = ("*",)
    ask: Patterns = ("*",)
    free: Patterns = ()
    approvers: tuple[str, ...] = Field(default=(ADMINS,), description=_APPROVERS_WISH)
    platforms: dict[str, PlatformTools] = Field(
        default={}, description="tables named after platforms"
    )

    @field_validator("approvers")
    @classmethod
    def _can_approve(cls, entries: tuple[str, ...]) -> tuple[str, ...]:
        for entry in entries:
            tried(lambda one: Approvers(named=(one,)), entry)
        return entries

    def on(self, platform: str) -> PlatformTools:
        """Answer what is said of a platform."""
        return self.platforms.get(platform, PlatformTools())


def lay_rules(*tables: PlatformTools | ToolSettings) -> ToolRules:
    """Make rules of several tables, of which a later one wins where it says something."""
    rules = ToolRules()
    for table in tables:
        said = {name: getattr(table, name) for name in ("use", "ask", "free")}
        told = table.model_fields_set
        made = {name: one for name, one in said.items() if name in told and one is not None}
        rules = replace(rules, **made)
    return rules


def check_model(name: str) -> None:
    """Refuse what cannot be the name of a model."""
    if not _MODEL.fullmatch(name):
        raise ValueError("no model")


def check_command(words: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a command that no system could run."""
    if words and (not words[0].strip() or any("\0" in checked_words(word) for word in words)):
        raise ValueError("no command")
    return words


def checked_words(text: str) -> str:
    """Take a text that can be kept, and tell pydantic of any other."""
    try:
        return checked_text(text, "setting")
    except Invalid as error:
        raise ValueError(str(error)) from error


def _plain(value: object) -> object:
    """Read numbers and truth in a word: a variable of the environment has no other way."""
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return read if isinstance(read, bool | int | float) else value
