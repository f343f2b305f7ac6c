import subprocess
import sys
from contextlib import suppress

import pytest
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.openai import OpenAIResponsesModel

from tests.agents.model.provider_settings import KEY, MODELS, settings_for
from tests.doubles.providers import (
    Disconnects,
    Fails,
    Overloaded,
    ProviderDouble,
    Says,
    Unauthorised,
)
from threadline.agents.model.models import (
    ask_once,
    full_model_name,
    make_model,
    open_http,
    provider_of,
    window,
)
from threadline.agents.settings import Api, ModelSettings, Provider
from threadline.core.errors import AgentError, ConfigError
from threadline.core.session import ModelChoice

NOWHERE = "http://127.0.0.1:9/v1"


def settings_with(provider: Provider, model: str, **fields: object) -> ModelSettings:
    return ModelSettings(model=model, providers={provider.name: provider}, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
async def test_every_provider_answers(model: str) -> None:
    """Each provider is asked in its own language, with the key of the configuration."""
    async with ProviderDouble() as double:
        double.will(Says("yes"))
        told = await ask_once(settings_for(double, model))

    assert " answered in " in told
    assert len(double.requests) == 1
    sent = str(dict(double.last.headers))
    assert (KEY in sent) is not model.startswith("local")


@pytest.mark.parametrize(("version", "path"), [(None, "v1beta"), ("v1", "v1"), ("v2x", "v2x")])
async def test_google_is_asked_in_the_version_of_the_settings(
    version: str | None, path: str
) -> None:
    """The default version serves the aliases in Google's documentation; another can be set."""
    async with ProviderDouble() as double:
        google = Provider(
            name="google",
            api=Api.GOOGLE,
            base_url=f"{double.url}/google",
            api_version=version,
            api_key=KEY,
        )
        await ask_once(settings_with(google, "google:gemini-flash-latest"))

    assert double.last.path.startswith(f"/google/{path}/models/gemini-flash-latest:")


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("trouble", [Overloaded(), Fails(500), Unauthorised(), Disconnects()])
async def test_a_check_asks_once_and_says_plainly_what_is_wrong(
    model: str, trouble: Overloaded | Fails | Unauthorised | Disconnects
) -> None:
    """No package asks again by itself, and no error shows a key."""
    async with ProviderDouble() as double:
        double.will(trouble)
        with pytest.raises(AgentError) as caught:
            await ask_once(settings_for(double, model))

    assert len(double.requests) == 1
    assert model.partition(":")[0] in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__


async def test_a_model_that_cannot_be_reached_is_named() -> None:
    """Doctor learns that nobody listens at the address."""
    local = Provider(name="local", api=Api.OPENAI_CHAT, base_url=NOWHERE)

    with pytest.raises(AgentError, match="local:llama3 cannot be reached"):
        await ask_once(settings_with(local, "local:llama3"))


async def test_an_address_of_the_session_takes_the_place_of_the_provider_s() -> None:
    """An admin who chose another server for a session gets an answer from there."""
    provider = Provider(name="openai", api=Api.OPENAI, base_url=NOWHERE, api_key=KEY)
    settings = settings_with(provider, "openai:gpt-5")

    async with open_http() as http:
        there = make_model(settings, "openai:gpt-5", "http://127.0.0.1:8/other", http=http)
        here = make_model(settings, "openai:gpt-5", http=http)

    assert there.base_url == "http://127.0.0.1:8/other/"
    assert here.base_url == f"{NOWHERE}/"


@pytest.mark.parametrize("name", [name for name in MODELS if name != "compatible"])
async def test_a_key_goes_nowhere_but_where_the_configuration_says(name: str) -> None:
    """A session may come from somebody's file, or an admin's chat: its server gets no key."""
    async with ProviderDouble() as near, ProviderDouble() as far, open_http() as http:
        model, settings = MODELS[name], settings_for(near, MODELS[name])
        address = settings_for(far, model).providers[name].base_url
        far.will(Says("hi"))
        asked = ModelRequest.user_text_prompt("hi")
        with suppress(ModelAPIError, UnexpectedModelBehavior):
            await model_request(make_model(settings, model, address, http=http), [asked])

    assert (len(near.requests), len(far.requests)) == (0, 1)
    assert KEY not in f"{far.last.path} {far.last.headers} {far.last.json}"


async def test_another_path_of_the_same_server_gets_the_key() -> None:
    """Whoever has the key already is no stranger."""
    provider = Provider(name="openai", api=Api.OPENAI, base_url=NOWHERE, api_key=KEY)
    settings = settings_with(provider, "openai:gpt-5")

    async with open_http() as http:
        beside = make_model(settings, "openai:gpt-5", f"{NOWHERE}/beta", http=http)

    assert isinstance(beside, OpenAIResponsesModel)
    assert beside.client.api_key == KEY


async def test_nothing_is_read_from_the_environment_behind_our_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Keys and addresses that the packages would find themselves are not used."""
    for name in ("OPENAI", "ANTHROPIC", "GOOGLE", "OPENROUTER", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", "stray-key")
        monkeypatch.setenv(f"{name}_BASE_URL", NOWHERE)
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "stray-token")

    async with ProviderDouble() as double:
        for model in MODELS.values():
            await ask_once(settings_for(double, model))

    assert len(double.requests) == len(MODELS)
    assert "stray" not in str([dict(request.headers) for request in double.requests])


@pytest.mark.parametrize("api", list(Api))
async def test_a_missing_key_is_named(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever forgot the key of a provider learns where it belongs."""
    monkeypatch.setenv("OPENAI_API_KEY", "stray-key")
    settings = settings_with(Provider(name="mine", api=api), "mine:some/model")

    async with open_http() as http:
        with pytest.raises(ConfigError, match=r"no key for .* mine.*`providers\.mine\.api_key`"):
            make_model(settings, "mine:some/model", http=http)


async def test_an_unknown_provider_is_named_with_those_that_are_known() -> None:
    """A slip in the name of a provider is answered with the right ones."""
    settings = settings_with(Provider(name="openai", api=Api.OPENAI), "opnai:gpt-5")

    async with open_http() as http:
        with pytest.raises(ConfigError, match="'opnai'.* are: openai"):
            make_model(settings, "opnai:gpt-5", http=http)


async def test_a_model_of_openrouter_has_a_maker() -> None:
    """A name without a maker is refused before anybody is asked."""
    provider = Provider(name="openrouter", api=Api.OPENROUTER, api_key=KEY)

    async with open_http() as http:
        with pytest.raises(ConfigError, match="openrouter:openai/gpt-5"):
            make_model(settings_with(provider, "x:y"), "openrouter:gpt-5", http=http)


@pytest.mark.parametrize(
    ("name", "parts"),
    [("openai:gpt-5", ("openai", "gpt-5")), ("ollama:llama3:8b", ("ollama", "llama3:8b"))],
)
def test_a_name_is_parted_at_its_first_colon(name: str, parts: tuple[str, str]) -> None:
    """Models of Ollama have colons of their own."""
    assert provider_of(name) == parts


@pytest.mark.parametrize("name", ["", ":", "gpt-5", ":gpt-5", "openai:", "x" * 10_000])
def test_what_is_no_name_is_refused(name: str) -> None:
    """A name without its provider is an error of one sentence."""
    with pytest.raises(ConfigError, match="names no model") as caught:
        provider_of(name)

    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        (None, "openai:gpt-5"),
        (ModelChoice(model="gpt-4o"), "openai:gpt-4o"),
        (ModelChoice(model="gemini-2.5-pro", provider="google"), "google:gemini-2.5-pro"),
    ],
)
def test_a_session_may_use_another_model(choice: ModelChoice | None, name: str) -> None:
    """What a session chose comes first; its provider stays, unless it named one."""
    assert full_model_name(ModelSettings(model="openai:gpt-5"), choice) == name


