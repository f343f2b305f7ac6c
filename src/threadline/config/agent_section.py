"""Agent section: the agent, the scribe, and the tools they may use."""

import json
from enum import StrEnum
from typing import Annotated

from msgspec.structs import replace
from pydantic import AfterValidator, Field

from threadline.config.sections import Name, Section, Text, must_be, valid
from threadline.core.access import ADMINS, Approvers
from threadline.core.approval import ToolRules

_MODEL = r"^[a-z0-9][a-z0-9_-]{0,63}:[^\s]{1,200}$"


def _check_command(words: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a command that no system could run."""
    if words and (not words[0].strip() or any("\0" in word for word in words)):
        raise ValueError("no command")
    return words


def _check_path(text: str) -> str:
    """Refuse what cannot be the dotted name of a function or an agent."""
    module, _, attribute = text.partition(":")
    if not all(word.isidentifier() for word in [*module.split("."), *attribute.split(".")]):
        raise ValueError("no dotted name")
    return text


def _plain(value: object) -> object:
    """Read numbers and truth in a word: a variable of the environment has no other way."""
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return read if isinstance(read, bool | int | float) else value


Model = Annotated[
    str,
    must_be(
        "a provider and a model, such as openai:gpt-5.1",
        pattern=_MODEL,
        examples=["openai:gpt-5.1"],
    ),
]
Models = Annotated[tuple[Model, ...], Field(examples=[["anthropic:claude-sonnet-5"]])]
Pattern = Annotated[str, must_be("the name of a tool, in which * stands for any characters")]
Command = Annotated[
    tuple[Text, ...],
    AfterValidator(_check_command),
    must_be(
        'a list of a program and its arguments, such as ["npx", "-y", "a-server"]',
        examples=[["claude-code-acp"]],
    ),
]
Environment = Annotated[
    dict[str, str],
    must_be('a table of variables: {TOKEN = "env:TOKEN"}', examples=[{"TOKEN": "env:TOKEN"}]),
]
Folder = Annotated[Text, must_be("the path of a folder", examples=["~/work"])]
DottedName = Annotated[
    str,
    AfterValidator(_check_path),
    must_be("a dotted name such as package.module:agent", examples=["package.module:agent"]),
]
ApproverList = Annotated[
    tuple[str, ...],
    valid(lambda entries: Approvers(named=entries)),
    must_be("a list of requester, admins, owner or senders such as telegram:42"),
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
    """Who answers: a model, a program, or your own code; by default an echo, which needs no key."""

    type: AgentType = Field(
        default=AgentType.AUTO,
        description="Who answers; if automatic, the other settings decide.",
        examples=["model"],
    )
    model: Model | None = Field(
        default=None, description="The model that answers: its provider, a colon, and its name."
    )
    fallback: Models = Field(
        default=(), description="Models to try in this order when the previous one cannot answer."
    )
    models: Models = Field(default=(), description="Other models that /model offers.")
    instructions: Text = Field(
        default="",
        description="Who the agent is, in your words; they open its system prompt.",
        examples=["You are Ada, who keeps our house in order."],
    )
    max_steps: int = Field(
        default=50, ge=1, le=1000, description="How many times a model may be called in one turn."
    )
    context_tokens: int | None = Field(
        default=None,
        ge=1000,
        le=10**9,
        description="How much the model can read at once; if empty, what is known about the model.",
        examples=[32000],
    )
    command: Command = Field(
        default=(),
        repr=False,
        description="The program of an agent that speaks the Agent Client Protocol.",
    )
    folder: Folder | None = Field(
        default=None,
        description="Where that program works; a relative path starts at the settings file.",
    )
    python: DottedName | None = Field(
        default=None, description="Your own function or agent, by its dotted name."
    )
    options: dict[str, Annotated[object, AfterValidator(_plain)]] = Field(
        default={},
        repr=False,
        description="What is asked of every model: temperature, max_tokens, thinking and so on.",
        examples=[{"temperature": 0.3, "thinking": "high"}],
    )
    personalities: dict[Name, Text] = Field(
        default={},
        description="Instructions by name, which a conversation may choose instead of "
        "agent.instructions.",
        examples=[{"terse": "Answer in one sentence."}],
    )
    environment: Environment = Field(
        default={},
        repr=False,
        description="Variables for the program of agent.command; a secret may be env:NAME or "
        "file:/path.",
    )

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

    model: Model | None = Field(
        default=None,
        description="The model that writes titles and summaries; if empty, the one that answers.",
    )
    compact_at: float = Field(
        default=0.8,
        ge=0.1,
        le=1,
        description="How full the context of the model may get before a summary replaces its "
        "oldest part.",
    )
    titles: bool = Field(
        default=True,
        description="Whether a model writes titles; otherwise conversations are named after their "
        "first words.",
    )


Used = Annotated[
    tuple[Pattern, ...],
    Field(
        description="Which tools the agent may use; it is not told of others. * stands for any "
        "characters."
    ),
]
Asked = Annotated[tuple[Pattern, ...], Field(description="Tools that need approval.")]
Free = Annotated[
    tuple[Pattern, ...],
    Field(
        description="Tools that never need approval, even if tools.ask names them.",
        examples=[["files_read_*"]],
    ),
]


class PlatformTools(Section):
    """The tools on one platform; what is not said is as everywhere."""

    use: Used | None = None
    ask: Asked | None = None
    free: Free | None = None


class ToolSettings(Section):
    """Which tools the agent may use, and for which of them a person is asked first."""

    use: Used = ("*",)
    ask: Asked = ("*",)
    free: Free = ()
    approvers: ApproverList = Field(
        default=(ADMINS,),
        description="Who may approve tools that change something: requester, admins, owner, or "
        "senders such as telegram:42. The owner always may.",
    )
    platforms: dict[str, PlatformTools] = Field(
        default={},
        description="Use, ask and free by platform; they override those of a profile.",
        examples=[{"telegram": {"use": ["files_*"]}}],
    )

    def on(self, platform: str) -> PlatformTools:
        """Answer what is said of a platform."""
        return self.platforms.get(platform, PlatformTools())


def lay_rules(*tables: PlatformTools | ToolSettings) -> ToolRules:
    """Make rules of several tables, of which a later one wins where it says something."""
    rules = ToolRules()
    for table in tables:
        said = table.model_dump(include={"use", "ask", "free"}, exclude_unset=True)
        rules = replace(rules, **{name: one for name, one in said.items() if one is not None})
    return rules
