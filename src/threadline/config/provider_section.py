"""Sections about what an agent needs from others: providers of models, and servers of tools."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

from msgspec import Struct
from pydantic import AfterValidator, Field

from threadline.config.agent_section import Command, Environment
from threadline.config.sections import Section, must_be

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def _check_address(text: str) -> str:
    """Refuse what cannot be called over HTTP."""
    url = urlsplit(text)
    if url.scheme not in {"http", "https"} or not url.hostname or not text.isprintable():
        raise ValueError("no address")
    url.port  # noqa: B018 - a port that is no number is refused here
    return text


def _check_key(text: str) -> str:
    """Refuse what no header can hold."""
    if not (text.isascii() and text.isprintable()):
        raise ValueError("no key")
    return text


def _check_headers(table: dict[str, str]) -> dict[str, str]:
    for name, value in table.items():
        if not _HEADER.fullmatch(name) or not value.isprintable():
            raise ValueError("no header")
    return table


Url = Annotated[
    str, AfterValidator(_check_address), must_be("an address that begins with http:// or https://")
]
Version = Annotated[
    str,
    must_be("the version of Google's API, such as v1beta or v1", pattern=r"^v[0-9][0-9a-z]{0,20}$"),
]
Key = Annotated[
    str, AfterValidator(_check_key), must_be("a key, env:NAME or file:/path; empty: none is sent")
]
Headers = Annotated[
    dict[str, str],
    AfterValidator(_check_headers),
    must_be('a table of headers: {Authorization = "env:NAME"}'),
]


class ProviderApi(StrEnum):
    """The language in which a provider is spoken to, by the word in the settings."""

    OPENAI = "openai"
    OPENAI_CHAT = "openai-chat"
    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    OPENROUTER = "openrouter"


class KnownProvider(Struct, frozen=True, kw_only=True):
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

    api: ProviderApi | None = Field(
        default=None, description="Which API the provider speaks; if empty, that of OpenAI's chats."
    )
    base_url: Url | None = Field(
        default=None, description="Where the provider is, if not at its usual address."
    )
    api_version: Version | None = Field(
        default=None, description="The version of the API, where there are several."
    )
    api_key: Key | None = Field(
        default=None,
        repr=False,
        description="The key; if there is no setting, that of the provider's usual variable.",
    )


class McpSettings(Section):
    """One server of tools: a program to run, or an address to call."""

    command: Command = Field(
        default=(), repr=False, description="The program of the server, and its arguments."
    )
    environment: Environment = Field(
        default={},
        repr=False,
        description="Variables for the program; a secret may be env:NAME or file:/path.",
    )
    folder: str | None = Field(default=None, description="Where the program works.")
    url: Url | None = Field(
        default=None, repr=False, description="Where the server is reached, if it is no program."
    )
    headers: Headers = Field(
        default={},
        repr=False,
        description="Headers for that address; a secret may be env:NAME or file:/path.",
    )
    timeout_seconds: float = Field(
        default=60, gt=0, le=86_400, description="How long a call of a tool may take."
    )