def test_a_window_is_known_from_the_list_of_models() -> None:
    """How much a model can read is known offline, for those on the list."""
    settings = settings_with(Provider(name="mine", api=Api.ANTHROPIC), "mine:claude-sonnet-4-5")

    assert window(settings, "mine:claude-sonnet-4-5") == 200_000
    assert window(settings, "mine:no-such-thing") is None


def test_a_window_of_the_configuration_counts() -> None:
    """The owner knows the model best, and the only one who knows one that is run at home."""
    provider = Provider(name="mine", api=Api.OPENAI_CHAT, base_url=NOWHERE)
    settings = settings_with(provider, "mine:gpt-4o", context_tokens=8_000)

    assert window(settings, "mine:gpt-4o") == 8_000
    assert window(settings, "mine:llama3") == 8_000
    assert window(settings, "mine:gpt-5") == 400_000


def test_the_names_of_models_are_cheap_to_read() -> None:
    """Whoever only names models does not wait for the packages of all providers."""
    code = (
        "import sys, threadline.agents.model.models, threadline.agents.echo;"
        "sys.exit(bool({'pydantic_ai', 'openai', 'anthropic', 'genai_prices'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_an_address_of_the_machines_own_is_asked_only_if_the_settings_name_it() -> None:
    """It may have come with an imported file; elsewhere a session may well be asked."""
    own = "http://169.254.169.254/v1"
    plain = Provider(name="local", api=Api.OPENAI_CHAT, base_url=NOWHERE)
    named = Provider(name="local", api=Api.OPENAI_CHAT, base_url=f"{own}/chat")
    async with open_http() as http:
        with pytest.raises(ConfigError, match="the machine's own"):
            make_model(settings_with(plain, "local:llama3"), "local:llama3", own, http=http)
        asked = make_model(settings_with(named, "local:llama3"), "local:llama3", own, http=http)
        usual = make_model(settings_with(plain, "local:llama3"), "local:llama3", http=http)

    assert own in str(asked.base_url)
    assert NOWHERE in str(usual.base_url)
