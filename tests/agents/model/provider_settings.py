"""The providers of the tests, as a configuration names them; all of them are the double."""

from tests.doubles.providers import ProviderDouble
from threadline.agents.settings import Api, ModelSettings, Provider

KEY = "sk-secret-of-the-tests"
MODELS = {
    "openai": "openai:gpt-5",
    "compatible": "local:llama3",
    "anthropic": "anthropic:claude-haiku-4-5",
    "google": "google:gemini-2.5-pro",
    "openrouter": "openrouter:openai/gpt-5",
}
_APIS = {
    "openai": (Api.OPENAI, "/openai/v1", KEY),
    "local": (Api.OPENAI_CHAT, "/local/v1", None),
    "anthropic": (Api.ANTHROPIC, "/anthropic", KEY),
    "google": (Api.GOOGLE, "/google", KEY),
    "openrouter": (Api.OPENROUTER, "/openrouter/api/v1", KEY),
}


def settings_for(double: ProviderDouble, model: str, **fields: object) -> ModelSettings:
    """Configure all providers of the double, and the model that answers."""
    providers = {
        name: Provider(name=name, api=api, base_url=f"{double.url}{path}", api_key=key)
        for name, (api, path, key) in _APIS.items()
    }
    return ModelSettings(model=model, providers=providers, **fields)  # type: ignore[arg-type]
