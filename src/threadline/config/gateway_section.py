"""Gateway section: who may speak, where it leads, what it listens to, what it tells."""

import re
from enum import StrEnum
from ipaddress import ip_network
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field

from threadline.config.agent_section import AgentSettings, ToolSettings
from threadline.config.sections import NAME_FORM, Section, must_be, valid
from threadline.core.access import MESSAGES_PER_MINUTE, AccessRules
from threadline.core.instructions import Instructions
from threadline.core.profile_rules import ProfileRule
from threadline.core.route import canonical_profile
from threadline.core.target import Target, parse_target
from threadline.core.validation import checked_id, checked_name

_ENTRY_POINT = re.compile(r"[\w.-]+")
_HOST = r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$"


def _check_function(name: str) -> str:
    """Refuse what can be neither `module:function` nor the name of an entry point."""
    module, colon, function = name.partition(":")
    words = [*module.split("."), *function.split(".")]
    is_path = bool(colon) and all(word.isidentifier() for word in words)
    # What a package calls its entry point is found out where it is looked for.
    if not is_path and not _ENTRY_POINT.fullmatch(name):
        raise ValueError("no function")
    return name


def _public_url(text: str) -> str:
    """Take the address that browsers use; a path has no place in it."""
    parts = urlsplit(text)
    if (
        parts.scheme not in {"http", "https"}
        or not parts.hostname
        or "@" in parts.netloc
        or text.rstrip("/") != f"{parts.scheme}://{parts.netloc}"
    ):
        raise ValueError("no address")
    return f"{parts.scheme}://{parts.netloc.lower()}"


def _check_network(text: str) -> str:
    """Refuse what is neither an address nor a network."""
    ip_network(text, strict=False)
    return text


Count = Annotated[int, Field(ge=1, le=10_000)]
Id = Annotated[str, valid(lambda text: checked_id(text, "setting")), must_be("an id")]
ProfileName = Annotated[
    str,
    valid(lambda name: checked_name(canonical_profile(name), "profile")),
    AfterValidator(canonical_profile),
    must_be(NAME_FORM),
]
Home = Annotated[
    str,
    valid(lambda text: parse_target(f"platform:{text}")),
    must_be("a chat there, or chat:thread"),
]
Entries = Annotated[
    tuple[str, ...],
    valid(lambda entries: AccessRules(allow=entries)),
    must_be(
        'a list of entries such as "telegram:42", or "telegram:*" for everybody there',
        examples=[["telegram:42"]],
    ),
]
Senders = Annotated[
    tuple[str, ...],
    valid(lambda entries: AccessRules(admins=entries)),
    must_be('a list of ids such as "telegram:42"; none may be *', examples=[["telegram:42"]]),
]
PlatformList = Annotated[
    tuple[str, ...],
    valid(lambda names: AccessRules(roles=names)),
    must_be("a list of names of platforms", examples=[["discord"]]),
]
Function = Annotated[
    str,
    AfterValidator(_check_function),
    must_be('a function such as "package.module:function", or a name that a package gave'),
]
Functions = Annotated[tuple[Function, ...], Field(examples=[["package.module:function"]])]
PublicUrl = Annotated[
    str,
    AfterValidator(_public_url),
    must_be(
        "an address such as https://chat.example.org, without a path",
        examples=["https://chat.example.org"],
    ),
]
Host = Annotated[
    str, AfterValidator(str.lower), must_be('a name such as "chat.example.org"', pattern=_HOST)
]
Hosts = Annotated[tuple[Host, ...], Field(examples=[["chat.example.org"]])]
Network = Annotated[
    str, AfterValidator(_check_network), must_be('an address or a network such as "10.0.0.0/8"')
]
Networks = Annotated[tuple[Network, ...], Field(examples=[["10.0.0.0/8"]])]


class LogFormat(StrEnum):
    """How lines of the log are written."""

    AUTO = "auto"
    """For a person where a terminal shows them, else as JSON."""
    CONSOLE = "console"
    JSON = "json"


