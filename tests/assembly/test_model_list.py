"""Models that can be chosen: what is known of them by the settings and the price list alone."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from tests.databases import FAST, on
from threadline.assembly.model_list import KnownModel, survey_models, window_of
from threadline.config import Config, parse_config
from threadline.core.address import Address, Kind, Sender
from threadline.core.inbound import Inbound
from threadline.core.session import ModelChoice
from threadline.store import Store

SETTINGS = """
[agent]
model = "anthropic:claude-sonnet-5"
models = ["openai:gpt-5", "ollama:qwen3:8b", "house:gpt-5"]

[providers.house]
base_url = "http://localhost:9/v1"

[profiles.small.agent]
model = "ollama:qwen3:8b"
context_tokens = 8000
"""


def read(text: str, **environ: str) -> Config:
    """Read settings that nobody wrote into a file."""
    return parse_config(text, "threadline.toml", environ=environ)


def survey(config: Config, profile: str | None = None) -> dict[str, KnownModel]:
    """Survey the models, by their names."""
    return {one.name: one for one in survey_models(config, profile)}


def test_a_model_is_usable_where_its_provider_can_be_called() -> None:
    """It has a key, or asks for none; one without its key is not."""
    known = survey(read(SETTINGS, ANTHROPIC_API_KEY="x"))

    assert {name: one.is_usable for name, one in known.items()} == {
        "anthropic:claude-sonnet-5": True,
        "openai:gpt-5": False,
        "ollama:qwen3:8b": True,
        "house:gpt-5": True,
    }


def test_prices_and_windows_are_those_of_the_list() -> None:
    """A model that stands in no list has neither, and the same name elsewhere is another model."""
    known = survey(read(SETTINGS, ANTHROPIC_API_KEY="x", OPENAI_API_KEY="y"))

    listed, own = known["openai:gpt-5"], known["house:gpt-5"]
    assert listed.context_tokens == 400_000
    assert (listed.input_price, listed.output_price) == (Decimal("1.25"), Decimal(10))
    assert (own.context_tokens, own.input_price, own.output_price) == (None, None, None)


def test_the_usual_one_is_that_of_the_profile() -> None:
    """What the settings say of its window counts before any list."""
    config = read(SETTINGS, ANTHROPIC_API_KEY="x", OPENAI_API_KEY="y")
    main, small = survey(config), survey(config, "small")

    assert [name for name, one in main.items() if one.is_default] == ["anthropic:claude-sonnet-5"]
    assert [name for name, one in small.items() if one.is_default] == ["ollama:qwen3:8b"]
    assert small["ollama:qwen3:8b"].context_tokens == 8_000
    offered = [name for name, one in main.items() if one.is_offered]
    assert offered == [
        "anthropic:claude-sonnet-5",
        "openai:gpt-5",
        "ollama:qwen3:8b",
        "house:gpt-5",
    ]
    assert not main["openai:gpt-4o"].is_offered


def test_a_key_that_is_not_where_it_should_be_is_none() -> None:
    """The list is told all the same, and no key with it."""
    text = "[agent]\nmodels = ['openai:gpt-5']\n[providers.openai]\napi_key = 'env:NOWHERE'\n"
    (one,) = survey_models(read(text))

    assert (one.name, one.is_usable, one.is_default) == ("openai:gpt-5", False, False)


@on(FAST)
async def test_the_window_is_that_of_the_chosen_model(store: Store) -> None:
    """The echo has none; without a key nobody can tell."""
    address = Address(platform="telegram", kind=Kind.DM, chat="1")
    said = Inbound.text("hi", address=address, sender=Sender(id="1"), at=store.now())
    arrival = await store.receive(said)
    assert arrival.session_id is not None
    session = await store.sessions.get(arrival.session_id)
    config = read("[agent]\nmodel = 'openai:gpt-5'\n", OPENAI_API_KEY="x")
    chosen = replace(session, choice=ModelChoice(model="gpt-4o", provider="openai"))
    small = read("[profiles.main.agent]\nmodel = 'ollama:x'\ncontext_tokens = 8000\n")

    assert window_of(read(""), session) is None
    assert window_of(config, session) == 400_000
    assert window_of(config, chosen) == 128_000
    assert window_of(small, session) == 8_000
    lost = replace(session, choice=ModelChoice(model="x", provider="nobody"))
    assert window_of(config, lost) is None


@pytest.mark.parametrize("text", ["", "[agent]\ncommand = ['true']\n"])
def test_without_models_nothing_is_listed(text: str) -> None:
    """The echo, and an agent of others, have no model that could be chosen, but known ones."""
    assert not any(one.is_default or one.is_offered for one in survey_models(read(text)))
