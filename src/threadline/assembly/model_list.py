"""Model list: those that can be chosen, by the providers that the settings have keys for."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from threadline.agents.settings import Api
from threadline.assembly.agent_factory import can_call, make_scribe, providers_of
from threadline.core.errors import ConfigError
from threadline.core.session import Session

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, TieredPrices

    from threadline.config import Config

_LISTS = {
    Api.OPENAI: "openai",
    Api.ANTHROPIC: "anthropic",
    Api.GOOGLE: "google",
    Api.OPENROUTER: "openrouter",
}
"""What the price list calls those who speak these languages at their own address."""
_OTHER = re.compile(
    r"embedding|tts|whisper|image|audio|moderation|realtime|transcribe|sora|veo|live|:batch"
    r"|^ft:|\.ft-|davinci|babbage|curie|^ada$|instruct"
)
"""Words in the names of models that do not converse."""


class KnownModel(Struct, frozen=True, kw_only=True):
    """What is known of a model that can be chosen."""

    name: str
    """As `openai:gpt-5`."""
    is_default: bool
    """The one that answers where nobody chose another."""
    is_offered: bool
    """The settings name it; where they name some, a member may choose no other."""
    is_usable: bool
    """Its provider can be called: there is a key, or none is wanted."""
    context_tokens: int | None
    """How much it can read at once; None: nobody knows."""
    input_price: Decimal | None
    """US dollars for a million tokens, by the price list; None: it is in none."""
    output_price: Decimal | None


def survey_models(config: "Config", profile: str | None = None) -> list[KnownModel]:
    """Tell what is known of the models that can be chosen in a profile; nobody is called for it."""
    agent = config.agent_for(profile if profile in config.profiles else None)
    usual = agent.model if agent.kind == "model" else None
    offered = frozenset(config.offered_models)
    found = []
    for name in list_models(config):
        known = _find_known(config, name)
        own = agent.context_tokens if name == usual else None
        found.append(
            KnownModel(
                name=name,
                is_default=name == usual,
                is_offered=name in offered,
                is_usable=_is_usable(config, name),
                context_tokens=own or (None if known is None else known.context_window),
                input_price=_price(known, "input_mtok"),
                output_price=_price(known, "output_mtok"),
            )
        )
    return found


def window_of(config: "Config", session: Session) -> int | None:
    """Tell how many tokens the model of a session can read at once; None: nobody knows."""
    profile = session.profile if session.profile in config.profiles else None
    try:
        return make_scribe(config, profile).window(session)
    except ConfigError:
        return None  # Its model cannot be asked as the settings are, so it reads nothing either.


def list_models(config: "Config") -> list[str]:
    """List the models that the settings offer, and then those that are known of providers."""
    return list(dict.fromkeys([*config.offered_models, *_known(config)]))


def _known(config: "Config") -> Iterator[str]:
    """Walk over the models in the price list of providers that can be called; it is no must."""
    try:
        from genai_prices.data_snapshot import get_snapshot

        providers = providers_of(config)
    except (ImportError, ConfigError):
        return
    lists = {one.id: one.models for one in get_snapshot().providers}
    for provider in providers.values():
        is_own = provider.base_url is None
        for model in lists.get(_LISTS.get(provider.api, ""), ()) if is_own else ():
            if not _OTHER.search(model.id):
                yield f"{provider.name}:{model.id}"


def _is_usable(config: "Config", name: str) -> bool:
    try:
        return can_call(config, name.partition(":")[0])
    except ConfigError:
        return False  # Its key is said to be where it is not.


def _find_known(config: "Config", name: str) -> "ModelInfo | None":
    """Find a model in the price list of its provider, if that is called at its own address."""
    provider, _, model = name.partition(":")
    try:
        from genai_prices.data_snapshot import get_snapshot

        _, known = get_snapshot().find_provider_model(
            model, provider=None, provider_id=_list_of(config, provider), provider_api_url=None
        )
    except (ImportError, LookupError):
        return None
    return known


def _list_of(config: "Config", provider: str) -> str:
    from threadline.config.provider_section import KNOWN

    own, known = config.providers.get(provider), KNOWN.get(provider)
    if own is not None and own.base_url:
        return ""
    api = (own.api if own is not None else None) or (known.api if known is not None else None)
    return "" if api is None else _LISTS.get(Api(str(api)), "")


def _price(known: "ModelInfo | None", kind: str) -> Decimal | None:
    """Read a price of today; where it rises with the prompt, the one that it begins with."""
    if known is None:
        return None
    price: Decimal | TieredPrices | None = getattr(known.get_prices(datetime.now(UTC)), kind)
    return price if price is None or isinstance(price, Decimal) else price.base