class LogLevel(StrEnum):
    """From which gravity on something is written into the log."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class AccessSettings(Section):
    """Who may write. Nobody may who is not named here, or let in with `threadline pair`."""

    allow: Entries = Field(default=(), description="Who may write, by platform and id.")
    chats: Entries = Field(default=(), description="Chats in which everybody may write.")
    roles: PlatformList = Field(
        default=(), description="Platforms that let people in by their role there."
    )
    admins: Senders = Field(
        default=(), description="Who may also use commands that see beyond their own chat."
    )
    bots: Senders = Field(default=(), description="Which bots are heard; all others are ignored.")
    relays: PlatformList = Field(
        default=(), description="Platforms whose senders an authenticated connector vouches for."
    )
    pairing: bool = Field(
        default=True,
        description="Whether a stranger who writes directly is given a code to be let in with.",
    )
    messages_per_minute: int = Field(
        default=MESSAGES_PER_MINUTE,
        ge=0,
        le=10_000,
        description="How much one sender may write before they are asked to wait; 0: no limit.",
    )

    def rules(self) -> AccessRules:
        """Make the rules."""
        values = self.model_dump(exclude={"messages_per_minute"})
        return AccessRules(**values, per_minute=self.messages_per_minute)


class RoutingSettings(Section):
    """One rule that leads what comes from somewhere to a profile; the narrowest one wins."""

    profile: ProfileName
    platform: Id | None = None
    account: Id | None = None
    scope: Id | None = None
    chat: Id | None = None
    thread: Id | None = None

    def rule(self) -> ProfileRule:
        """Make the rule."""
        return ProfileRule(**self.model_dump())


class ProfileSettings(Section):
    """What holds in one profile alone."""

    concurrency: Count | None = Field(
        default=None, description="How many turns of this profile run at a time in one process."
    )
    agent: AgentSettings | None = None
    tools: ToolSettings | None = None


class PlatformSettings(Section):
    """One platform; what else stands here is the platform's own, which says what it must be."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: Id | None = Field(
        default=None, description="Which kind of platform it is; if empty, its name says so."
    )
    enabled: bool = Field(default=True, description="Whether the platform is used at all.")
    home: Home | None = Field(
        default=None, description="Where scheduled and unprompted messages go: a chat there."
    )

    def home_of(self, name: str) -> Target:
        """Answer where the platform's unasked messages go."""
        return parse_target(f"{name}:{self.home or ''}")

    @property
    def own(self) -> dict[str, object]:
        """The settings that only the platform knows."""
        return dict(self.model_extra or {})


class HookSettings(Section):
    """Functions of yours that are called when something happens."""

    session_started: Functions = Field(
        default=(), description="Functions to call for every session that starts."
    )
    session_ended: Functions = Field(
        default=(), description="Functions to call for every session that ends."
    )
    turn_finished: Functions = Field(
        default=(), description="Functions to call for every turn that ends."
    )
    delivery_failed: Functions = Field(
        default=(), description="Functions to call for every reply that could not be sent."
    )


class ServerSettings(Section):
    """Where `threadline serve` listens."""

    host: Annotated[str, must_be("an address of this machine")] = Field(
        default="127.0.0.1",
        description="Where the server listens; beyond this machine only with https and a password.",
    )
    port: int = Field(
        default=8642, ge=0, le=65_535, description="The port it listens on; 0: any that is free."
    )
    url: PublicUrl | None = Field(
        default=None,
        description="The address browsers use; links, passkeys and cookies depend on it.",
    )
    hosts: Hosts = Field(
        default=(),
        description="Other host names it accepts; requests for any other name are refused.",
    )
    proxies: Networks = Field(
        default=(), description="Proxies trusted to say who is asking, and how."
    )

    @property
    def is_https(self) -> bool:
        """Whether people reach it over https."""
        return (self.url or "").startswith("https://")

    @property
    def public_host(self) -> str:
        """The name under which people reach it."""
        return urlsplit(self.url or "").hostname or "localhost"


class LogSettings(Section):
    """What is written into the log."""

    format: LogFormat = Field(
        default=LogFormat.AUTO,
        description="How the log is written: for people, for programs, or as fits the output.",
    )
    level: LogLevel = Field(default=LogLevel.INFO, description="The least severe messages to log.")


class InstructionSettings(Section):
    """Words or skills that open every session of a place; what is not said of it fits all."""

    text: str = ""
    skills: tuple[str, ...] = ()
    platform: Id | None = None
    scope: Id | None = None
    chat: Id | None = None
    thread: Id | None = None

    def instructions(self) -> Instructions:
        """Make the instructions."""
        return Instructions(**self.model_dump())


PlaceInstructions = Annotated[
    InstructionSettings,
    valid(InstructionSettings.instructions),
    must_be("a table with a text or skills; with a chat it names its platform"),
]


class ContextSettings(Section):
    """What agents are told about where they speak."""

    redact: bool = Field(
        default=False,
        description="Whether agents see keyed hashes instead of the ids of people and chats.",
    )
    instructions: tuple[PlaceInstructions, ...] = Field(
        default=(),
        description="Instructions for the agent on one platform, chat or thread.",
        examples=[[{"platform": "webhook", "text": "Answer in one sentence."}]],
    )
