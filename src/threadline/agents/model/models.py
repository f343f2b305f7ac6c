"""Models: a name of the configuration becomes something that can be asked.

What a provider's own package would read from the environment (keys, addresses) is always given
to it here: a key goes where the configuration says that it goes.
"""

import asyncio
import time
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from threadline.agents.settings import Api, ModelSettings, Provider
from threadline.core.errors import AgentError, ConfigError
from threadline.core.session import ModelChoice
from threadline.core.ssrf import is_machine_own

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx2
    from openai import AsyncOpenAI
    from pydantic_ai.models import Model

CONNECT_SECONDS = 10.0
READ_SECONDS = 300.0
"""How long a provider may be silent: some think for minutes before the first word."""

ANSWER_SECONDS = 60.0
"""How long a model may take for one word."""

_ADDRESSES = {
    Api.OPENAI: "https://api.openai.com/v1",
    Api.OPENAI_CHAT: "https://api.openai.com/v1",
    Api.ANTHROPIC: "https://api.anthropic.com",
    Api.GOOGLE: "https://generativelanguage.googleapis.com",
    Api.OPENROUTER: "https://openrouter.ai/api/v1",
}
_PRICE_LISTS = {
    Api.OPENAI: "openai",
    Api.OPENAI_CHAT: "openai",
    Api.ANTHROPIC: "anthropic",
    Api.GOOGLE: "google",
    Api.OPENROUTER: "openrouter",
}
_PACKAGES = {
    Api.OPENAI: ("pydantic_ai.models.openai", "pydantic_ai.providers.openai_compatible"),
    Api.OPENAI_CHAT: ("pydantic_ai.models.openai", "pydantic_ai.providers.openai_compatible"),
    Api.ANTHROPIC: ("pydantic_ai.models.anthropic",),
    Api.GOOGLE: ("pydantic_ai.models.google",),
    Api.OPENROUTER: ("pydantic_ai.models.openrouter",),
}
GOOGLE_API_VERSION = "v1beta"
"""Serves every model name in Google's documentation; `v1` has no aliases and no previews."""
_NO_KEY = "none"
"""What a server gets as a key that asks for none: the packages insist on one."""


def provider_of(name: str) -> tuple[str, str]:
    """Part the name of a model into its provider, and what the provider calls it."""
    provider, colon, model = name.partition(":")
    if not (colon and provider and model):
        raise ConfigError(
            f"{name[:80]!r} names no model", hint="Models are named provider:model, as openai:gpt-5"
        )
    return provider, model


def full_model_name(settings: ModelSettings, choice: ModelChoice | None) -> str:
    """Answer the whole name of the model that a session uses."""
    if choice is None:
        return settings.model
    return f"{choice.provider or provider_of(settings.model)[0]}:{choice.model}"


def find_provider(settings: ModelSettings, name: str) -> Provider:
    """Find who runs a model."""
    called, _ = provider_of(name)
    provider = settings.providers.get(called)
    if provider is None:
        known = ", ".join(sorted(settings.providers)) or "none"
        raise ConfigError(
            f"No provider is called {called[:80]!r}, so {name[:80]!r} cannot be asked",
            hint=f"Those of the configuration are: {known}. Add it under `providers`",
        )
    return provider


def preload(settings: ModelSettings) -> None:
    """Load what the providers of a configuration need: it takes seconds, which no turn has."""
    used = {provider_of(name)[0] for name in (settings.model, *settings.fallback)}
    for provider in settings.providers.values():
        if provider.api_key or provider.base_url or provider.name in used:
            for package in _PACKAGES[provider.api]:
                import_module(package)


def make_http() -> "httpx2.AsyncClient":
    """Make the client through which models are asked. It follows no redirect with a key."""
    import httpx2

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        limits=httpx2.Limits(max_connections=1000, max_keepalive_connections=100),
    )


@asynccontextmanager
async def open_http() -> "AsyncIterator[httpx2.AsyncClient]":
    """Give a client for a while, and close its connections in the end."""
    # Certificates are read from disk when a client is made.
    client = await asyncio.to_thread(make_http)
    async with client:
        yield client


def make_model(
    settings: ModelSettings, name: str, base_url: str | None = None, *, http: "httpx2.AsyncClient"
) -> "Model":
    """Make a model that can be asked.

    `base_url` is that of the session. It may have come with an imported file, or from a chat, so
    that no key is sent there unless the configuration names the same server.
    """
    provider = find_provider(settings, name)
    _, model = provider_of(name)
    address = base_url or provider.base_url or _ADDRESSES[provider.api]
    if base_url is not None and is_machine_own(base_url):
        _require_named(provider, base_url)
    key = _key_for(provider, address)
    match provider.api:
        case Api.ANTHROPIC:
            return _make_anthropic(model, address, key, http)
        case Api.GOOGLE:
            return _make_google(model, address, provider.api_version, key, http)
        case Api.OPENROUTER:
            return _make_openrouter(name, model, _open_client(address, key, http))
        case Api.OPENAI | Api.OPENAI_CHAT:
            return _make_openai(provider, model, _open_client(address, key, http))


