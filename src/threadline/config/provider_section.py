"""Sections about what an agent needs from others: providers of models, and servers of tools."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from threadline.config.agent_section import Command, Environment, check_command, checked_words
from threadline.config.sections import Section

_URL_WISH = "an address that begins with http:// or https://"
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class ProviderApi(StrEnum):
    """The language in which a provider is spoken to, by the word in the settings."""

    OPENAI = "openai"
    OPENAI_CHAT = "openai-chat"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    OPENROUTER = "openrouter"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProvider:
    """A provider that needs no table: what it speaks, where it is, and where its key stands."""

    api: ProviderApi
    base_url: str | None = None
    variables: tuple[str, ...] = ()
    """Where its key is usually found; the first that is set."""
    asks_for_key: bool = True


_CHAT = ProviderApi.OPENAI_CHAT
KNOWN: Mapping[str, KnownProvider] = {
    "openai": KnownProvider(api=ProviderApi.OPENAI, variables=("OPENAI_API_KEY",)),
    "anthropic": KnownProvider(api=ProviderApi.ANTHROPIC, variables=("ANTHROPIC_API_KEY",)),
    "google": KnownProvider(api=ProviderApi.GOOGLE, variables=("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "openrouter": KnownProvider(api=ProviderApi.OPENROUTER, variables=("OPENROUTER_API_KEY",)),
    "ollama": KnownProvider(
        api=_CHAT,
        base_url="http://localhost:11434/v1",
        variables=("OLLAMA_API_KEY",),
        asks_for_key=False,
    ),
    "lmstudio": KnownProvider(api=_CHAT, base_url="http://localhost:1234/v1", asks_for_key=False),
    "vllm": KnownProvider(
        api=_CHAT,
        base_url="http://localhost:8000/v1",
        variables=("VLLM_API_KEY",),
        asks_for_key=False,
    ),
}
"""The providers that come with us."""


class ProviderSettings(Section):
    """One provider of models; what is not said is as usual for it."""

    api: ProviderApi | None = Field(default=None, description=f"one of {', '.join(ProviderApi)}")
    base_url: str | None = Field(default=None, description=_URL_WISH)
    api_version: str | None = Field(
        default=None,
        pattern=r"^v[0-9][0-9a-z]{0,20}$",
        description="the version of Google's API, such as v1beta or v1",
    )
    api_key: str | None = Field(
        default=None, repr=False, description="a key, env:NAME or file:/path; empty: none is sent"
    )

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, text: str | None) -> str | None:
        return None if text is None else check_address(text)

    @field_validator("api_key")
    @classmethod
    def _can_be_sent(cls, text: str | None) -> str | None:
        if text and not (text.isascii() and text.isprintable()):
            raise ValueError("no key")
        return text


class McpSettings(Section):
    """One server of tools: a program to run, or an address to call."""

    command: Command = Field(default=(), repr=False)
    environment: Environment = Field(default={}, repr=False)
    folder: str | None = Field(default=None, description="the path of a folder")
    url: str | None = Field(default=None, repr=False, description=_URL_WISH)
    headers: dict[str, str] = Field(
        default={}, repr=False, description='a table of headers: {Authorization = "env:NAME"}'
    )
    timeout_seconds: float = Field(
        default=60, gt=0, le=86_400, description="a number of seconds, more than 0"
    )

    @field_validator("command")
    @classmethod
    def _can_be_run(cls, words: tuple[str, ...]) -> tuple[str, ...]:
        return check_command(words)

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, text: str | None) -> str | None:
        return None if text is None else check_address(text)

    @field_validator("headers")
    @classmethod
    def _can_be_sent(cls, table: dict[str, str]) -> dict[str, str]:
        for name, value in table.items():
            if not _HEADER.fullmatch(name) or not checked_words(value).isprintable():
                raise ValueError("no header")
        return table


def check_address(text: str) -> str:
    """Refuse what cannot be called over HTTP."""
    url = urlsplit(text)
    if url.scheme not in {"http", "https"} or not url.hostname or not text.isprintable():
        raise ValueError("no address")
    url.port  # noqa: B018 - a port that is no number is refused here
    return text
