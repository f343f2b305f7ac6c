from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from tests.agents.model.provider_settings import MODELS, settings_for
from tests.doubles.providers import ProviderDouble, Says, Spends
from threadline.agents.model.models import provider_of
from threadline.agents.model.one_shot import OneShot
from threadline.agents.model.usage import read_model_usage
from threadline.core.usage import TOKENS_LIMIT, CostStatus, Usage

SPENDS = Spends(1_000, 200, cache_read=400, reasoning=50)


def response(**fields: Any) -> ModelResponse:
    """Make an answer as of OpenAI, but for these fields."""
    spent = RequestUsage(input_tokens=1_000, output_tokens=100)
    known = {"usage": spent, "model_name": "gpt-4o", "provider_name": "openai"}
    return ModelResponse(parts=[TextPart("yes")], **{**known, **fields})


async def spend(model: str, spends: Spends) -> Usage:
    """Ask a model over the wire, and answer what that is said to have spent."""
    async with ProviderDouble() as double:
        double.will(Says("yes"), spends)
        desk = OneShot(settings=settings_for(double, model), name=model, task="turn")
        await desk.ask("Well?")
    return desk.spent[-1]


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
async def test_every_provider_tells_what_it_spent(model: str) -> None:
    """Whatever a provider calls its tokens, they are counted in the same way."""
    usage = await spend(model, SPENDS)

    thinks = not model.startswith("anthropic")  # it tells nobody how much of its words it thought
    assert usage.provider == provider_of(model)[0]
    assert (usage.input_tokens, usage.output_tokens, usage.prompt_tokens) == (1_000, 200, 1_000)
    assert (usage.cache_read_tokens, usage.reasoning_tokens) == (400, 50 if thinks else 0)


async def test_what_was_written_to_a_cache_is_part_of_the_input() -> None:
    """Anthropic counts its caches apart; here they are part of what was read."""
    usage = await spend(MODELS["anthropic"], Spends(1_000, 200, cache_read=400, cache_write=100))

    assert usage.input_tokens == 1_000
    assert (usage.cache_read_tokens, usage.cache_write_tokens) == (400, 100)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
async def test_a_price_of_the_list_is_an_estimate(provider: str) -> None:
    """What a call costs is computed offline, and said to be no more than that."""
    usage = await spend(MODELS[provider], SPENDS)

    assert usage.cost_status is CostStatus.ESTIMATED
    assert usage.cost is not None
    assert 0 < usage.cost < 1


async def test_a_cache_makes_it_cheaper() -> None:
    """Tokens that were read from a cache are not paid in full."""
    whole, cached = Spends(10_000, 1), Spends(10_000, 1, cache_read=9_000)

    costs = [(await spend(MODELS["openai"], spends)).cost for spends in (whole, cached)]

    assert costs[0] is not None
    assert costs[1] is not None
    assert costs[1] < costs[0] / 2


async def test_a_cost_that_the_provider_tells_is_exact() -> None:
    """OpenRouter says what it took, so nothing has to be computed."""
    usage = await spend(MODELS["openrouter"], replace(SPENDS, cost=0.0123))

    assert (usage.cost, usage.cost_status) == (Decimal("0.0123"), CostStatus.EXACT)


async def test_nobody_knows_what_a_model_at_home_costs() -> None:
    """A model that is on no list has no price, rather than none to pay."""
    usage = await spend(MODELS["compatible"], SPENDS)

    assert (usage.cost, usage.cost_status) == (None, CostStatus.UNKNOWN)


@pytest.mark.parametrize(
    "said",
    [
        response(model_name=None),
        response(model_name="no-such-model"),
        response(provider_name="nobody"),
        response(provider_name=None, model_name="nothing-of-that-kind"),
        response(usage=RequestUsage(unmeasured_requests=1)),
    ],
)
def test_what_has_no_price_is_unknown(said: ModelResponse) -> None:
    """An unknown model, or one that told nothing, costs an unknown sum."""
    usage = read_model_usage(said, provider="mine", model="m")

    assert (usage.cost, usage.cost_status) == (None, CostStatus.UNKNOWN)


@pytest.mark.parametrize("told", ["NaN", "-1", -1.0, float("inf"), True, None, [], "1e99", "much"])
def test_an_odd_cost_is_not_believed(told: object) -> None:
    """What no sum can be is not written into the books."""
    said = response(provider_name="openrouter", provider_details={"cost": told}, model_name="x/y")

    assert (
        read_model_usage(said, provider="openrouter", model="x/y").cost_status is CostStatus.UNKNOWN
    )


def test_only_a_provider_that_tells_costs_is_believed() -> None:
    """A server that sends a field of that name does not thereby set a price."""
    said = response(provider_details={"cost": 5.0})

    assert read_model_usage(said, provider="openai", model="m").cost_status is CostStatus.ESTIMATED


@pytest.mark.parametrize(
    ("told", "counted"), [(-5, 0), (10**30, TOKENS_LIMIT), (None, 0), ("7", 0), (True, 0)]
)
def test_odd_counts_do_not_break_the_books(told: object, counted: int) -> None:
    """A server may count whatever it likes; what is stored can be added up."""
    said = response(usage=RequestUsage(input_tokens=told), model_name="no-such-model")

    assert read_model_usage(said, provider="mine", model="m").checked_call().input_tokens == counted


@pytest.mark.parametrize("told", [None, "", "x" * 300, "a\0b", "\ud800"])
def test_an_odd_name_gives_way_to_the_one_that_was_asked(told: str | None) -> None:
    """What a server calls its model is kept only if it can be."""
    assert read_model_usage(response(model_name=told), provider="p", model="asked").model == "asked"
