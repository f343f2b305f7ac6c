"""Gateway section: who may speak, where it leads, what it listens to, what it tells."""

import re
from collections.abc import Callable
from enum import StrEnum
from ipaddress import ip_network
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, ValidationInfo, field_validator, model_validator

from threadline.config.agent_section import AgentSettings, ToolSettings
from threadline.config.sections import Flag, Section
from threadline.core.access import MESSAGES_PER_MINUTE, AccessRules
from threadline.core.errors import Invalid
from threadline.core.instructions import Instructions
from threadline.core.profile_rules import ProfileRule
from threadline.core.target import Target, parse_target

_ENTRIES = 'a list of entries such as "telegram:42", or "telegram:*" for everybody there'
_NAMES = 'a list of functions such as "package.module:function", or of names that packages gave'
_ENTRY_POINT = re.compile(r"[\w.-]+")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?")

Count = Annotated[int, Field(ge=1, le=10_000, description="a whole number from 1 to 10,000")]
Entries = Annotated[tuple[str, ...], Field(description=_ENTRIES)]
Named = Annotated[
    tuple[str, ...], Field(description='a list of ids such as "telegram:42"; none may be *')
]
Platforms = Annotated[tuple[str, ...], Field(description="a list of names of platforms")]
Functions = Annotated[tuple[str, ...], Field(description=_NAMES)]


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
    """Who may speak. Whoever is named nowhere may not."""

    allow: Entries = ()
    chats: Entries = ()
    roles: Platforms = ()
    admins: Named = ()
    bots: Named = ()
    relays: Platforms = ()
    pairing: Flag = True
    messages_per_minute: Annotated[
        int, Field(ge=0, le=10_000, description="a whole number to 10,000; 0: no limit")
    ] = MESSAGES_PER_MINUTE

    @field_validator("allow", "chats", "roles", "admins", "bots", "relays")
    @classmethod
    def _can_be_kept(cls, entries: tuple[str, ...], about: ValidationInfo) -> tuple[str, ...]:
        values: dict[str, Any] = {str(about.field_name): entries}
        _try(lambda: AccessRules(**values))
        return entries

    def rules(self) -> AccessRules:
        """Make the rules."""
        return AccessRules(
            allow=self.allow,
            chats=self.chats,
            roles=self.roles,
            admins=self.admins,
            bots=self.bots,
            relays=self.relays,
            pairing=self.pairing,
            per_minute=self.messages_per_minute,
        )


class RoutingSettings(Section):
    """One rule that leads what comes from somewhere to a profile; the narrowest one wins."""

    profile: str = Field(description="the name of a profile")
    platform: str | None = Field(default=None, description="the name of a platform")
    account: str | None = Field(default=None, description="which account of the platform")
    scope: str | None = Field(default=None, description="a server or workspace")
    chat: str | None = Field(default=None, description="the id of a chat")
    thread: str | None = Field(default=None, description="the id of a thread")

    @field_validator("*")
    @classmethod
    def _can_be_kept(cls, value: str | None, about: ValidationInfo) -> str | None:
        _try(lambda: ProfileRule(**{"profile": "main", str(about.field_name): value or "x"}))
        return value

    def rule(self) -> ProfileRule:
        """Make the rule."""
        return ProfileRule(**self.model_dump())


class ProfileSettings(Section):
    """What holds in one profile alone."""

    concurrency: Count | None = Field(
        default=None, description="a whole number from 1 to 10,000: how many turns at a time"
    )
    agent: AgentSettings | None = Field(default=None, description="a table of settings")
    tools: ToolSettings | None = Field(default=None, description="a table of settings")