def window(settings: ModelSettings, name: str) -> int | None:
    """Tell how many tokens a model can read at once; None: nobody knows."""
    if name == settings.model and settings.context_tokens is not None:
        return settings.context_tokens
    from genai_prices.data_snapshot import get_snapshot

    provider, (_, model) = find_provider(settings, name), provider_of(name)
    try:
        _, known = get_snapshot().find_provider_model(
            model, provider=None, provider_id=_PRICE_LISTS[provider.api], provider_api_url=None
        )
    except LookupError:
        return settings.context_tokens
    return known.context_window or settings.context_tokens


async def ask_once(settings: ModelSettings, name: str | None = None) -> str:
    """Ask a model for one word, and say who answered and how fast; else raise `AgentError`."""
    from threadline.agents.model.one_shot import OneShot
    from threadline.agents.model.retries import RetryLimits

    asked = name or settings.model
    desk = OneShot(settings=settings, name=asked, task="check", patience=RetryLimits(tries=1))
    begun = time.monotonic()
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await desk.ask("Please answer with the single word: yes")
    except TimeoutError:
        raise AgentError(f"{asked} did not answer within {ANSWER_SECONDS:g} s") from None
    took = time.monotonic() - begun
    return f"{desk.spent[-1].model} answered in {took:.1f} s"


def _key_for(provider: Provider, address: str) -> str:
    usual = _ADDRESSES[provider.api]
    if _origin(address) != _origin(provider.base_url or usual):
        return _NO_KEY
    if provider.api_key:
        return provider.api_key
    if address == usual:
        raise ConfigError(
            f"There is no key for the provider {provider.name}",
            hint=f"Set `providers.{provider.name}.api_key`, best from the environment",
        )
    return _NO_KEY


def _require_named(provider: Provider, address: str) -> None:
    """Refuse an address of the machine's own that the configuration does not name itself."""
    if provider.base_url is None or _origin(address) != _origin(provider.base_url):
        raise ConfigError(
            "This session names an address of the machine's own for its model",
            hint="/model default takes that back",
        )


def _origin(address: str) -> tuple[str, str]:
    """Tell which server an address is at."""
    url = urlsplit(address)
    return url.scheme, url.netloc.lower()


def _open_client(address: str, key: str, http: "httpx2.AsyncClient") -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    return AsyncOpenAI(
        base_url=address, api_key=key, http_client=http, timeout=http.timeout, max_retries=0
    )


def _make_openai(provider: Provider, model: str, client: "AsyncOpenAI") -> "Model":
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # What OpenAI alone understands is only sent to somebody who is called so.
    speaks = (
        OpenAIProvider(openai_client=client)
        if provider.name.startswith("openai")
        else OpenAICompatibleProvider(provider.name, openai_client=client)
    )
    if provider.api is Api.OPENAI:
        return OpenAIResponsesModel(model, provider=speaks)
    return OpenAIChatModel(model, provider=speaks)


def _make_openrouter(name: str, model: str, client: "AsyncOpenAI") -> "Model":
    from pydantic_ai.models.openrouter import OpenRouterModel, OpenRouterModelSettings
    from pydantic_ai.providers.openrouter import OpenRouterProvider

    if "/" not in model:
        raise ConfigError(
            f"{name[:80]!r} names no model of OpenRouter", hint="As openrouter:openai/gpt-5"
        )
    priced = OpenRouterModelSettings(openrouter_usage={"include": True})
    provider = OpenRouterProvider(openai_client=client)
    return OpenRouterModel(model, provider=provider, settings=priced)


def _make_anthropic(model: str, address: str, key: str, http: "httpx2.AsyncClient") -> "Model":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(
        base_url=address, api_key=key, http_client=http, timeout=http.timeout, max_retries=0
    )
    return AnthropicModel(model, provider=AnthropicProvider(anthropic_client=client))


def _make_google(
    model: str, address: str, version: str | None, key: str, http: "httpx2.AsyncClient"
) -> "Model":
    from google.genai.client import Client
    from google.genai.types import HttpOptions, HttpRetryOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    client = Client(
        vertexai=False,
        api_key=key,
        http_options=HttpOptions(
            base_url=address,
            api_version=version or GOOGLE_API_VERSION,
            httpx_async_client=http,
            retry_options=HttpRetryOptions(attempts=1),
            timeout=int(READ_SECONDS * 1000),
        ),
    )
    return GoogleModel(model, provider=GoogleProvider(client=client))
