"""Models: those that can be chosen, by the providers that the settings have keys for."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from threadline.agents.settings import Api
from threadline.assembly.minds import providers_of
from threadline.core.errors import ConfigError

if TYPE_CHECKING:
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