class PlatformSettings(Section):
    """One platform; what else stands here is the platform's own, which says what it must be."""

    model_config = ConfigDict(extra="allow", frozen=True)

    type: str | None = Field(default=None, description="the name of a kind of platform")
    enabled: Flag = True
    home: str | None = Field(
        default=None, description="a chat there, or chat:thread, for what nobody asked for"
    )

    @field_validator("home")
    @classmethod
    def _names_a_chat(cls, text: str | None) -> str | None:
        if text is not None:
            _try(lambda: parse_target(f"platform:{text}"))
        return text

    def home_of(self, name: str) -> Target:
        """Answer where the platform's unasked messages go."""
        return parse_target(f"{name}:{self.home or ''}")

    @property
    def own(self) -> dict[str, object]:
        """The settings that only the platform knows."""
        return dict(self.model_extra or {})


class HookSettings(Section):
    """Functions of yours that are told what happens."""

    session_started: Functions = ()
    session_ended: Functions = ()
    turn_finished: Functions = ()
    delivery_failed: Functions = ()

    @field_validator("*")
    @classmethod
    def _name_functions(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            module, colon, function = name.partition(":")
            words = [*module.split("."), *function.split(".")]
            is_path = bool(colon) and all(word.isidentifier() for word in words)
            # What a package calls its entry point is found out where it is looked for.
            if not is_path and not _ENTRY_POINT.fullmatch(name):
                raise ValueError(_NAMES)
        return names


class ServerSettings(Section):
    """Where the server listens."""

    host: str = Field(default="127.0.0.1", description="an address of this machine")
    port: Annotated[
        int, Field(ge=0, le=65_535, description="a whole number to 65,535; 0: any that is free")
    ] = 8642
    url: str | None = Field(
        default=None, description="an address such as https://chat.example.org, without a path"
    )
    hosts: Annotated[
        tuple[str, ...], Field(description='a list of names such as "chat.example.org"')
    ] = ()
    proxies: Annotated[
        tuple[str, ...], Field(description='a list of addresses or networks such as "10.0.0.0/8"')
    ] = ()

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, text: str | None) -> str | None:
        parts = urlsplit(text or "")
        if text is not None and (
            parts.scheme not in {"http", "https"}
            or not parts.hostname
            or "@" in parts.netloc
            or text.rstrip("/") != f"{parts.scheme}://{parts.netloc}"
        ):
            raise ValueError("no address")
        return None if text is None else f"{parts.scheme}://{parts.netloc.lower()}"

    @field_validator("hosts")
    @classmethod
    def _are_hosts(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not all(_HOST.fullmatch(name) for name in names):
            raise ValueError("no host")
        return tuple(name.lower() for name in names)

    @field_validator("proxies")
    @classmethod
    def _are_networks(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        for one in networks:
            ip_network(one, strict=False)
        return networks

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

    format: Annotated[LogFormat, Field(description=f"one of {', '.join(LogFormat)}")] = (
        LogFormat.AUTO
    )
    level: Annotated[LogLevel, Field(description=f"one of {', '.join(LogLevel)}")] = LogLevel.INFO


class InstructionSettings(Section):
    """Words or skills that open every session of a place; what is not said of it fits all."""

    text: str = Field(default="", description="words for the agent")
    skills: tuple[str, ...] = Field(default=(), description="a list of names that the agent knows")
    platform: str | None = Field(default=None, description="the name of a platform")
    scope: str | None = Field(default=None, description="a server or workspace")
    chat: str | None = Field(default=None, description="the id of a chat")
    thread: str | None = Field(default=None, description="the id of a thread")

    @model_validator(mode="after")
    def _can_be_kept(self) -> Self:
        _try(self.instructions)
        return self

    def instructions(self) -> Instructions:
        """Make the instructions."""
        return Instructions(**self.model_dump())


class ContextSettings(Section):
    """What agents are told about where they speak."""

    redact: Flag = False
    instructions: tuple[InstructionSettings, ...] = Field(
        default=(),
        description="a list of tables with a text or skills; with a chat they name its platform",
    )


def _try(make: Callable[[], object]) -> None:
    """Let pydantic know in its own way that something cannot be made of what was said."""
    try:
        make()
    except Invalid as error:
        raise ValueError(str(error)) from error
